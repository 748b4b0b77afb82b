/**
 * The door of the frontier: a URL comes in, and either it becomes a page that will be visited, or a page that will not
 * and says why. A known URL costs one look into memory and nothing else.
 */
import { topLevelDomain } from '../base/domain.ts';
import { fingerprint, hostOf, originOf } from '../base/url.ts';
import type { ReasonCode } from '../errand/reasons.ts';
import { LINK_IS_SITEMAP, LINK_NOFOLLOW, type Links } from '../errand/visit.ts';
import { Fingerprints } from '../ledger/fingerprints.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Lane } from './lane.ts';
import { trapReason } from './traps.ts';

/** Refused URLs stored one by one per server; beyond, only counted: a trap can make millions. */
const REFUSED_PER_SERVER = 1000;
const SITEMAP = 1;

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
  /** Relevance below which a link is not followed; 0 = none. */
  readonly leastRelevance: number;
}

export class Admission {
  readonly fingerprints = new Fingerprints();
  /** Pages refused for a reason that a better link may lift. */
  readonly #liftable = new Set<number>();
  readonly #ledger: Ledger;
  readonly #rules: AdmissionRules;
  readonly #laneOf: (origin: string) => Lane;
  readonly #print = { high: 0, low: 0 };

  constructor(ledger: Ledger, rules: AdmissionRules, laneOf: (origin: string) => Lane) {
    this.#ledger = ledger;
    this.#rules = rules;
    this.#laneOf = laneOf;
  }

  restore(): void {
    for (const { id, high, low } of this.#ledger.pages.fingerprints()) this.fingerprints.set(high, low, id);
    for (const id of this.#ledger.pages.refusedFor(['nofollow', 'too-deep'])) this.#liftable.add(id);
  }

  /** Id of a page by its URL, 0 when unknown. */
  find(url: string): number {
    fingerprint(url, this.#print);
    return this.fingerprints.get(this.#print.high, this.#print.low);
  }

  /** Takes the links of a page in; returns the page id of each link, 0 where it was only counted. */
  links(links: Links, source: Source): Uint32Array {
    const targets = new Uint32Array(links.count);
    let urls: string[] | undefined; // made only when some link is new
    const depth = source.depth + 1;
    for (let i = 0; i < links.count; i++) {
      const high = links.fingerprints[i * 2]!;
      const low = links.fingerprints[i * 2 + 1]!;
      const known = this.fingerprints.get(high, low);
      if (known !== 0) {
        targets[i] = known;
        if (this.#liftable.size > 0) this.#lift(known, links.flags[i]!, { ...source, depth });
        continue;
      }
      urls ??= Buffer.from(links.urls.buffer, links.urls.byteOffset, links.urls.byteLength).toString().split('\n');
      const link: NewLink = {
        url: urls[i]!,
        high,
        low,
        flags: source.nofollow ? links.flags[i]! | LINK_NOFOLLOW : links.flags[i]!,
        relevance: links.relevance[i]!,
        lastmod: links.lastmod[i] ?? 0,
      };
      targets[i] = this.#add(link, { ...source, depth, hops: 0 });
    }
    return targets;
  }

  /** Takes in one URL: a seed, a redirect's target, a sitemap. */
  one(url: string, source: Source, options: { role?: number; seed?: boolean } = {}): number {
    fingerprint(url, this.#print);
    const { high, low } = this.#print;
    const known = this.fingerprints.get(high, low);
    if (known !== 0) return known;
    const flags = options.role === SITEMAP ? LINK_IS_SITEMAP : 0;
    return this.#add({ url, high, low, flags, relevance: 255, lastmod: 0, seed: options.seed === true }, source);
  }

  #add(link: NewLink, source: Source): number {
    const outside = link.seed ? undefined : this.#rules.scope(link.url);
    if (outside !== undefined) return this.#store(link, source, 0, outside);
    const lane = this.#laneOf(originOf(link.url));
    const refused = this.#refusal(link, source, lane);
    if (refused !== undefined) return this.#refuse(link, source, lane, refused);
    const id = this.#store(link, source, lane.server.id, null);
    lane.pages++;
    lane.order.add(id, { depth: source.depth, relevance: link.relevance, forward: 0, backward: 1 });
    return id;
  }

  #refusal(link: NewLink, source: Source, lane: Lane): ReasonCode | undefined {
    if (link.flags & LINK_NOFOLLOW) return 'nofollow';
    if (source.depth > this.#rules.depth) return 'too-deep';
    if (link.seed || link.flags & LINK_IS_SITEMAP) return undefined;
    if (lane.pages >= this.#rules.pagesPerServer) return 'too-many-on-server';
    if (link.relevance < this.#rules.leastRelevance) return 'irrelevant';
    return trapReason(link.url) ?? (lane.shapes.refuses(link.url) ? 'near-identical' : undefined);
  }

  #refuse(link: NewLink, source: Source, lane: Lane, reason: ReasonCode): number {
    const { server } = lane;
    const count = (server.refused[reason] ?? 0) + 1;
    server.refused[reason] = count;
    this.#ledger.servers.touch(server);
    if (count > REFUSED_PER_SERVER && reason !== 'nofollow' && reason !== 'too-deep') return 0;
    const id = this.#store(link, source, server.id, reason);
    if (reason === 'nofollow' || reason === 'too-deep') this.#liftable.add(id);
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
      role: link.flags & LINK_IS_SITEMAP ? SITEMAP : 0,
      lastmod: link.lastmod || null,
    });
    this.fingerprints.set(link.high, link.low, id);
    return id;
  }

  /** A page refused as nofollow or too deep is reached by a link that has neither fault. */
  #lift(id: number, flags: number, source: Source): void {
    if (!this.#liftable.has(id) || flags & LINK_NOFOLLOW || source.nofollow || source.depth > this.#rules.depth) return;
    const page = this.#ledger.pages.get(id)!;
    const lane = this.#laneOf(originOf(page.url));
    this.#liftable.delete(id);
    this.#ledger.pages.admit(id);
    this.#ledger.pages.setDepth(id, source.depth);
    lane.pages++;
    lane.order.add(id, { depth: source.depth, relevance: page.relevance, forward: 0, backward: 1 });
  }
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

export function tldOf(origin: string): string {
  return topLevelDomain(hostOf(origin));
}
