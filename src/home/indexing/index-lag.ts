/** How far the search index is behind the ledger, told by the cursor at which it stands (search-source.ts). */
import type { Ledger } from '../../ledger/ledger.ts';

/** Visits, or pages while it is filled, that an index with this cursor has still to read. */
export function visitsBehind({ queries }: Ledger, cursor: string): number {
  const [phase, page, visit] = cursor.split(':');
  const left = queries.indexFeed.countVisits(Number(visit ?? 0));
  if (phase === 'visits') return left;
  return Math.max(left, queries.indexFeed.countPages(phase === 'pages' ? Number(page) : 0));
}

/** Pages that changed, went or were found since an index with this cursor was fed: what a search may not know of. */
export function pagesBehind({ queries }: Ledger, cursor: string): number {
  const [phase, page, visit] = cursor.split(':');
  const news = queries.indexFeed.countChanged(Number(visit ?? 0));
  if (phase === 'visits') return news;
  return Math.max(news, queries.indexFeed.countPages(phase === 'pages' ? Number(page) : 0, true));
}
