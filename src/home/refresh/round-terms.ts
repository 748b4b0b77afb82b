/** The terms of a round of refresh: what it may spend, what it has spent already, and how many pages leave at once. */
import { DAY } from '../../base/clock.ts';
import { keyOf, type Pool } from '../partitions/pool.ts';
import type { Round } from '../round.ts';
import type { Grant, Spending, SupplyParts } from '../supply.ts';

/** Days of unspent budget that a collection may save up. */
const MOST_SAVED = 7;
/** Pages let into the lanes at once. */
const SLICE = 256;
export const SMALL_SLICE = 32;
/** Where the budget counts only pages: errands to other machines should be full. */
const LARGE_SLICE = 4096;
const ROUND_PARTS = 8;
/** Parts of the live pages, where the aim is a freshness. */
const AIM_PARTS = 64;

/** What a round may take, and what it has taken. */
export interface RoundTerms {
  /** It has the budget of so many days. */
  readonly days: number;
  /** Pages that it may take in all, and bytes that are left. */
  readonly most: number;
  readonly bytes: number;
  /** It takes pages that are due by then; milliseconds since 1970. */
  readonly horizon: number;
  /** Pages that it has taken. */
  readonly given: Set<number>;
}

export function termsOf({ pool, clock }: SupplyParts, { begun, before }: Round, allowance: Spending): RoundTerms {
  const days = Math.min(MOST_SAVED, Math.max(1, (begun - before) / DAY));
  const now = clock.now();
  const given = new Set<number>();
  let bytes = allowance.bytes * days;
  for (const member of pool) {
    const done = member.ledger.visits.doneBetween(begun, now, pool.kind !== 'pages');
    for (const page of done.pages) given.add(keyOf({ member, page }));
    bytes -= done.bytes;
  }
  const [first] = pool;
  // A budget is spent whole, on what comes next; a freshness is not kept higher than the user asked.
  const whole = first?.frontier.schedule.plan.policy.usesWholeBudget && !aimed(pool);
  return {
    days,
    most: Math.max(1, Math.round(allowance.pages * days)),
    bytes,
    horizon: whole ? Number.MAX_VALUE : now + (days * DAY) / 2,
    given,
  };
}

/** What a round may spend: its own budget, or its grant from a budget that it shares with other machines. */
export function grantsOf(
  { purse }: SupplyParts,
  { most, bytes, given, days }: Pick<RoundTerms, 'most' | 'bytes' | 'given' | 'days'>,
  allowance: Spending,
  spent: () => number,
): { readonly pages: Grant; readonly wire: Grant } {
  const countsBytes = Number.isFinite(bytes);
  return {
    pages: purse && !countsBytes ? purse.pages(() => given.size, most) : { most, final: true },
    wire: purse && countsBytes ? purse.bytes(spent, allowance.bytes * days) : { most: bytes, final: true },
  };
}

/** The aim is a freshness, not a budget. All partitions have the same aim. */
export function aimed(pool: Pool): boolean {
  for (const { frontier } of pool) return frontier.schedule.settings.freshness !== undefined;
  return false;
}

/** Visits between two questions whether the freshness has been reached. */
export function stepOf(pool: Pool): number {
  return Math.ceil(pool.live / AIM_PARTS);
}

/**
 * How many pages enter the lanes at once: few where the bytes of each must be counted before the next, and never more than
 * a part of the round, because visits teach about the rest. When a whole round left at once, a server that seemed to have
 * changed as a whole, and had not, cost a third of a day's budget.
 */
export function sliceOf(pool: Pool, { most, bytes }: Pick<RoundTerms, 'most' | 'bytes'>): number {
  if (Number.isFinite(bytes)) return SMALL_SLICE;
  // A part of the due pages is enough to reach a freshness; visits show how large a part.
  if (aimed(pool)) return Math.max(SMALL_SLICE, Math.min(SLICE, stepOf(pool)));
  return Math.max(SMALL_SLICE, Math.min(Math.ceil(most / ROUND_PARTS), LARGE_SLICE));
}
