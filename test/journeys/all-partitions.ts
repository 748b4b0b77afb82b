/** What a collection knows, over all of its partitions, in a form that does not depend on how many there are. */
import { readCollection } from '../../src/ledger/collection/collection.ts';
import { Ledger } from '../../src/ledger/ledger.ts';

export interface Told {
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly status: number | null;
  readonly refused: string | null;
  readonly depth: number;
  readonly role: number;
  /** Pages that link to it. */
  readonly linked: number;
  /** Where it redirects to. */
  readonly moved: string | null;
  /** URL of the page that led to it. */
  readonly parent: string | null;
  readonly visits: number;
}

/** Every page by its URL, sorted. */
export function toldBy(directory: string): Map<string, Told> {
  const all = new Map<string, Told>();
  for (const place of readCollection(directory).here) {
    const ledger = new Ledger(place.directory, 'read');
    try {
      const rows = ledger['database']
        .prepare(
          `SELECT p.id, p.url, p.depth, p.role, p.refused, k.outcome, k.reason, k.status, m.url AS moved, f.url AS parent,
             (SELECT count(*) FROM visits v WHERE v.page = p.id) AS visits
           FROM pages p LEFT JOIN known k ON k.page = p.id LEFT JOIN pages m ON m.id = k.moved_to
           LEFT JOIN pages f ON f.id = p.parent WHERE p.refused IS NOT 'elsewhere'`,
        )
        .all() as unknown as (Omit<Told, 'linked'> & { id: number; url: string })[];
      for (const { id, url, ...row } of rows) {
        if (all.has(url)) throw new Error(`${url} is in two partitions`);
        all.set(url, { ...row, linked: ledger.links.backward.saved(id) });
      }
    } finally {
      ledger.close();
    }
  }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** How many partitions have a page of their own. */
export function partitionsUsed(directory: string): number {
  const own = readCollection(directory).here.map(place => {
    const ledger = new Ledger(place.directory, 'read');
    const pages = ledger.pages.own;
    ledger.close();
    return pages;
  });
  return own.filter(pages => pages > 0).length;
}
