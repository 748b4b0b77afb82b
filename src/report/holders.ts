/** Which pages hold a link to a URL that a report names, with the text of the link. */
import { LINK_CANONICAL } from '../errand/visit.ts';
import type { Related } from './findings.ts';
import { isBroken, isPage, type ReportedSite } from './site.ts';

/** Pages that are named for one URL; all are counted. */
const MOST = 1000;

export class Holders {
  readonly #site: ReportedSite;
  readonly #held = new Map<number, Related[]>();
  readonly #since = new Map<number, number>();
  /** Links that lead to each page, from other pages. */
  readonly counts: Uint32Array;

  /** `edge` is called for every link between two pages of the collection, with their numbers. */
  constructor(site: ReportedSite, edge: (source: number, target: number) => void) {
    this.#site = site;
    const { last } = site;
    this.counts = new Uint32Array(last + 1);
    site.links(({ source, target, flags, anchor }) => {
      if (target === 0 || target > last || flags & LINK_CANONICAL) return;
      const row = site.get(target);
      if (!row) return;
      if (source !== target) this.counts[target]!++;
      const { row: end, way, loop } = row.outcome === 'moved' ? site.end(row) : { row, way: [], loop: false };
      if (end && isPage(end)) edge(source, end.id);
      if (loop || way.length > 1 || isBroken(end) || row.refused === 'out-of-scope') this.add(target, source, anchor);
    });
  }

  /** The page `source` leads to `target`. */
  add(target: number, source: number, anchor: string): void {
    const holder = this.#site.get(source);
    if (!holder) return;
    const held = this.#held.get(target) ?? [];
    if (held.length < MOST) held.push({ url: holder.url, anchor });
    this.#held.set(target, held);
    const first = holder.firstTime ?? holder.found;
    this.#since.set(target, Math.min(this.#since.get(target) ?? first, first));
  }

  /** These pages need `target`. Those that also link to it are named with the text of their link. */
  addNeeding(target: number, sources: readonly number[]): void {
    const linking = new Set(this.of(target).map(({ url }) => url));
    for (const source of sources) if (!linking.has(this.#site.get(source)?.url ?? '')) this.add(target, source, '');
  }

  of(target: number): readonly Related[] {
    return this.#held.get(target) ?? [];
  }

  /** When the first of these pages began to link there; 0 = none does. */
  since(target: number): number {
    return this.#since.get(target) ?? 0;
  }
}
