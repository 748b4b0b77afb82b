/**
 * Learns from visits: updates the page's row, its links, the health of its server, and the byte account. This is bookkeeping,
 * in the order of the data: visit → links → known → server → account.
 */
import { factsAt, MAX_LEVELS } from '../errand/facts.ts';
import { patienceWith, type Reason, type ReasonCode, reasons } from '../errand/reasons.ts';
import { LINK_ADDED, LINK_NOFOLLOW, type Links, type LinkVerdict, type Stage, type Visit } from '../errand/visit.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { Fingerprints } from '../ledger/memory/fingerprints.ts';
import { NearPages } from '../ledger/memory/near.ts';
import { ELSEWHERE } from '../ledger/outbox/border.ts';
import type { Crossing } from '../ledger/outbox/crossing.ts';
import { FLAG_NOFOLLOW } from '../ledger/pages/known-row.ts';
import type { PageRow } from '../ledger/pages/pages.ts';
import type { Server } from '../ledger/servers.ts';
import type { Admission } from './admission/admission.ts';
import { isMove } from './admission/crawl-bounds.ts';
import type { Follows } from './brought.ts';
import type { Lane } from './lanes/lane.ts';
import type { Memory, MemoryTables } from './memory-file.ts';
import type { Reading } from './options.ts';
import { doubtLost, isAlias } from './schedule/aliases.ts';
import { LONGEST_ABSENCE } from './schedule/clock-repair.ts';
import type { Schedule } from './schedule/schedule.ts';
import { learnTrust } from './schedule/validator-trust.ts';
import { knownRow, type Lesson } from './visit-row.ts';

