/**
 * Bytes that were avoided by not asking: on each day with visits, the pages that were known by then and left alone, at
 * what their last full answer cost. It stands in no row of the ledger, because nothing happened; here it is counted.
 *
 * In a large collection a part of the pages stands for all, so that the question costs the same however large it is.
 */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';

export const NOT_DUE = 'not due';

export interface NotDue {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly avoided: number;
  /** `cursor` and `notice` where the server told that day what has changed: what it did not name was left alone for that. */
  readonly cause: typeof NOT_DUE | 'cursor' | 'notice';
}

/** Steps of the golden ratio fall evenly everywhere, and never in step with how a site numbers its pages. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;

/** From the day `first` on; of more than `most` pages, that many are looked at. */
export function notDue(ledger: Ledger, first: number, most: number): NotDue[] {
  const days = ledger.servers.account.days(first);
  if (days.length === 0) return [];
  const pages = ledger.pages.newest();
  const looked = Math.min(pages, most);
  const sums = new Map<string, { day: number; server: number; avoided: number }>();
  // In their order in the tables: each part of those is read once.
  const ids = Array.from({ length: looked }, (_, i) =>
    looked === pages ? i + 1 : 1 + Math.floor((((i + 1) * GOLDEN) % 1) * pages),
  ).sort((a, b) => a - b);
  for (const { server, wire, found, visited } of ledger.servers.account.pricesOf(ids, first * DAY)) {
    for (const day of days) {
      if (found >= day * DAY || visited.has(day)) continue;
      const key = `${day} ${server}`;
      const sum = sums.get(key) ?? { day, server, avoided: 0 };
      sum.avoided += wire * (pages / looked);
      sums.set(key, sum);
    }
  }
  const causeOf = tellers(ledger, first);
  return [...sums.values()].map(sum => ({ ...sum, avoided: Math.round(sum.avoided), cause: causeOf(sum) }));
}

/** Which servers told what had changed, and by what, on each day. */
function tellers(ledger: Ledger, first: number): (sum: { day: number; server: number }) => NotDue['cause'] {
  const told = new Map<string, NotDue['cause']>();
  for (const { day, server, cause } of ledger.servers.account.rows(first)) {
    const key = `${day} ${server}`;
    if (cause === 'cursor' || (cause === 'notice' && !told.has(key))) told.set(key, cause);
  }
  return ({ day, server }) => told.get(`${day} ${server}`) ?? NOT_DUE;
}
