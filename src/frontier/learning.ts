/**
 * What a visit teaches: the page's row, its links, its server's health, the byte account. Pure bookkeeping in the
 * order of the data: visit → links → known → server → account.
 */
import { countsOf, isHashOnly, MAX_LEVELS } from '../errand/facts.ts';
import { type Reason, type ReasonCode, reasons } from '../errand/reasons.ts';
import type { Links, LinkVerdict, Stage, Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Fingerprints } from '../ledger/memory/fingerprints.ts';
import { NearPages } from '../ledger/memory/near.ts';
import {
  FLAG_FILTERED,
  FLAG_NOARCHIVE,
  FLAG_NOFOLLOW,
  FLAG_NOINDEX,
  FLAG_SHOWN,
  FLAG_TRUNCATED,
  type KnownRow,
} from '../ledger/pages/known-row.ts';
import type { PageRow } from '../ledger/pages/pages.ts';
import type { Admission } from './admission/admission.ts';
import { isMove } from './admission/crawl-bounds.ts';
import type { Brought, Follows } from './brought.ts';
import type { Lane } from './lanes/lane.ts';
import type { Memory } from './memory-file.ts';
import type { Reading } from './options.ts';
import { answered, doubtLost, isAlias } from './schedule/aliases.ts';
import { LONGEST_ABSENCE } from './schedule/clock-repair.ts';
import type { Planned } from './schedule/lesson.ts';
import type { Schedule } from './schedule/schedule.ts';
import { learnTrust } from './schedule/validator-trust.ts';

const MINUTE = 60_000;

export interface Lesson extends Brought {
  readonly id: number;
  readonly lane: Lane;
  readonly visit: Visit;
  /** What was known before; undefined = first visit. */
  readonly before: KnownRow | undefined;
}

/** A visit that was learned from. */
export interface Learned {
  readonly lesson: Lesson;
  /** Its number among the visits. */
  readonly visit: number;
}

export class Learning {
  readonly #ledger: Ledger;
  readonly #admission: Admission;
  readonly #schedule: Schedule;
  /** Digest of stored bytes → page, so that identical bytes are stored once. */
  readonly #digests = new Fingerprints();
  readonly #near = new NearPages();
  readonly #moved: (to: string) => void;

  /** `moved`: told where a seed redirects to that is a move of its site. */
  constructor(ledger: Ledger, admission: Admission, schedule: Schedule, moved: (to: string) => void) {
    this.#ledger = ledger;
    this.#moved = moved;
    this.#schedule = schedule;
    this.#admission = admission;
  }

