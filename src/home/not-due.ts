/**
 * Bytes that were avoided by not asking: on each day with visits, the pages that were known by then and left alone, at
 * what their last full answer cost. It stands in no row of the ledger, because nothing happened; here it is counted.
 *
 * In a large collection a part of the pages stands for all, so that the question costs the same however large it is.
 */
import { DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';

export const NOT_DUE = 'not due';

export interface NotDue {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly avoided: number;
}

/** Steps of the golden ratio fall evenly everywhere, and never in step with how a site numbers its pages. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** From the day `first` on; of more than `most` pages, that many are looked at. */
export function notDue(ledger: Ledger, first: number, most: number): NotDue[] {
  const { database } = ledger;
  const one = (sql: string) => Number(database.prepare(sql).get()!['n'] ?? 0);
  const days = database.prepare('SELECT DISTINCT day FROM account WHERE day >= ? ORDER BY day').all(first);
  if (days.length === 0) return [];
  const pages = one('SELECT max(id) AS n FROM pages');
  const looked = Math.min(pages, most);
  const page = database.prepare(
    `SELECT p.server, k.wire, k.first_time AS found FROM known k JOIN pages p ON p.id = k.page
     WHERE k.page = ? AND k.wire IS NOT NULL`,
  );
  const asked = database.prepare(
    `SELECT DISTINCT cast(time / ${DAY} AS INTEGER) AS day FROM visits WHERE page = ? AND time >= ?`,
  );
  const sums = new Map<string, { day: number; server: number; avoided: number }>();
  for (let i = 1; i <= looked; i++) {
    const id = looked === pages ? i : 1 + Math.floor(((i * GOLDEN) % 1) * pages);
    const row = page.get(id) as { server: number; wire: number; found: number } | undefined;
    if (row === undefined) continue;
    const visited = new Set(asked.all(id, first * DAY).map(each => each['day']));
    for (const { day } of days as { day: number }[]) {
      if (row.found >= day * DAY || visited.has(day)) continue;
      const key = `${day} ${row.server}`;
      const sum = sums.get(key) ?? { day, server: row.server, avoided: 0 };
      sum.avoided += row.wire * (pages / looked);
      sums.set(key, sum);
    }
  }
  return [...sums.values()].map(sum => ({ ...sum, avoided: Math.round(sum.avoided) }));
}