/** A visit that the frontier has learned from. */
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

  /** `moved` is called when a seed redirects because its site has moved. */
  constructor(ledger: Ledger, admission: Admission, schedule: Schedule, moved: (to: string) => void) {
    this.#ledger = ledger;
    this.#moved = moved;
    this.#schedule = schedule;
    this.#admission = admission;
  }

  /** What it holds in memory. */
  packed(lanes: Iterable<Lane>): Omit<MemoryTables, 'fingerprints'> {
    const shapes = [...lanes].flatMap(lane => {
      const counts = lane.shapes.packed();
      return counts.length === 0 ? [] : [lane.server.id, counts.length, ...counts];
    });
    return { digests: this.#digests.packed(), near: this.#near.packed(), shapes: Float64Array.from(shapes) };
  }

  /**
   * Restores what is needed to find copies and traps: from the memory of the last run, and from the last visits of pages that
   * were visited after it.
   */
  restore({ digests, near, shapes, visit }: Memory, laneOf: (server: number) => Lane, reading: Reading): void {
    this.#digests.load(digests);
    this.#near.load(near);
    for (let at = 0; at < shapes.length; at += 2 + shapes[at + 1]!) {
      laneOf(shapes[at]!).shapes.load(shapes.subarray(at + 2, at + 2 + shapes[at + 1]!));
    }
    for (const { page, server, url, digest, simhash, isCopy, original } of reading(
      this.#ledger.queries.scans.fetched(visit),
    )) {
      const [high, low] = wordsOf(simhash);
      if (original) {
        this.#digests.set(...wordsOf(digest), page);
        this.#near.add(high, low, page);
      }
      if (high !== 0 || low !== 0) laneOf(server).shapes.count(url, isCopy);
    }
  }

  duplicate(visit: Visit): number {
    if (!visit.facts) return 0;
    const page = this.#digests.get(word(visit.facts, factsAt.raw), word(visit.facts, factsAt.raw + 4));
    // That page may have changed since, and only its newest copy can be referred to.
    const facts = page === 0 ? null : this.#ledger.pages.known(page)?.facts;
    return facts && sameAt(facts, visit.facts, factsAt.raw, 16) ? page : 0;
  }

  learn(given: Lesson): Learned {
    const visit = ofHidden(this.#ledger, given, judged(given));
    const lesson = visit === given.visit ? given : { ...given, visit };
    const { id, before, stored, outpost, words, second } = lesson;
    const movedTo = visit.location === undefined ? null : this.#redirect(lesson, visit.location);
    const twin = stored ? this.duplicate(visit) : 0;
    const near = visit.outcome === 'fetched' && visit.facts ? this.#nearest(lesson, twin) : 0;
    // An edit may be in the navigation alone, which leads to pages as well.
    if (visit.links && (visit.outcome === 'fetched' || lesson.follows?.edited)) this.#links(lesson);
    const alias = isAlias(this.#ledger, lesson, twin);
    const { server, pages } = lesson.lane;
    const planned = this.#schedule.after({ id, visit, before, server, pages, alias, second });
    const known = knownRow(lesson, { movedTo, near, twin, alias, planned });
    if (before && visit.outcome === 'fetched') this.#ledger.schedule.due.hastenAliases(id, visit.time);
    if (before) this.#ledger.pages.putKnown(known, before);
    else {
      this.#ledger.pages.addKnown(known);
      this.#ledger.schedule.told.remove(id);
    }
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
    if (visit.data !== undefined) this.#ledger.visits.found.add(number, id, visit.data);
    if (before) this.#ledger.storage.inferred.remove(id);
    if (before && stored) this.#ledger.storage.followed.remove(id);
    else if (lesson.follows) this.#follow(lesson, lesson.follows);
    this.#server(lesson);
    if (stored && visit.facts && twin === 0) this.#remember(id, visit.facts);
    return { lesson, visit: number };
  }

  /**
   * Corrects a visit: what looked like a change was none; or, with `news`, what looked like none was one. The estimate of the
   * page's change rate becomes what it would have been.
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
    const older = this.#ledger.storage.followed.of(id)?.edited ?? 0;
    const { segment, place } = before!;
    const row = { page: id, time, edited: edited ? time : older, segment: segment!, place: place!, digest, delta };
    this.#ledger.storage.followed.put(row);
  }

  #redirect({ id, visit }: Lesson, location: string): number | null {
    const from = this.#ledger.pages.get(id)!;
    const depth = this.#admission.nearest(id, visit.depth);
    const source = { page: id, depth, hops: from.hops + 1, time: visit.time, nofollow: false };
    const seed = this.#seedOf(from);
    if (seed !== undefined && isMove(seed, location)) this.#moved(location);
    return this.#admission.one(location, source, { seed: seed !== undefined, from: seed, role: from.role }) || null;
  }

  /** The seed whose redirects led to this page (possibly the page itself); undefined = links or a sitemap led here. */
  #seedOf(page: PageRow): string | undefined {
    let first = page;
    while (first.hops > 0 && first.parent !== 0) first = this.#ledger.pages.get(first.parent)!;
    if (first.parent !== 0 || first.role !== 0) return undefined;
    const isSeed = first.refused === ELSEWHERE || this.#ledger.servers.byId(first.server).seeded;
    return isSeed ? first.url : undefined;
  }

  #links({ id, visit, before, lane }: Lesson): void {
    const nofollow = visit.page?.nofollow === true || visit.verdict?.follow === false;
    const weighty = weighed(visit.links!, visit.verdict);
    const links = nofollow ? exceptAdded(weighty) : weighty;
    lane.order.forward(links.count);
    const source = {
      page: id,
      depth: this.#admission.nearest(id, visit.depth),
      hops: visit.cost.cause === 'sitemap' ? this.#ledger.pages.get(id)!.hops : 0,
      time: visit.time,
      nofollow: nofollow && links === weighty,
    };
    const { neighbours } = this.#admission;
    const known = this.#ledger.pages.size;
    const targets = this.#admission.links(links, source);
    const named = targets.slice(0, links.count);
    if (visit.cost.cause === 'sitemap') {
      this.#notices(links, targets, visit.time);
      const listed = this.#ledger.links.list(id, named);
      doubtLost(this.#ledger, listed, named, true);
      neighbours?.listed({ links, targets: named, source, before: known }, listed);
      return;
    }
    const older = before === undefined ? [] : this.#ledger.links.out(id);
    const had = older.map(({ target }) => target);
    const hadNofollow = ((before?.flags ?? 0) & FLAG_NOFOLLOW) !== 0;
    neighbours?.linked({ links, targets: named, source, had: older, hadNofollow, before: known });
    const packed = { count: links.count, targets, flags: weighty.flags, anchors: links.anchors };
    this.#ledger.links.put(id, packed, before !== undefined);
    doubtLost(this.#ledger, had, named, false);
  }

  /** A sitemap that names a later date than before gives notice of a change, unless our copy is as new. */
  #notices(links: Links, targets: ArrayLike<number>, time: number): void {
    for (let i = 0; i < links.count; i++) {
      const lastmod = links.lastmod[i] ?? 0;
      const page = lastmod === 0 ? undefined : this.#ledger.pages.get(targets[i]!);
      if (page) this.#notice(page, lastmod, time);
    }
  }

  #notice(page: PageRow, lastmod: number, time: number): void {
    if (page.lastmod !== null && lastmod <= page.lastmod) return;
    this.#ledger.pages.setLastmod(page.id, lastmod);
    if (page.refused === ELSEWHERE) {
      this.#admission.neighbours?.dated(page.id, lastmod, time);
      return;
    }
    const known = this.#ledger.pages.known(page.id);
    const date = Date.parse(known?.last_modified ?? '');
    const held = Number.isNaN(date) ? (page.lastmod === null ? (known?.seen_time ?? 0) : 0) : date;
    if (held < lastmod) this.#schedule.ping(page.id, time, 'sitemap');
  }

  /** Takes in what another partition says about a page here. */
  cross(crossing: Crossing): void {
    const { kind, lastmod, time } = crossing;
    const before = this.#ledger.pages.size;
    const id = this.#admission.cross(crossing);
    if (id === 0) return;
    if (kind === 'link') this.#ledger.links.backward.addForeign(id, 1);
    else if (kind === 'unlink') this.#ledger.links.backward.addForeign(id, -1);
    else if (kind === 'listed' && id <= before && lastmod > 0) this.#notice(this.#ledger.pages.get(id)!, lastmod, time);
    const lost = kind === 'unlisted' || (kind === 'unlink' && this.#ledger.links.backward.of(id) === 0);
    if (lost) this.#ledger.schedule.due.doubt(id, this.#ledger.pages.known(id)?.seen_time ?? 0);
  }

  /** Finds the page that this one nearly equals, and counts the shape of its URL, by which traps are recognised. */
  #nearest({ id, lane, visit }: Lesson, twin: number): number {
    const high = word(visit.facts!, factsAt.simhash);
    const low = word(visit.facts!, factsAt.simhash + 4);
    if (high === 0 && low === 0) return 0;
    const near = twin || this.#near.near(high, low);
    if (near !== id) lane.shapes.count(visit.url, near !== 0);
    return near === id ? 0 : near;
  }

  #remember(page: number, facts: Uint8Array): void {
    this.#digests.set(word(facts, factsAt.raw), word(facts, factsAt.raw + 4), page);
    this.#near.add(word(facts, factsAt.simhash), word(facts, factsAt.simhash + 4), page);
  }

  #server({ lane, visit, before }: Lesson): void {
    const { server } = lane;
    const { cost, time } = visit;
    const spent = cost.up + cost.down;
    // A full answer would have cost as much as the last one.
    const spared = visit.status === 304 || cost.cause === 'dictionary';
    const whole = spared ? (before?.wire ?? 0) : cost.cause === 'delta' ? (visit.page?.bytes ?? 0) : 0;
    const avoided = Math.max(0, whole - spent);
    // A body that came and held nothing new is neither stored nor forwarded.
    const same = visit.outcome === 'same' && cost.cause === 'page';
    const sums = same ? { spent, avoided: cost.down } : { spent, avoided };
    this.#ledger.servers.account.add(time, server.id, same ? 'same' : cost.cause, sums);
    const slower = visit.status > 0 && learnLatency(server, cost.ms);
    if (learnTrust(server, visit, before) || slower) this.#ledger.servers.touch(server);
    const reason: Reason | undefined = reasons[visit.reason as ReasonCode];
    const troubled = visit.outcome === 'failed' && reason?.server === true;
    if (!troubled && server.failures === 0) return;
    if (troubled) {
      // Requests that were under way together and fail together count as one failure.
      if (server.failures === 0 || server.notBefore <= time) server.failures++;
      const wait = visit.retryAfter > 0 ? visit.retryAfter * 1000 : patienceWith(reason, server.failures);
      server.notBefore = Math.max(server.notBefore, time + Math.min(wait, LONGEST_ABSENCE));
    } else if (visit.status > 0 && visit.status < 500) {
      server.failures = 0;
    }
    this.#ledger.servers.touch(server);
  }
}

