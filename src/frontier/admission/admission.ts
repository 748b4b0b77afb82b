/**
 * The admission is the door of the frontier. A URL that comes in becomes either a page that will be visited, or a page that
 * will not, with the reason. A URL that is known already costs one look into memory and nothing else.
 */
import { type Borrowed, lent } from '../../base/borrowed.ts';
import { fingerprint, originOf } from '../../base/url.ts';
import { MOST_HOPS, stepFrom } from '../../errand/known.ts';
import type { ReasonCode } from '../../errand/reasons.ts';
import { trapReason } from '../../errand/scope/traps.ts';
import { LINK_IMAGE, LINK_IS_SITEMAP, LINK_NOFOLLOW, type Links } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Fingerprints } from '../../ledger/memory/fingerprints.ts';
import { ELSEWHERE } from '../../ledger/outbox/border.ts';
import type { Crossing } from '../../ledger/outbox/crossing.ts';
import { FORGOTTEN } from '../../ledger/storage/forgetting.ts';
import type { Lane } from '../lanes/lane.ts';
import type { Memory } from '../memory-file.ts';
import type { Reading } from '../options.ts';
import type { Strays } from '../orders/focused.ts';
import type { PageQueue } from '../orders/page-queue.ts';
import { Depths } from './depths.ts';
import type { Neighbours } from './neighbours.ts';
import {
  type Candidate,
  candidateOf,
  IMAGE,
  LIFTABLE,
  mostRefused,
  type NewLink,
  roleOf,
  SITEMAP,
  type Source,
} from './new-link.ts';
import type { RuleReason } from './rules.ts';

/** Number of links of a page that was not fetched yet. */
export const UNKNOWN = -1;
/** Unknown depth. */
const FARTHEST = 255;
/** Depth limits from here on only guard against traps, so exact depths do not matter. */
const MATTERS = 100;
/** Pages outside the scope that are kept for the link index: so many, and a few for each page inside. A link farm has more. */
const MOST_OUTSIDE = 100_000;
const OUTSIDE_PER_PAGE = 8;

interface AdmissionRules {
  readonly scope: (url: string) => ReasonCode | undefined;
  /** Levels of links below a seed. */
  readonly depth: number;
  readonly pagesPerServer: number;
  /** Gives up branches that stay irrelevant; only in a focused crawl. */
  readonly strays: Strays | undefined;
  /** New pages wait here until a budget admits them; undefined = they may be visited at once. */
  readonly newcomers: PageQueue | undefined;
  /** Undefined = there is one partition, which has every page. */
  readonly neighbours?: Neighbours | undefined;
  /** Images wait here, in a run that watches images; undefined = they are treated like pages. */
  readonly images: PageQueue | undefined;
}

export class Admission {
  readonly fingerprints = new Fingerprints();
  /** Pages refused for a reason that a better link may lift. */
  readonly #liftable = new Set<number>();
  /** Pages that a user has forgotten: links to them are not recorded. */
  readonly #forgotten = new Set<number>();
  /** Only where the depth limit matters: a page may be found on a long way first, because servers answer in any order. */
  readonly #depths: Depths | undefined;
  readonly #ledger: Ledger;
  readonly #rules: AdmissionRules;
  readonly #laneOf: (origin: string) => Lane;
  readonly #print = { high: 0, low: 0 };
  #outside = 0;

  constructor(ledger: Ledger, rules: AdmissionRules, laneOf: (origin: string) => Lane) {
    this.#ledger = ledger;
    this.#rules = rules;
    this.#laneOf = laneOf;
    this.#depths = rules.depth < MATTERS ? new Depths() : undefined;
  }

  /** Undefined = there are none. */
  get neighbours(): Neighbours | undefined {
    return this.#rules.neighbours;
  }

