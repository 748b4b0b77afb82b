/** How far a round of refresh goes: what it may spend, what of it is done already, and how many pages leave at once. */
import { DAY } from '../../base/clock.ts';
import { keyOf, type Pool } from '../partitions/pool.ts';
import type { Round } from '../round.ts';
import type { Grant, Spending, SupplyParts } from '../supply.ts';

/** Days of unspent budget that a collection may save up. */
const MOST_SAVED = 7;
/** Pages let into the lanes at once. */
const SLICE = 256;
export const SMALL_SLICE = 32;
/** Where only pages are counted: errands to other machines should be full. */
const LARGE_SLICE = 4096;
const ROUND_PARTS = 8;
/** Of the live pages, where a freshness is to be kept. */
const AIM_PARTS = 64;

/** What of a round may be taken, and what of that is done. */
export interface RoundTerms {
  /** Whose budget it has. */
  readonly days: number;
  /** Pages and bytes that it may take; of the bytes, those that are left. */
  readonly most: number;
  readonly bytes: number;
  /** Pages that are due by then; milliseconds since 1970. */
  readonly horizon: number;
  /** Pages that it has taken, of those that it may. */
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
  // A budget that is there is spent on what comes next; a freshness to be kept is not kept better than asked for.
  const whole = first?.frontier.schedule.plan.policy.usesWholeBudget && !aimed(pool);
  return {
    days,
    most: Math.max(1, Math.round(allowance.pages * days)),
    bytes,
    horizon: whole ? Number.MAX_VALUE : now + (days * DAY) / 2,
    given,
  };
}

/** What a round may spend: its own budget, or what it is granted of one that others spend from, too. */
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

/** A freshness is to be kept, and not a budget. All partitions have the same aim. */
export function aimed(pool: Pool): boolean {
  for (const { frontier } of pool) return frontier.schedule.settings.freshness !== undefined;
  return false;
}

/** Pages after whose visits it is asked whether a freshness has been reached. */
export function stepOf(pool: Pool): number {
  return Math.ceil(pool.live / AIM_PARTS);
}

/**
 * How many pages are let in at once: few where the bytes of each have to be counted before the next, and no more than
 * a part of the round anywhere, because visits teach about the rest. A server that seemed to change as a whole, and did
 * not, cost a third of a day's budget when all of it left at once.
 */
export function sliceOf(pool: Pool, { most, bytes }: Pick<RoundTerms, 'most' | 'bytes'>): number {
  if (Number.isFinite(bytes)) return SMALL_SLICE;
  // A freshness is reached with a part of what is due: visits show how large a part.
  if (aimed(pool)) return Math.max(SMALL_SLICE, Math.min(SLICE, stepOf(pool)));
  return Math.max(SMALL_SLICE, Math.min(Math.ceil(most / ROUND_PARTS), LARGE_SLICE));
}