/** Weight of the newest answer in a server's latency, and the relative change that is worth writing. */
const NEWEST = 0.2;
const NOTEWORTHY = 0.05;

/** Updates the latency with an answer that took `ms`; returns whether the change is worth writing. */
function learnLatency(server: Server, ms: number): boolean {
  const before = server.latency;
  server.latency = before === 0 ? ms : before + NEWEST * (ms - before);
  return Math.abs(server.latency - before) > NOTEWORTHY * before;
}

/** A decider's relevance for the page applies to all its links, except those for which code gave one of their own. */
function weighed(links: Links, verdict: LinkVerdict | undefined): Links {
  if (!verdict || verdict.relevance === 0) return links;
  const relevance = links.relevance.map((own, i) =>
    (links.flags[i]! & LINK_ADDED) !== 0 && own > 0 ? own : verdict.relevance,
  );
  return { ...links, relevance };
}

/** Marks all links as nofollow except those that code added; if there are none of these, the page's own flag suffices. */
function exceptAdded(links: Links): Links {
  if (!links.flags.some(flags => flags & LINK_ADDED)) return links;
  return { ...links, flags: links.flags.map(flags => (flags & LINK_ADDED ? flags : flags | LINK_NOFOLLOW)) };
}

function word(bytes: Uint8Array, at: number): number {
  return ((bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!) >>> 0;
}

/** The same two words that word() reads, of 16 hexadecimal digits. */
function wordsOf(digits: string): [high: number, low: number] {
  return [Number.parseInt(digits.slice(0, 8), 16), Number.parseInt(digits.slice(8), 16)];
}

function sameAt(a: Uint8Array, b: Uint8Array, at: number, length: number): boolean {
  return Buffer.compare(a.subarray(at, at + length), b.subarray(at, at + length)) === 0;
}

const unchanged = { outcome: 'same', reason: 'unchanged' } as const;

/**
 * If the errand carried nothing to compare with, or only a hash, home compares: a page that is the same is no change, although
 * its body was sent.
 */
function judged({ visit, before }: Lesson): Visit {
  // A page that is not stored has no copy to follow.
  if (visit.stage === 'stamp' && visit.outcome === 'fetched') return { ...visit, ...unchanged };
  const sent = visit.stage === 'first' || visit.stage === 'direct';
  if (!sent || !before?.facts || !visit.facts) return visit;
  const same = sameAt(visit.facts, before.facts, factsAt.content, 16);
  return { ...visit, ...(same && unchanged), stage: 'direct' };
}

/** A document from the databases or media folders of a site need not exist on its web server: a 404 there says nothing. */
function ofHidden({ links }: Ledger, { id, outpost }: Lesson, visit: Visit): Visit {
  if (visit.outcome !== 'gone' || outpost.startsWith('site ') || links.hidden.of(id) === undefined) return visit;
  return { ...visit, outcome: 'failed', reason: 'http-5xx' };
}
