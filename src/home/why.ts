/** Why a page is or is not due, for those who read the ledger beside a running home, and what its reasons mean. */
import { type ReasonCode, reasons } from '../errand/reasons.ts';
import { Schedule } from '../frontier/schedule.ts';
import { weighed } from '../frontier/standing.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type KnownRow, type PageRow, roles } from '../ledger/pages.ts';
import { type Explanation, explain } from '../revisit/explain.ts';
import { DAY, unpackState } from '../revisit/state.ts';
import { interestIn } from './indexing.ts';

/** One sentence for a reason's code. */
export function meaningOf(code: string): string {
  return reasons[code as ReasonCode]?.means ?? code;
}

export interface DueReason extends Explanation {
  readonly policy: string;
  /** Times that it was opened from a search lately; part of its importance. */
  readonly searches: number;
}

/** Undefined for a page that was never seen: nothing is known that could be explained. */
export function dueReason(
  ledger: Ledger,
  page: PageRow,
  known: KnownRow | undefined,
  now: number,
): DueReason | undefined {
  if (!known?.change || known.seen_time === null) return undefined;
  const schedule = new Schedule(ledger);
  const server = page.server === 0 ? undefined : ledger.servers.read(page.server);
  const { weight, searches } = standingOf(ledger, page, now);
  const explained = explain(schedule.plan, schedule.termsFor(weight, server), {
    state: unpackState(known.change),
    last: known.seen_time,
    now,
    ...(known.due !== null && { due: known.due }),
  });
  return { policy: schedule.plan.policy.name, ...explained, searches };
}

/** How important a page is by now, and how much of that is because people searched for it. */
export function standingOf(ledger: Ledger, page: PageRow, now: number): { weight: number; searches: number } {
  const searches = interestIn(ledger.directory, () => now)(page.id);
  const place = { linksIn: ledger.backward.saved(page.id), depth: page.depth, role: roles[page.role]! };
  return { weight: weighed({ ...place, searches }), searches };
}

/** Says of each page how likely it is to have changed since it was seen. */
export function changeProbability(ledger: Ledger, now: number): (page: number) => number | undefined {
  const { estimator } = new Schedule(ledger).plan;
  return page => {
    const known = ledger.pages.known(page);
    if (!known?.change || known.seen_time === null) return undefined;
    return 1 - estimator.survival(unpackState(known.change), Math.max(0, now - known.seen_time) / DAY);
  };
}

/** Share of the collection that is expected to be as it was last seen, and the share that the budget aims at. */
export function freshnessOf(ledger: Ledger, now: number): { expected: number; aim: number } {
  const schedule = new Schedule(ledger);
  return { expected: schedule.expectedFreshness(now), aim: schedule.balance.freshness };
}
