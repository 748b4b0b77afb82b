/**
 * The agenda says which page of the errand comes next: first the pages that the errand names, in order; then, if the errand
 * permits following links, pages found on the way, breadth first and on the same server (the papers' vectortosearch and
 * vectormatches). Pages that home knows already come with the errand as fingerprints, so none is visited twice; pages that
 * home would refuse (scope, depth, traps) are not followed. Following fewer than home would is harmless: home asks for them.
 */
import { fingerprint, originOf } from '../base/url.ts';
import type { Errand } from '../errand/errand.ts';
import { type Known, MOST_HOPS, stepFrom } from '../errand/known.ts';
import { compileScope } from '../errand/scope/scope.ts';
import { ShapeCounter, trapReason } from '../errand/scope/traps.ts';
import { LINK_ADDED, LINK_IMAGE, LINK_IS_SITEMAP, LINK_NOFOLLOW, type Visit } from '../errand/visit.ts';
import { NearMemory } from './analysis/near-memory.ts';

export interface Agenda {
  next(): Known | undefined;
  /** When next() has no page: resolves when there may be one; undefined = there will be none. */
  more(): Promise<void> | undefined;
  /** Takes the links of a visit in. Every page from next() ends here, or in end(). */
  learn(visit: Visit): void;
  /** Sitemaps that robots.txt named. */
  sitemaps(urls: readonly string[]): void;
  /** No more pages shall be visited. */
  end(): void;
}

export function makeAgenda(errand: Errand): Agenda {
  return errand.limits.follow === 0 ? new NamedPages(errand) : new FollowedPages(errand);
}

class NamedPages implements Agenda {
  readonly #pages: readonly Known[];
  readonly #most: number;
  #at = 0;

  constructor({ pages, limits }: Errand) {
    this.#pages = pages;
    this.#most = limits.pages;
  }

  next(): Known | undefined {
    return this.#at < this.#most ? this.#pages[this.#at++] : undefined;
  }

  more(): undefined {
    return undefined;
  }

  learn(): void {
    // This agenda visits only the pages that the errand names.
  }

  sitemaps(): void {
    // Home sends an errand for them when it wants them.
  }

  end(): void {
    this.#at = Number.POSITIVE_INFINITY;
  }
}

interface AgendaStep {
  readonly known: Known;
  /** Links between this page and the pages named. */
  readonly level: number;
}

class FollowedPages implements Agenda {
  readonly #errand: Errand;
  readonly #outside: ReturnType<typeof compileScope>;
  readonly #shapes = new ShapeCounter();
  readonly #near = new NearMemory();
  readonly #toSearch: AgendaStep[] = [];
  /** Fingerprints of all pages that were ever on the list, and of all that home knows. */
  readonly #matches: Set<bigint>;
  readonly #underWay = new Map<string, AgendaStep>();
  readonly #print = { high: 0, low: 0 };
  #at = 0;
  #over = false;
  #waiting: (() => void)[] = [];

  constructor(errand: Errand) {
    this.#errand = errand;
    this.#outside = compileScope(errand.scope, [`${errand.server.origin}/`]);
    this.#matches = new Set(seenOf(errand));
    for (const known of errand.pages) this.#add(known, 0);
  }

  next(): Known | undefined {
    const step = this.#over || this.#at >= this.#errand.limits.pages ? undefined : this.#toSearch[this.#at];
    if (!step) return undefined;
    this.#at++;
    this.#underWay.set(step.known.url, step);
    return step.known;
  }

  more(): Promise<void> | undefined {
    if (this.#over || this.#underWay.size === 0 || this.#at >= this.#errand.limits.pages) return undefined;
    return new Promise(resolve => this.#waiting.push(resolve));
  }

  learn(visit: Visit): void {
    const step = this.#underWay.get(visit.url);
    this.#underWay.delete(visit.url);
    if (step) this.#follow(visit, step);
    this.#wake();
  }

  sitemaps(urls: readonly string[]): void {
    for (const url of urls) {
      if (this.#fits(url)) this.#add({ url, role: 'sitemap', depth: 0, hops: 0, tries: 0 }, 0);
    }
  }

  end(): void {
    this.#over = true;
    this.#wake();
  }

  #follow(visit: Visit, { known, level }: AgendaStep): void {
    const { limits } = this.#errand;
    if (level >= limits.follow) return;
    if (visit.facts && visit.outcome === 'fetched') this.#shapes.count(visit.url, this.#near.isCopy(visit.facts));
    const { location } = visit;
    if (location !== undefined && this.#fits(location)) {
      this.#add({ url: location, role: known.role, depth: visit.depth, hops: known.hops + 1, tries: 0 }, level + 1);
    }
    if (!visit.links || visit.outcome !== 'fetched' || visit.depth >= limits.depth) return;
    const onlyAdded = visit.page?.nofollow === true || visit.verdict?.follow === false;
    const urls = Buffer.from(visit.links.urls).toString().split('\n');
    for (let i = 0; i < visit.links.count; i++) {
      const flags = visit.links.flags[i]!;
      if (flags & LINK_NOFOLLOW || (onlyAdded && !(flags & LINK_ADDED)) || !this.#fits(urls[i]!)) continue;
      const role = flags & LINK_IS_SITEMAP ? 'sitemap' : flags & LINK_IMAGE ? 'image' : 'page';
      const step = stepFrom({ depth: visit.depth, hops: known.hops }, flags);
      if (step.hops <= MOST_HOPS) this.#add({ url: urls[i]!, role, ...step, tries: 0 }, level + 1);
    }
  }

  #fits(url: string): boolean {
    if (originOf(url) !== this.#errand.server.origin || this.#outside(url) !== undefined) return false;
    return trapReason(url) === undefined && !this.#shapes.refuses(url);
  }

  #add(known: Known, level: number): void {
    if (this.#toSearch.length >= this.#errand.limits.pages) return;
    fingerprint(known.url, this.#print);
    const print = (BigInt(this.#print.high) << 32n) | BigInt(this.#print.low);
    if (this.#matches.has(print)) return;
    this.#matches.add(print);
    this.#toSearch.push({ known, level });
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** Fingerprints as home packed them: high and low 32 bits of each, little-endian. */
function* seenOf({ seen }: Errand): Generator<bigint> {
  if (!seen) return;
  const view = new DataView(seen.buffer, seen.byteOffset, seen.byteLength);
  for (let at = 0; at + 8 <= seen.byteLength; at += 8) {
    yield (BigInt(view.getUint32(at, true)) << 32n) | BigInt(view.getUint32(at + 4, true));
  }
}
