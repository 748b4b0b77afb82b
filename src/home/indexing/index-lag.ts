/** How far the search index is behind the ledger, told by the cursor at which it stands (search-source.ts). */
import type { Ledger } from '../../ledger/ledger.ts';

/** Visits, or pages while it is filled, that an index with this cursor has still to read. */
export function visitsBehind({ indexFeed }: Ledger, cursor: string): number {
  const [phase, page, visit] = cursor.split(':');
  const left = indexFeed.countVisits(Number(visit ?? 0));
  if (phase === 'visits') return left;
  return Math.max(left, indexFeed.countPages(phase === 'pages' ? Number(page) : 0));
}

/** Pages that changed, went or were found since an index with this cursor was fed: what a search may not know of. */
export function pagesBehind({ indexFeed }: Ledger, cursor: string): number {
  const [phase, page, visit] = cursor.split(':');
  const news = indexFeed.countChanged(Number(visit ?? 0));
  if (phase === 'visits') return news;
  return Math.max(news, indexFeed.countPages(phase === 'pages' ? Number(page) : 0, true));
}
