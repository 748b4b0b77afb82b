/**
 * The door of the frontier: a URL comes in, and either it becomes a page that will be visited, or a page that will not
 * and says why. A known URL costs one look into memory and nothing else.
 */
import { fingerprint, hostOf, originOf } from '../../base/url.ts';
import { MOST_HOPS, stepFrom } from '../../errand/known.ts';
import type { ReasonCode } from '../../errand/reasons.ts';
import { trapReason } from '../../errand/scope/traps.ts';
import { LINK_IMAGE, LINK_IS_SITEMAP, LINK_NOFOLLOW, type Links } from '../../errand/visit.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { Fingerprints } from '../../ledger/memory/fingerprints.ts';
import { domainOf, leavesOut } from '../lanes/director.ts';
import type { Lane } from '../lanes/lane.ts';
import type { Memory } from '../memory-file.ts';
import type { Reading } from '../options.ts';
import type { Strays } from '../orders/focused.ts';
import type { PageQueue } from '../orders/page-queue.ts';
import { Depths } from './depths.ts';
import type { RuleReason } from './rules.ts';

/** Refused URLs stored one by one per server; beyond, only counted: a trap can make millions. */
const REFUSED_PER_SERVER = 1000;
const SITEMAP = 1;
const IMAGE = 2;
/** A page that was not fetched has an unknown number of links. */
export const UNKNOWN = -1;
/** A depth limit from here on only guards against traps. */
const MATTERS = 100;
/** Outside links are kept for the link index, up to this many and a few for each page inside; a link farm has more. */
const MOST_OUTSIDE = 100_000;
const OUTSIDE_PER_PAGE = 8;

export interface Source {
  readonly page: number;
  readonly depth: number;
  readonly hops: number;
  readonly time: number;
  /** The page says nofollow for all its links. */
  readonly nofollow: boolean;
}

export interface AdmissionRules {
  readonly scope: (url: string) => ReasonCode | undefined;
  /** Levels of links below a seed. */
  readonly depth: number;
  readonly pagesPerServer: number;
  /** Gives up branches that stay irrelevant; only in a focused crawl. */
  readonly strays: Strays | undefined;
  /** Where new pages wait until a budget lets them in; undefined = they may be visited as they come. */
  readonly newcomers: PageQueue | undefined;
  /** Where images wait that are watched; undefined = they are like pages. */
  readonly images: PageQueue | undefined;
}

export class Admission {
  readonly fingerprints = new Fingerprints();
  /** Pages refused for a reason that a better link may lift. */
  readonly #liftable = new Set<number>();
  /** Only where the limit matters: which page is found first depends on which server answers first. */
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