  /** As much of the memory as it can say of itself. */
  packed(lanes: Iterable<Lane>): Pick<Memory, 'digests' | 'near' | 'shapes'> {
    const shapes = [...lanes].flatMap(lane => {
      const counts = lane.shapes.packed();
      return counts.length === 0 ? [] : [lane.server.id, counts.length, ...counts];
    });
    return { digests: this.#digests.packed(), near: this.#near.packed(), shapes: Float64Array.from(shapes) };
  }

  load({ digests, near, shapes }: Memory, laneOf: (server: number) => Lane): void {
    this.#digests.load(digests);
    this.#near.load(near);
    for (let at = 0; at < shapes.length; at += 2 + shapes[at + 1]!) {
      laneOf(shapes[at]!).shapes.load(shapes.subarray(at + 2, at + 2 + shapes[at + 1]!));
    }
  }

  /** Finds copies and traps again: what pages of each shape turned out to be, as far as their last visits tell. */
  restore(laneOf: (server: number) => Lane, reading: Reading): void {
    for (const { page, facts, near, original, url, server } of reading(this.#ledger.pages.fetched())) {
      if (original) this.#remember(page, facts);
      if (word(facts, SIMHASH) !== 0 || word(facts, SIMHASH + 4) !== 0) laneOf(server).shapes.count(url, near !== null);
    }
  }

  duplicate(visit: Visit): number {
    if (!visit.facts) return 0;
    const page = this.#digests.get(word(visit.facts, RAW), word(visit.facts, RAW + 4));
    // That page may have changed since: only its newest copy can be referred to.
    const facts = page === 0 ? null : this.#ledger.pages.known(page)?.facts;
    return facts && sameAt(facts, visit.facts, RAW, 16) ? page : 0;
  }

  learn(given: Lesson): Learned {
    const visit = judged(given);
    const lesson = visit === given.visit ? given : { ...given, visit };
    const { id, before, stored, outpost, words } = lesson;
    const movedTo = visit.location === undefined ? null : this.#redirect(lesson, visit.location);
    const twin = stored ? this.duplicate(visit) : 0;
    const near = visit.outcome === 'fetched' && visit.facts ? this.#nearest(lesson, twin) : 0;
    // What only the navigation leads to is found there.
    if (visit.links && (visit.outcome === 'fetched' || lesson.follows?.edited)) this.#links(lesson);
    const alias = isAlias(this.#ledger, lesson, twin);
    const { server, pages } = lesson.lane;
    const planned = this.#schedule.after({ id, visit, before, server, pages, alias });
    const known = knownRow(lesson, { movedTo, near, twin, alias, planned });
    if (before && visit.outcome === 'fetched') this.#ledger.dueTimes.hastenAliases(id, visit.time);
    if (before) this.#ledger.pages.putKnown(known, before);
    else this.#ledger.pages.addKnown(known);
    const number = this.#ledger.visits.add({
      page: id,
      time: visit.time,
      outcome: visit.outcome,
      reason: visit.reason,
      status: visit.status,
      stage: visit.stage ?? null,
      amount: words && words.all > 0 ? (words.removed + words.added) / words.all : null,
      up: visit.cost.up,
      down: visit.cost.down,
      cause: visit.cost.cause,
      ms: visit.cost.ms,
      outpost,
      segment: stored?.segment ?? null,
      place: stored?.offset ?? null,
      length: stored?.length ?? null,
      request_length: stored?.requestLength ?? null,
      removed: words?.removed ?? null,
      added: words?.added ?? null,
    });
    const levels = visit.stage === 'structure' ? (visit.where ?? []).slice(0, MAX_LEVELS) : [];
    if (levels.length > 0) this.#ledger.visits.addLevels(number, levels);
    if (before) this.#ledger.inferred.remove(id);
    if (before && stored) this.#ledger.followed.remove(id);
    else if (lesson.follows) this.#follow(lesson, lesson.follows);
    this.#server(lesson);
    if (stored && visit.facts && twin === 0) this.#remember(id, visit.facts);
    return { lesson, visit: number };
  }

  /**
   * What was taken for a change turned out to be none, or the other way round for `news`: the page is believed to change
   * as if it had been seen so.
   */
  relabel({ lesson, visit: number }: Learned, stage: Stage, news = false): void {
    const { id, before, lane } = lesson;
    const seen = news ? ({ outcome: 'fetched', reason: 'ok' } as const) : unchanged;
    const visit: Visit = { ...lesson.visit, ...seen, stage };
    const { server, pages } = lane;
    const { change, due } = this.#schedule.after({ id, visit, before, server, pages, again: true });
    this.#ledger.visits.relabel(number, { ...seen, stage });
    const changed = news ? visit.time : before!.changed_time;
    this.#ledger.pages.relabel({ page: id, time: visit.time, changed_time: changed, change, due });
  }

  #follow({ id, before, visit: { time } }: Lesson, { digest, delta, edited }: Follows): void {
    const older = this.#ledger.followed.of(id)?.edited ?? 0;
    const { segment, place } = before!;
    const row = { page: id, time, edited: edited ? time : older, segment: segment!, place: place!, digest, delta };
    this.#ledger.followed.put(row);
  }

