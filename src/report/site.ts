/** The collection in memory, as a report needs it: all URLs by number, where redirects end, and which are broken. */

import type { Ledger } from '../ledger/ledger.ts';
import { ELSEWHERE } from '../ledger/outbox/border.ts';
import type { SiteLink, SiteRow } from '../ledger/queries/site-questions.ts';

/** After so many redirects in a row the chain counts as endless. */
const MOST_HOPS = 20;

interface RedirectEnd {
  readonly row: SiteRow | undefined;
  /** URLs on the way, with the first and without the last. */
  readonly way: readonly SiteRow[];
  readonly loop: boolean;
}

/** A partition of the collection. */
export interface SitePart {
  readonly ledger: Ledger;
  /** Where its archive is. */
  readonly directory: string;
}

/** A part, whose ids get `base` added; stubs of other parts' pages get the numbers of those pages instead. */
interface Numbered extends SitePart {
  readonly base: number;
  readonly last: number;
  readonly elsewhere: Map<number, number>;
}

export class ReportedSite {
  readonly #parts: readonly Numbered[];
  readonly #rows: (SiteRow | undefined)[] = [undefined];
  readonly #byUrl = new Map<string, SiteRow>();

  constructor(parts: readonly SitePart[]) {
    let base = 0;
    this.#parts = parts.map(({ ledger, directory }) => {
      const numbered = { ledger, directory, base, last: base + ledger.pages.newest(), elsewhere: new Map() };
      base = numbered.last;
      return numbered;
    });
    const stubs = this.#parts.flatMap(part => this.#read(part));
    if (parts.length > 1) this.#join(stubs);
  }

  /** All rows of a part; gives back those that stand for pages of other parts. */
  #read(part: Numbered): { readonly part: Numbered; readonly row: SiteRow }[] {
    const stubs: { part: Numbered; row: SiteRow }[] = [];
    const several = this.#parts.length > 1;
    for (const row of part.ledger.queries.site.pages()) {
      if (several && row.refused === ELSEWHERE) stubs.push({ part, row });
      else this.#add(several ? { ...row, id: part.base + row.id } : row);
    }
    return stubs;
  }

  #add(row: SiteRow): void {
    this.#rows[row.id] = row;
    this.#byUrl.set(row.url, row);
  }

  /** Stubs are the pages that they stand for; one that its own part has not heard of yet waits for its first visit. */
  #join(stubs: readonly { readonly part: Numbered; readonly row: SiteRow }[]): void {
    for (const { part, row } of stubs) {
      const own = this.find(row.url);
      if (own) part.elsewhere.set(row.id, own.id);
      else this.#add({ ...row, id: part.base + row.id, refused: null });
    }
    for (const part of this.#parts) {
      const maybe = (id: number | null) => (id === null ? null : numberOf(part, id));
      for (let id = part.base + 1; id <= part.last; id++) {
        const row = this.#rows[id];
        if (!row) continue;
        const { movedTo, sameAs, near } = row;
        const led = { movedTo: maybe(movedTo), sameAs: maybe(sameAs), near: maybe(near) };
        this.#add({ ...row, ...led, parent: row.parent === 0 ? 0 : numberOf(part, row.parent) });
      }
    }
  }

  /** The highest number of a page. */
  get last(): number {
    return this.#parts.at(-1)?.last ?? 0;
  }

  /** Every link of every page; the object is good until the next one comes. */
  links(visit: (link: SiteLink) => void): void {
    for (const part of this.#parts)
      part.ledger.queries.site.links(link => {
        if (this.#parts.length === 1) return visit(link);
        const target = link.target === 0 ? 0 : numberOf(part, link.target);
        visit({ ...link, source: numberOf(part, link.source), target });
      });
  }

  /** Pages that sitemaps name. */
  listed(): Set<number> {
    return new Set(this.#parts.flatMap(part => [...part.ledger.queries.site.listed()].map(id => numberOf(part, id))));
  }

  /** Milliseconds that the last whole answer of each page took. */
  times(): Map<number, number> {
    return new Map(
      this.#parts.flatMap(part =>
        [...part.ledger.queries.site.times()].map(([id, ms]) => [numberOf(part, id), ms] as const),
      ),
    );
  }

  /** The part that has a page, and its id there. */
  placeOf(id: number): { readonly part: SitePart; readonly local: number } {
    const part = this.#parts.find(({ last }) => id <= last)!;
    return { part, local: id - part.base };
  }

  /** The first visit of those in a row that found a page broken; 0 = it was never visited. */
  brokenSince(id: number): number {
    const { part, local } = this.placeOf(id);
    return part.ledger.queries.site.brokenSince(local);
  }

  get(id: number): SiteRow | undefined {
    return this.#rows[id];
  }

  find(url: string): SiteRow | undefined {
    return this.#byUrl.get(url);
  }

  *[Symbol.iterator](): Iterator<SiteRow> {
    for (const row of this.#rows) if (row) yield row;
  }

  get size(): number {
    return this.#byUrl.size;
  }

  /** Where the redirects that begin here end. */
  end(row: SiteRow): RedirectEnd {
    const way: SiteRow[] = [];
    let at: SiteRow | undefined = row;
    while (at?.outcome === 'moved') {
      if (way.includes(at) || way.length > MOST_HOPS) return { row: undefined, way, loop: true };
      way.push(at);
      at = at.movedTo === null ? undefined : this.get(at.movedTo);
    }
    return { row: at, way, loop: at?.reason === 'redirect-loop' };
  }
}

function numberOf({ base, elsewhere }: Numbered, local: number): number {
  return elsewhere.get(local) ?? base + local;
}

/** A page that was collected. */
export function isPage(row: SiteRow | undefined): row is SiteRow {
  return row !== undefined && row.role === 0 && (row.outcome === 'fetched' || row.outcome === 'same');
}

export function isHtml({ type }: SiteRow): boolean {
  return type === 'text/html' || type === 'application/xhtml+xml';
}

/** It was requested, and nothing is there. A URL that robots.txt forbids is not known to be broken. */
export function isBroken(row: SiteRow | undefined): boolean {
  if (!row || row.outcome === null) return false;
  return row.outcome === 'gone' || row.outcome === 'failed' || (row.status ?? 0) >= 400;
}
