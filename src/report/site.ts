/** The collection as a report sees it: all URLs by number, where redirects end, and what is broken. */
import type { Ledger } from '../ledger/ledger.ts';
import type { SiteRow } from '../ledger/site-questions.ts';

/** Redirects in a row beyond which there is no end. */
const MOST_HOPS = 20;

export interface End {
  readonly row: SiteRow | undefined;
  /** URLs passed on the way, the first one included, the last one not. */
  readonly way: readonly SiteRow[];
  readonly loop: boolean;
}

export class Site {
  readonly ledger: Ledger;
  readonly #rows: (SiteRow | undefined)[] = [undefined];
  readonly #byUrl = new Map<string, SiteRow>();

  constructor(ledger: Ledger) {
    this.ledger = ledger;
    for (const row of ledger.site.pages()) {
      this.#rows[row.id] = row;
      this.#byUrl.set(row.url, row);
    }
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

  /** Where redirects from here end. */
  end(row: SiteRow): End {
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

/** A page that was collected. */
export function isPage(row: SiteRow | undefined): row is SiteRow {
  return row !== undefined && row.role === 0 && (row.outcome === 'fetched' || row.outcome === 'same');
}

export function isHtml({ type }: SiteRow): boolean {
  return type === 'text/html' || type === 'application/xhtml+xml';
}

/** Asked for, and there is nothing. What robots.txt keeps us from is not known to be broken. */
export function isBroken(row: SiteRow | undefined): boolean {
  if (!row || row.outcome === null) return false;
  return row.outcome === 'gone' || row.outcome === 'failed' || (row.status ?? 0) >= 400;
}