  #redirect({ id, visit }: Lesson, location: string): number | null {
    const from = this.#ledger.pages.get(id)!;
    const source = { page: id, depth: visit.depth, hops: from.hops + 1, time: visit.time, nofollow: false };
    const seed = this.#seedOf(from);
    if (seed !== undefined && isMove(seed, location)) this.#moved(location);
    return this.#admission.one(location, source, { seed: seed !== undefined, role: from.role }) || null;
  }

  /** The seed whose redirects led to this page, which may be itself; undefined = links or a sitemap did. */
  #seedOf(page: PageRow): string | undefined {
    let first = page;
    while (first.hops > 0 && first.parent !== 0) first = this.#ledger.pages.get(first.parent)!;
    const isSeed = first.parent === 0 && first.role === 0 && this.#ledger.servers.byId(first.server).seeded;
    return isSeed ? first.url : undefined;
  }

  #links({ id, visit, before, lane }: Lesson): void {
    const links = weighed(visit.links!, visit.verdict);
    lane.order.forward(links.count);
    const source = {
      page: id,
      depth: visit.depth,
      hops: visit.cost.cause === 'sitemap' ? this.#ledger.pages.get(id)!.hops : 0,
      time: visit.time,
      nofollow: visit.page?.nofollow === true || visit.verdict?.follow === false,
    };
    const targets = this.#admission.links(links, source);
    const named = targets.slice(0, links.count);
    if (visit.cost.cause === 'sitemap') {
      this.#notices(links, targets, visit.time);
      doubtLost(this.#ledger, this.#ledger.links.list(id, named), named, true);
      return;
    }
    const had = before === undefined ? [] : this.#ledger.links.out(id).map(({ target }) => target);
    const packed = { count: links.count, targets, flags: links.flags, anchors: links.anchors };
    this.#ledger.links.put(id, packed, before !== undefined);
    doubtLost(this.#ledger, had, named, false);
  }

  /** A sitemap that names a later date than it did is a notice, unless the copy at hand is as new. */
  #notices(links: Links, targets: Uint32Array, time: number): void {
    for (let i = 0; i < links.count; i++) {
      const lastmod = links.lastmod[i] ?? 0;
      const page = lastmod === 0 ? undefined : this.#ledger.pages.get(targets[i]!);
      if (!page || (page.lastmod !== null && lastmod <= page.lastmod)) continue;
      this.#ledger.pages.setLastmod(page.id, lastmod);
      const known = this.#ledger.pages.known(page.id);
      const date = Date.parse(known?.last_modified ?? '');
      const held = Number.isNaN(date) ? (page.lastmod === null ? (known?.seen_time ?? 0) : 0) : date;
      if (held < lastmod) this.#schedule.ping(page.id, time);
    }
  }

  /** The page this one nearly equals; the shape of its URL is counted, which is how traps are seen. */
  #nearest({ id, lane, visit }: Lesson, twin: number): number {
    const high = word(visit.facts!, SIMHASH);
    const low = word(visit.facts!, SIMHASH + 4);
    if (high === 0 && low === 0) return 0;
    const near = twin || this.#near.near(high, low);
    if (near !== id) lane.shapes.count(visit.url, near !== 0);
    return near === id ? 0 : near;
  }

  #remember(page: number, facts: Uint8Array): void {
    this.#digests.set(word(facts, RAW), word(facts, RAW + 4), page);
    this.#near.add(word(facts, SIMHASH), word(facts, SIMHASH + 4), page);
  }

  #server({ lane, visit, before }: Lesson): void {
    const { server } = lane;
    const { cost, time } = visit;
    const spent = cost.up + cost.down;
    // What the last full answer cost is what this one would have.
    const avoided = visit.status === 304 ? Math.max(0, (before?.wire ?? 0) - spent) : 0;
    // A body that came and held nothing new is neither stored nor sent on.
    const same = visit.outcome === 'same' && cost.cause === 'page';
    const sums = same ? { spent, avoided: cost.down } : { spent, avoided };
    this.#ledger.account.add(time, server.id, same ? 'same' : cost.cause, sums);
    if (learnTrust(server, visit, before)) this.#ledger.servers.touch(server);
    const reason: Reason | undefined = reasons[visit.reason as ReasonCode];
    const troubled = visit.outcome === 'failed' && reason?.server === true;
    if (!troubled && server.failures === 0) return;
    if (troubled) {
      // Requests that were under way together fail together: that is one failure.
      if (server.failures === 0 || server.notBefore <= time) server.failures++;
      const wait = visit.retryAfter > 0 ? visit.retryAfter * 1000 : reason.after * MINUTE * 2 ** (server.failures - 1);
      server.notBefore = Math.max(server.notBefore, time + Math.min(wait, LONGEST_ABSENCE));
    } else if (visit.status > 0 && visit.status < 500) {
      server.failures = 0;
    }
    this.#ledger.servers.touch(server);
  }
}

/** What a decider thinks of the page counts for all its links. */
function weighed(links: Links, verdict: LinkVerdict | undefined): Links {
  if (!verdict || verdict.relevance === 0) return links;
  return { ...links, relevance: new Uint8Array(links.count).fill(verdict.relevance) };
}

/** Offsets inside packed facts; facts.ts keeps the layout. */
const RAW = 1;
const CONTENT = 17;
const SIMHASH = 49;

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

function sameAt(a: Uint8Array, b: Uint8Array, at: number, length: number): boolean {
  return Buffer.compare(a.subarray(at, at + length), b.subarray(at, at + length)) === 0;
}

const unchanged = { outcome: 'same', reason: 'unchanged' } as const;

/**
 * Where the errand carried nothing to compare with, or a hash alone, home compares: what is the same is not taken for a
 * change, though it was sent.
 */
function judged({ visit, before }: Lesson): Visit {
  // Of a page that is not kept there is no copy that could follow.
  if (visit.stage === 'stamp' && visit.outcome === 'fetched') return { ...visit, ...unchanged };
  const sent = visit.stage === 'first' || visit.stage === 'direct';
  if (!sent || !before?.facts || !visit.facts) return visit;
  const same = sameAt(visit.facts, before.facts, CONTENT, 16);
  return { ...visit, ...(same && unchanged), stage: 'direct' };
}

/** What learning found out besides the visit itself. */
interface Findings {
  readonly planned: Planned;
  readonly movedTo: number | null;
  readonly near: number;
  readonly twin: number;
  readonly alias: boolean;
}