  /** As much of the memory as it can say of itself. */
  packed(lanes: Iterable<Lane>): Pick<Memory, 'fingerprints' | 'admitted' | 'liftable' | 'depths' | 'outside'> {
    return {
      fingerprints: this.fingerprints.packed(),
      admitted: Float64Array.from([...lanes].flatMap(({ server, pages }) => [server.id, pages])),
      liftable: Float64Array.from(this.#liftable),
      depths: this.#depths?.packed(this.#ledger.pages.size) ?? new Uint8Array(0),
      outside: Float64Array.of(this.#outside),
    };
  }

  /** What packed() said; false = it lacks what this run needs, and nothing was taken. */
  load({ fingerprints, admitted, liftable, depths, outside }: Memory): boolean {
    if (this.#depths && depths.length === 0) return false;
    this.fingerprints.load(fingerprints);
    this.#depths?.load(depths);
    for (const page of liftable) this.#liftable.add(page);
    this.#outside = outside[0]!;
    for (let at = 0; at < admitted.length; at += 2) {
      this.#laneOf(this.#ledger.servers.byId(admitted[at]!).origin).pages = admitted[at + 1]!;
    }
    return true;
  }

  restore(reading: Reading): void {
    const admitted = new Map<number, number>();
    for (const { id, high, low, depth, server, refused, role } of reading(this.#ledger.pages.every())) {
      this.fingerprints.set(high, low, id);
      this.#depths?.set(id, depth);
      const counts = role !== SITEMAP ? 1 : 0;
      if (refused === null) admitted.set(server, (admitted.get(server) ?? 0) + counts);
      else if (isLiftable(refused)) this.#liftable.add(id);
      else if (refused === 'out-of-scope') this.#outside++;
    }
    for (const [server, pages] of admitted) this.#laneOf(this.#ledger.servers.byId(server).origin).pages = pages;
  }

  /** Judges again the pages that a rule refused which is another now. What passes joins its lane. */
  judgeRefused(rule: RuleReason): void {
    for (const id of this.#ledger.pages.refusedFor(rule)) {
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

  /** The same for a page that waits for its first visit; true = it may go on waiting. Seeds always may. */
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
    if (isLiftable(reason)) this.#liftable.add(id);
    if (reason === 'out-of-scope') this.#outside++;
    return false;
  }

  /** Id of a page by its URL, 0 when unknown. */
  find(url: string): number {
    fingerprint(url, this.#print);
    return this.fingerprints.get(this.#print.high, this.#print.low);
  }

  /** Takes the links of a page in; returns the page id of each link, 0 where it was only counted, until the next call. */
  links(links: Links, source: Source): Uint32Array {
    const targets = this.fingerprints.getAll(links.fingerprints, links.count);
    const mayReach = !source.nofollow && (this.#depths !== undefined || this.#liftable.size > 0);
    let urls: string[] | undefined; // made only when some link is new
    for (let i = 0; i < links.count; i++) {
      const known = targets[i]!;
      const flags = links.flags[i]!;
      if (known === 0) {
        urls ??= Buffer.from(links.urls.buffer, links.urls.byteOffset, links.urls.byteLength).toString().split('\n');
        targets[i] = this.#addOne(links, i, urls[i]!, source);
      } else if (mayReach && (flags & LINK_NOFOLLOW) === 0) {
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
    // Known by now where a page names it twice, which only another machine's word may.
    return this.fingerprints.get(high, low) || this.#add(link, { ...source, ...stepFrom(source, flags) });
  }

  /** Takes in one URL: a seed, a redirect's target, a sitemap. */
  one(url: string, source: Source, options: { role?: number; seed?: boolean } = {}): number {
    fingerprint(url, this.#print);
    const { high, low } = this.#print;
    const known = this.fingerprints.get(high, low);
    if (known !== 0) {
      if (options.seed) this.#welcome(known, source);
      return known;
    }
    const flags = options.role === SITEMAP ? LINK_IS_SITEMAP : options.role === IMAGE ? LINK_IMAGE : 0;
    return this.#add({ url, high, low, flags, relevance: 255, lastmod: 0, seed: options.seed === true }, source);
  }

  #add(link: NewLink, source: Source): number {
    const outside = link.seed ? undefined : this.#rules.scope(link.url);
    if (outside !== undefined) return this.#keepOutside(link, source, outside);
    const lane = this.#laneOf(originOf(link.url));
    const refused = link.flags & LINK_NOFOLLOW ? 'nofollow' : this.#refusal(candidateOf(link, source), lane);
    if (refused !== undefined) return this.#refuse(link, source, lane, refused);
    const id = this.#store(link, source, lane.server.id, null);
    const strayed = this.#rules.strays?.note(id, source.page, link.relevance) ?? 0;
    const role = roleOf(link.flags);
    if (role !== SITEMAP) lane.pages++;
    const queue = this.#queueOf(role);
    // Where a redirect leads belongs to the visit that found it.
    if (queue && source.hops === 0) queue.push(id);
    else lane.order.add(id, { depth: source.depth, relevance: link.relevance, forward: UNKNOWN, backward: 1, strayed });
    return id;
  }

  /** Where a new page waits for a budget; sitemaps do not, because they tell of pages. */
  #queueOf(role: number): PageQueue | undefined {
    if (role === SITEMAP) return undefined;
    return (role === IMAGE ? this.#rules.images : undefined) ?? this.#rules.newcomers;
  }

  #keepOutside(link: NewLink, source: Source, reason: ReasonCode): number {
    const inside = this.fingerprints.size - this.#outside;
    if (this.#outside >= MOST_OUTSIDE + OUTSIDE_PER_PAGE * inside) return 0;
    this.#outside++;
    return this.#store(link, source, 0, reason);
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
    if (count > this.#mostRefused(reason)) return 0;
    const id = this.#store(link, source, server.id, reason);
    if (isLiftable(reason)) this.#liftable.add(id);
    return id;
  }

  /** What another link or another run may let in is kept one by one; of a cap, as many as it let in. */
  #mostRefused(reason: ReasonCode): number {
    if (isLiftable(reason)) return Number.POSITIVE_INFINITY;
    return reason === 'too-many-on-server'
      ? Math.max(REFUSED_PER_SERVER, this.#rules.pagesPerServer)
      : REFUSED_PER_SERVER;
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

  /** A known page is reached by a link that may be followed, `depth` links from a seed. */
  #reach(page: number, depth: number): void {
    const reached = [{ page, depth }];
    for (let next = reached.pop(); next; next = reached.pop()) {
      if (next.depth > this.#rules.depth) continue;
      if (this.#liftable.has(next.page)) this.#lift(next.page, next.depth);
      if (!this.#depths?.lower(next.page, next.depth)) continue;
      // Nearer than it was thought: what it links to may be near enough now.
      this.#ledger.pages.setDepth(next.page, next.depth);
      for (const { target, nofollow } of this.#ledger.links.out(next.page)) {
        if (!nofollow && target !== 0) reached.push({ page: target, depth: next.depth + 1 });
      }
    }
  }

  /** A known page is given as a seed; it may have been found too deep, or outside. */
  #welcome(id: number, { page, depth }: Source): void {
    if (page === 0) this.#ledger.seeds.add(id);
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

/** Refused for a reason that a better link may lift. */
function isLiftable(reason: string): boolean {
  return reason === 'nofollow' || reason === 'too-deep';
}

/** A page that may be taken in, as far as the rules look at it. */
interface Candidate {
  readonly url: string;
  readonly depth: number;
  readonly hops: number;
  readonly parent: number;
  readonly relevance: number;
  readonly role: number;
  readonly seed?: boolean;
}

function candidateOf(
  { url, relevance, flags, seed = false }: NewLink,
  { depth, hops, page: parent }: Source,
): Candidate {
  return { url, depth, hops, parent, relevance, role: roleOf(flags), seed };
}

function roleOf(flags: number): number {
  return flags & LINK_IS_SITEMAP ? SITEMAP : flags & LINK_IMAGE ? IMAGE : 0;
}

interface NewLink {
  readonly url: string;
  readonly high: number;
  readonly low: number;
  readonly flags: number;
  readonly relevance: number;
  readonly lastmod: number;
  readonly seed?: boolean;
}

type Outside = (url: string) => ReasonCode | undefined;

/** A domain of weight 0 is outside. */
export function withDomains(outside: Outside, weights: ReadonlyMap<string, number>): Outside {
  if (weights.size === 0) return outside;
  return url => outside(url) ?? (leavesOut(weights, domainOf(weights, hostOf(url))) ? 'out-of-scope' : undefined);
}