  /** Restores its tables: fingerprints from the memory of the last run and the pages found after it, the rest from the ledger. */
  restore(memory: Memory, reading: Reading): void {
    const { servers, queries } = this.#ledger;
    const { scans } = queries;
    const { tallies } = servers;
    this.fingerprints.load(memory.fingerprints);
    for (const { id, high, low } of reading(scans.every(memory.page))) this.fingerprints.set(high, low, id);
    this.neighbours?.restore();
    if (this.#depths) for (const { id, depth } of reading(scans.depths())) this.#depths.set(id, depth);
    for (const { server, pages } of tallies.admitted()) this.#laneOf(servers.byId(server).origin).pages = pages;
    const refused = tallies.of('pages');
    // Finding such pages takes a pass over all: only for reasons for which there are any.
    const refusedFor = (reason: string) =>
      refused.some(({ name }) => name === reason) ? scans.refusedFor(reason) : [];
    for (const reason of LIFTABLE) for (const page of refusedFor(reason)) this.#liftable.add(page);
    for (const page of refusedFor(FORGOTTEN)) this.#forgotten.add(page);
    this.#outside = refused.reduce((sum, { name, n }) => sum + (name === 'out-of-scope' ? n : 0), 0);
  }

  /** Judges the pages again that a rule refused, after the rule has changed. Pages that pass join their lanes. */
  judgeRefused(rule: RuleReason): void {
    for (const id of this.#ledger.queries.scans.refusedFor(rule)) {
      const page = this.#ledger.pages.get(id)!;
      const { url, depth } = page;
      const reason = this.#rules.scope(url) ?? this.#refusal(page, this.#laneOf(originOf(url)));
      if (reason === rule) continue;
      if (rule === 'out-of-scope') this.#outside--;
      this.#liftable.delete(id);
      if (reason === undefined) this.#lift(id, depth);
      else this.#ledger.pages.judge(id, reason, this.#laneOf(originOf(url)).server.id);
    }
  }

  /** Judges a page again that waits for its first visit; true = it may go on waiting. Seeds always may. */
  judgeWaiting(id: number): boolean {
    const { url, depth, parent, role, server } = this.#ledger.pages.get(id)!;
    if (parent === 0 || role === SITEMAP) return true;
    const lane = this.#laneOf(originOf(url));
    const full = lane.pages > this.#rules.pagesPerServer;
    const bound = depth > this.#rules.depth ? 'too-deep' : full ? 'too-many-on-server' : undefined;
    const trap = lane.shapes.refuses(url) ? 'near-identical' : undefined;
    const reason = this.#rules.scope(url) ?? bound ?? trap;
    if (reason === undefined) return true;
    lane.pages--;
    this.#ledger.pages.judge(id, reason, server);
    if (LIFTABLE.includes(reason)) this.#liftable.add(id);
    if (reason === 'out-of-scope') this.#outside++;
    return false;
  }

  /** Id of a page by its URL, 0 when unknown. */
  find(url: string): number {
    fingerprint(url, this.#print);
    return this.fingerprints.get(this.#print.high, this.#print.low);
  }

  /** Takes the links of a page in; returns the page id of each link, 0 for a link that was only counted. */
  links(links: Links, source: Source): Borrowed<Uint32Array> {
    const targets = lent(this.fingerprints.getAll(links.fingerprints, links.count));
    const mayReach = !source.nofollow && this.#mayReach;
    let urls: string[] | undefined; // made only when some link is new
    for (let i = 0; i < links.count; i++) {
      const known = targets[i]!;
      const flags = links.flags[i]!;
      if (this.#forgotten.size > 0 && this.#forgotten.has(known)) {
        targets[i] = 0;
      } else if (known === 0) {
        urls ??= Buffer.from(links.urls.buffer, links.urls.byteOffset, links.urls.byteLength).toString().split('\n');
        targets[i] = this.#addOne(links, i, urls[i]!, source);
      } else if (mayReach && (flags & LINK_NOFOLLOW) === 0 && !this.neighbours?.isStub(known)) {
        this.#reach(known, stepFrom(source, flags).depth);
      }
    }
    return targets;
  }

  #addOne(links: Links, i: number, url: string, source: Source): number {
    const high = links.fingerprints[i * 2]!;
    const low = links.fingerprints[i * 2 + 1]!;
    const flags = links.flags[i]!;
    const link: NewLink = {
      url,
      high,
      low,
      flags: source.nofollow ? flags | LINK_NOFOLLOW : flags,
      relevance: links.relevance[i]!,
      lastmod: links.lastmod[i] ?? 0,
    };
    // Another machine may send the same link twice; the second one is known by now.
    return this.fingerprints.get(high, low) || this.#add(link, { ...source, ...stepFrom(source, flags) });
  }

  /** Takes in one URL: a seed, a redirect's target, a sitemap. */
  one(url: string, source: Source, options: { role?: number; seed?: boolean; from?: string | undefined } = {}): number {
    fingerprint(url, this.#print);
    const { high, low } = this.#print;
    const { role, seed = false, from = '' } = options;
    const known = this.fingerprints.get(high, low);
    const flags = role === SITEMAP ? LINK_IS_SITEMAP : role === IMAGE ? LINK_IMAGE : 0;
    if (this.neighbours && !this.neighbours.own(url)) {
      const stub = known || this.#add({ url, high, low, flags, relevance: 255, lastmod: 0 }, source);
      if (stub !== 0 && (seed || known === 0)) this.neighbours.target(stub, source, flags, seed ? from : '');
      else if (this.#isHop(source) && (this.#depths?.lower(stub, source.depth) ?? true)) {
        this.neighbours.reached(stub, source.depth);
      }
      return stub;
    }
    if (known === 0) return this.#add({ url, high, low, flags, relevance: 255, lastmod: 0, seed }, source);
    if (seed) this.#welcome(known, source);
    else if (this.#isHop(source)) this.#reach(known, source.depth);
    return known;
  }

  /** Links between a page and its seed: fewer than its visit says if a shorter way was found meanwhile. */
  nearest(page: number, depth: number): number {
    return Math.min(depth, this.#depths?.of(page) ?? depth);
  }

  /** A redirect that may be followed, because it is not one of an endless chain. */
  #isHop({ hops }: Source): boolean {
    return hops > 0 && hops <= MOST_HOPS && this.#mayReach;
  }

  /** A new link to a known page may matter: the page may have been refused, or its depth overestimated. */
  get #mayReach(): boolean {
    return this.#depths !== undefined || this.#liftable.size > 0;
  }

  /** Takes in a link from another partition; returns the page id, 0 = it was only counted. */
  cross({ high, low, url, flags, relevance, lastmod, ...said }: Crossing): number {
    const known = this.fingerprints.get(high, low);
    if (url === '' ? known === 0 : !this.neighbours?.own(url)) return 0;
    const page = known === 0 ? this.#stubOf(said) : 0;
    const source = { page, depth: said.depth, hops: said.hops, time: said.time, nofollow: false };
    if (known === 0) return this.#add({ url, high, low, flags, relevance, lastmod, seed: said.seed !== '' }, source);
    const leads =
      ['link', 'reach'].includes(said.kind) ||
      (said.kind === 'listed' && url !== '') ||
      (said.kind === 'target' && this.#isHop(source));
    if (leads && this.#mayReach && (flags & LINK_NOFOLLOW) === 0) this.#reach(known, said.depth);
    if (said.seed !== '') this.#welcome(known, { ...source, page: said.source === '' ? 0 : known });
    return known;
  }

  /** The stub of the page in another partition that leads here, 0 = none: a page that is found needs a parent. */
  #stubOf({ source, seed, time }: Pick<Crossing, 'source' | 'seed' | 'time'>): number {
    if (source === '') return 0;
    const before = seed === '' || seed === source ? 0 : this.#stubOf({ source: seed, seed, time });
    fingerprint(source, this.#print);
    const { high, low } = this.#print;
    const known = this.fingerprints.get(high, low);
    const link = { url: source, high, low, flags: 0, relevance: 0, lastmod: 0 };
    const id = known || this.#stub(link, { page: 0, depth: FARTHEST, hops: 0, time, nofollow: false });
    // Nothing leads to a seed; what leads to the others is not known here, so each is its own parent.
    if (seed !== '' || known === 0) {
      this.#ledger.pages.setOrigin(id, seed === source ? 0 : before || id, before === 0 ? 0 : 1);
    }
    return id;
  }

  #stub(link: NewLink, source: Source): number {
    const id = this.#store(link, source, 0, ELSEWHERE);
    // A link that may be followed will tell its depth.
    if (link.flags & LINK_NOFOLLOW) this.#depths?.set(id, FARTHEST);
    this.neighbours!.addStub(id);
    return id;
  }

  #add(link: NewLink, source: Source): number {
    const said = this.#rules.scope(link.url);
    if (said === FORGOTTEN) return 0;
    const outside = link.seed ? undefined : said;
    if (this.neighbours && !this.neighbours.own(link.url)) {
      return outside !== undefined && this.#tooManyOutside() ? 0 : this.#stub(link, source);
    }
    if (outside !== undefined) return this.#keepOutside(link, source, outside);
    const lane = this.#laneOf(originOf(link.url));
    const refused = link.flags & LINK_NOFOLLOW ? 'nofollow' : this.#refusal(candidateOf(link, source), lane);
    if (refused !== undefined) return this.#refuse(link, source, lane, refused);
    const id = this.#store(link, source, lane.server.id, null);
    const strayed = this.#rules.strays?.note(id, source.page, link.relevance) ?? 0;
    const role = roleOf(link.flags);
    if (role !== SITEMAP) lane.pages++;
    const queue = this.#queueOf(role);
    // The target of a redirect belongs to the visit that found it, so it does not wait for a budget.
    if (queue && source.hops === 0) queue.push(id);
    else lane.order.add(id, { depth: source.depth, relevance: link.relevance, forward: UNKNOWN, backward: 1, strayed });
    return id;
  }

  /** The queue in which a new page waits for a budget; sitemaps do not wait, because they name pages. */
  #queueOf(role: number): PageQueue | undefined {
    if (role === SITEMAP) return undefined;
    return (role === IMAGE ? this.#rules.images : undefined) ?? this.#rules.newcomers;
  }

  #keepOutside(link: NewLink, source: Source, reason: ReasonCode): number {
    if (this.#tooManyOutside()) return 0;
    this.#outside++;
    return this.#store(link, source, 0, reason);
  }

  #tooManyOutside(): boolean {
    const inside = this.fingerprints.size - this.#outside;
    return this.#outside >= MOST_OUTSIDE + OUTSIDE_PER_PAGE * inside;
  }

  #refusal(page: Candidate, lane: Lane): ReasonCode | undefined {
    if (page.depth > this.#rules.depth || page.hops > MOST_HOPS) return 'too-deep';
    if (page.seed || page.role === SITEMAP) return undefined;
    if (lane.pages >= this.#rules.pagesPerServer) return 'too-many-on-server';
    if (this.#rules.strays?.refuses(page.parent, page.relevance)) return 'irrelevant';
    return trapReason(page.url) ?? (lane.shapes.refuses(page.url) ? 'near-identical' : undefined);
  }

  #refuse(link: NewLink, source: Source, lane: Lane, reason: ReasonCode): number {
    const { server } = lane;
    const count = (server.refused[reason] ?? 0) + 1;
    server.refused[reason] = count;
    this.#ledger.servers.touch(server);
    if (count > mostRefused(reason, this.#rules.pagesPerServer)) return 0;
    const id = this.#store(link, source, server.id, reason);
    if (LIFTABLE.includes(reason)) this.#liftable.add(id);
    return id;
  }

  #store(link: NewLink, source: Source, server: number, refused: ReasonCode | null): number {
    const id = this.#ledger.pages.add({
      high: link.high,
      low: link.low,
      server,
      url: link.url,
      parent: source.page,
      depth: source.depth,
      hops: source.hops,
      relevance: link.relevance,
      found: source.time,
      refused,
      role: roleOf(link.flags),
      lastmod: link.lastmod || null,
    });
    this.fingerprints.set(link.high, link.low, id);
    this.#depths?.set(id, source.depth);
    return id;
  }

  /** A link that may be followed reaches a known page, `depth` links from a seed. */
  #reach(page: number, depth: number): void {
    const reached = [{ page, depth }];
    for (let next = reached.pop(); next; next = reached.pop()) {
      if (next.depth > this.#rules.depth) continue;
      if (this.#liftable.has(next.page)) this.#lift(next.page, next.depth);
      if (!this.#depths?.lower(next.page, next.depth)) continue;
      if (this.neighbours?.isStub(next.page)) {
        this.neighbours.reached(next.page, next.depth);
        continue;
      }
      // The page is nearer than we thought, so pages that it links to may be near enough now.
      this.#ledger.pages.setDepth(next.page, next.depth);
      const moved = this.#ledger.pages.known(next.page)?.moved_to ?? 0;
      if (moved !== 0 && this.#ledger.pages.get(moved)!.hops <= MOST_HOPS)
        reached.push({ page: moved, depth: next.depth });
      for (const { target, nofollow } of this.#ledger.links.out(next.page)) {
        if (!nofollow && target !== 0) reached.push({ page: target, depth: next.depth + 1 });
      }
    }
  }

  /** A known page becomes a seed; it may have been refused before as too deep or out of scope. */
  #welcome(id: number, { page, depth }: Source): void {
    if (page === 0) this.#ledger.links.seeds.add(id);
    const { refused } = this.#ledger.pages.get(id)!;
    if (refused === 'out-of-scope') this.#outside--;
    if (refused === 'out-of-scope' || refused === 'removed') this.#lift(id, depth);
    this.#reach(id, depth);
  }

  #lift(id: number, depth: number): void {
    const page = this.#ledger.pages.get(id)!;
    const lane = this.#laneOf(originOf(page.url));
    this.#liftable.delete(id);
    this.#ledger.pages.judge(id, null, lane.server.id);
    if (depth !== page.depth) this.#ledger.pages.setDepth(id, depth);
    lane.pages++;
    const queue = this.#queueOf(page.role);
    if (queue) queue.push(id);
    else lane.order.add(id, { depth, relevance: page.relevance, forward: UNKNOWN, backward: 1 });
  }
}