function knownRow(lesson: Lesson, found: Findings): KnownRow {
  const { id, visit, before, stored } = lesson;
  const { page, time } = visit;
  const changed = visit.outcome === 'fetched';
  // Where the errand carried a hash alone, an outpost has no more to say of what is the same, and home knows more.
  const said = visit.facts && before?.facts && isHashOnly(visit.facts) ? undefined : visit.facts;
  const facts = said ?? before?.facts ?? null;
  const counts = said && countsOf(said);
  const retry = retryTime(visit, before);
  return {
    page: id,
    time,
    seen_time: changed || visit.outcome === 'same' ? time : (before?.seen_time ?? null),
    first_time: before?.first_time ?? time,
    changed_time: changed ? time : (before?.changed_time ?? time),
    outcome: visit.outcome,
    reason: visit.reason,
    status: visit.status,
    tries: isSetback(visit) ? (before?.tries ?? 0) + 1 : 0,
    retry_at: retry,
    pings: 0,
    due: found.planned.due,
    etag: etagsOf(visit, before),
    last_modified: visit.lastModified ?? (visit.status === 304 ? (before?.last_modified ?? null) : null),
    title: page?.title ?? before?.title ?? null,
    media_type: page?.mediaType ?? before?.media_type ?? null,
    charset: page?.charset ?? before?.charset ?? null,
    language: page?.language ?? before?.language ?? null,
    canonical: page ? (page.canonical ?? null) : (before?.canonical ?? null),
    bytes: page?.bytes ?? before?.bytes ?? null,
    wire: page ? visit.cost.up + visit.cost.down : (before?.wire ?? null),
    flags: answered(page ? flagsOf(visit) | shownStill(visit, before) : (before?.flags ?? 0), found.alias),
    ascii_sum: counts?.asciiSum ?? before?.ascii_sum ?? null,
    urls: counts?.urls ?? before?.urls ?? null,
    keywords: counts?.keywords ?? before?.keywords ?? null,
    facts,
    change: found.planned.change,
    moved_to: found.movedTo,
    same_as: changed ? found.twin || null : (before?.same_as ?? null),
    near: changed ? found.near || null : (before?.near ?? null),
    segment: stored?.segment ?? before?.segment ?? null,
    place: stored?.offset ?? before?.place ?? null,
    length: stored?.length ?? before?.length ?? null,
    request_length: stored?.requestLength ?? before?.request_length ?? null,
  };
}

const followedStages: ReadonlySet<Stage | undefined> = new Set(['template', 'noise', 'stamp']);
/** Entity tags of one content that are kept, and characters of all of them: they travel in a header. */
const MOST_TAGS = 3;
const MOST_TAG_LENGTH = 200;

/** Machines behind one name may each have their own tag for the same content: a request may list them all. */
function etagsOf(visit: Visit, before: KnownRow | undefined): string | null {
  if (visit.etag === undefined) return visit.status === 304 ? (before?.etag ?? null) : null;
  // What differs for a reader is not what older tags stand for, though it be no news.
  const alike = visit.outcome === 'same' && !followedStages.has(visit.stage);
  if (!alike || !before?.etag) return visit.etag;
  const older = before.etag.split(', ').filter(tag => tag !== visit.etag);
  const all = [visit.etag, ...older].slice(0, MOST_TAGS).join(', ');
  return all.length <= MOST_TAG_LENGTH ? all : visit.etag;
}

function flagsOf({ page }: Visit): number {
  if (!page) return 0;
  return (
    (page.noindex ? FLAG_NOINDEX : 0) |
    (page.nofollow ? FLAG_NOFOLLOW : 0) |
    (page.noarchive ? FLAG_NOARCHIVE : 0) |
    (page.truncated ? FLAG_TRUNCATED : 0) |
    (page.filtered ? FLAG_FILTERED : 0)
  );
}

/** What a page shows is known as long as its links are those that were stored. */
function shownStill({ outcome, stage }: Visit, before: KnownRow | undefined): number {
  return outcome === 'same' && stage !== 'template' && stage !== 'noise' ? (before?.flags ?? 0) & FLAG_SHOWN : 0;
}

/** Counts towards the end of trying. A page refused for want of robots.txt is tried again, but not for ever. */
function isSetback({ outcome, reason }: Visit): boolean {
  return outcome === 'failed' || outcome === 'gone' || (reasons[reason as ReasonCode]?.retries ?? 0) > 0;
}

/** When to try again, by the table of reasons; null = it is settled. */
function retryTime(visit: Visit, before: KnownRow | undefined): number | null {
  const reason: Reason | undefined = reasons[visit.reason as ReasonCode];
  const tries = before?.tries ?? 0;
  if (!reason || tries >= reason.retries) return null;
  // A server that names a time is taken at its word, as often as it may be tried again.
  const wait = visit.retryAfter > 0 ? visit.retryAfter * 1000 : reason.after * MINUTE * 2 ** tries;
  return visit.time + wait;
}
