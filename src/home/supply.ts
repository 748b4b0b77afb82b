/**
 * Supplies feed the frontier while home runs, beside the links that visits find: they bring pages to retry, and pages that
 * the schedule wants checked. One small port has three implementations: `crawl` ends when nothing is left, `refresh` ends
 * after one round (refresh/refresh-supply.ts), and `watch` never ends (refresh/watch-supply.ts).
 */
import { type Clock, ClockWatch } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Images } from './images/images.ts';
import { keyOf, type Pool, type PoolPage } from './partitions/pool.ts';

/** Milliseconds between two questions to the ledger. */
export const ASK_EVERY = 1000;
/** Pages let into the lanes at once. */
export const SLICE = 256;
/** Checks of dead links, redirects and second addresses, for each check of a page. */
const ASIDE = 1 / 20;
/** Bytes that a visit is expected to cost, until the first visits show it. */
const FIRST_COST = 10_000;

export interface Supply {
  /** Called once a turn of home's loop. */
  fill(): void;
  /** Nothing is under way, but more will be due soon. */
  worthWaiting(): boolean;
  /** Pages that the budget does not allow any more in this run; for the summary. */
  readonly left: number;
}

/** Work on the collection itself, during which the loop stands still. */
export interface Chores {
  /** Home asks once a turn. While a chore is due no errand leaves; the chore runs when the last one has come back. */
  due(): (() => Promise<void>) | undefined;
}

/** How much of a shared budget may be spent in all, as far as is known now. */
export interface Grant {
  readonly most: number;
  /** The amount will not grow any more. */
  readonly final: boolean;
}

/** A budget that several machines spend together. It asks now and then how much each has spent. */
export interface Purse {
  pages(issued: () => number, budget: number): Grant;
  bytes(spent: () => number, budget: number): Grant;
}

export interface SupplyParts {
  /** The partitions that it feeds. */
  readonly pool: Pool;
  readonly clock: Clock;
  /** Checks of images come on top of those of pages. */
  readonly images?: Images;
  /** New pages that the bounds of the crawl leave room for; absent = any number. */
  readonly newPages?: number;
  /** Pages that a timetable checks, outside the budget. */
  readonly timed?: ((page: PoolPage) => boolean) | undefined;
  /** New pages that sites have named in this run so far. */
  readonly named?: () => number;
  /** Absent = the budget is this machine's alone. */
  readonly purse?: Purse | undefined;
}

/** A crawl waits this long (ms) for retries that fall due, and for servers that asked for a pause. */
export function crawlSupply({ pool, clock }: SupplyParts, patience: number): Supply {
  const retries = retriesOf({ pool, clock });
  return {
    left: 0,
    fill: retries,
    worthWaiting() {
      const until = clock.now() + patience;
      return !pool.full && (pool.wake <= until || nextRetryOf(pool) <= until);
    },
  };
}

/** When the next retry falls due, milliseconds since 1970. */
export function nextRetryOf(pool: Pool): number {
  let time = Number.POSITIVE_INFINITY;
  for (const { ledger } of pool) time = Math.min(time, ledger.schedule.due.nextRetry()?.time ?? time);
  return time;
}

/** Failures that are due for a retry by now, at most so many of each partition. */
export function retriesBy(pool: Pool, now: number, most: number): PoolPage[] {
  return [...pool].flatMap(member => member.ledger.schedule.due.retries(0, now, most).map(row => ({ member, ...row })));
}

/** What a budget allows: pages, bytes, or both. */
export interface Spending {
  /** Visits a day. */
  readonly pages: number;
  /** Bytes on the wire a day. */
  readonly bytes: number;
}

/** Sends dead links, redirects and second addresses into their lanes; their budget grows with the visits to pages. */
export function asideOf(pool: Pool, due: (most: number) => PoolPage[]): (visits: number) => void {
  const given = new Set<number>();
  let sought = 0;
  return visits => {
    const most = Math.ceil(visits * ASIDE) - given.size;
    if (most < 1 || visits === sought) return;
    sought = visits;
    const next = due(most + given.size)
      .filter(page => !given.has(keyOf(page)))
      .slice(0, most);
    for (const page of next) given.add(keyOf(page));
    pool.again(next);
  };
}

/**
 * How many visits may join those under way, at the average cost of this run so far. All of them together are planned to take
 * at most half of the bytes that are left, because pages differ; so the last ones leave one by one.
 */
export function roomFor(pool: Pool, left: number, spent: number): number {
  if (!Number.isFinite(left)) return left;
  const cost = pool.settled === 0 ? FIRST_COST : spent / pool.settled;
  return Math.max(0, Math.ceil(left / cost / 2) - pool.outstanding);
}

/**
 * Puts failures back into their lanes when they are due for a retry. A retry is always set for a later moment, so none is
 * missed. After somebody has set the clock back, the search covers the time that has really passed.
 */
export function retriesOf({ pool, clock }: SupplyParts): () => void {
  let asked = Number.NEGATIVE_INFINITY;
  const watch = new ClockWatch(clock);
  /** Up to when each ledger was searched; a partition that came later is searched from the beginning. */
  const until = new WeakMap<Ledger, number>();
  return () => {
    const [now, ticks] = [clock.now(), clock.ticks()];
    const passed = ticks - asked;
    if (passed < ASK_EVERY) return;
    asked = ticks;
    const isBack = watch.step() < 0;
    for (const { ledger, frontier } of pool) {
      if (isBack) {
        ledger.begin();
        ledger.schedule.due.takeBack(now);
      }
      const before = until.get(ledger) ?? 0;
      const since = before - (now - passed) > ASK_EVERY ? Math.max(0, now - passed) : before;
      frontier.again(ledger.schedule.due.retries(since, now));
      until.set(ledger, now);
    }
  };
}
