/** How far the search index is behind the ledger, told by the cursor at which it stands (search-source.ts). */
import type { Ledger } from '../../ledger/ledger.ts';

/** Visits, or pages while it is filled, that an index with this cursor has still to read. */
export function visitsBehind(ledger: Ledger, cursor: string): number {
  const count = (sql: string, ...values: number[]) => Number(ledger.database.prepare(sql).get(...values)!['n']);
  const [phase, page, visit] = cursor.split(':');
  const left = count('SELECT count(*) AS n FROM visits WHERE id > ?', Number(visit ?? 0));
  if (phase === 'visits') return left;
  return Math.max(left, count('SELECT count(*) AS n FROM known WHERE page > ?', phase === 'pages' ? Number(page) : 0));
}

/** Pages that changed, went or were found since an index with this cursor was fed: what a search may not know of. */
export function pagesBehind(ledger: Ledger, cursor: string): number {
  const count = (sql: string, ...values: number[]) => Number(ledger.database.prepare(sql).get(...values)!['n']);
  const [phase, page, visit] = cursor.split(':');
  const news = count(
    `SELECT count(DISTINCT page) AS n FROM visits WHERE id > ? AND outcome IN ('fetched', 'gone', 'moved')`,
    Number(visit ?? 0),
  );
  if (phase === 'visits') return news;
  const left = `SELECT count(*) AS n FROM known WHERE page > ? AND outcome IN ('fetched', 'same')`;
  return Math.max(news, count(left, phase === 'pages' ? Number(page) : 0));
}
