/**
 * What feeds the frontier while home runs, besides links: pages to try again, and pages that the schedule wants looked
 * at. One small port with three implementations: `crawl` ends when nothing is left, `refresh` after one round
 * (refresh/refresh-supply.ts), `watch` never (refresh/watch-supply.ts).
 */
import { type Clock, ClockWatch } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Images } from './images/images.ts';
import { keyOf, type Pool, type PoolPage } from './partitions/pool.ts';

/** How often the ledger is asked, milliseconds. */
export const ASK_EVERY = 1000;
/** Pages let into the lanes at once. */
export const SLICE = 256;
/** Looks at what is no page of its own (dead links, redirects, second addresses), for each look at a page. */
const ASIDE = 1 / 20;
/** Bytes that a visit is expected to cost until some have shown. */
const FIRST_COST = 10_000;

export interface Supply {
  /** Called once a turn of home's loop. */
  fill(): void;
  /** Something will come up soon, though nothing is under way now. */
  worthWaiting(): boolean;
  /** Pages that the budget does not allow any more in this run; for the summary. */
  readonly left: number;
}

/** Work on the collection itself, for which the loop stands still. */
export interface Chores {
  /** Asked once a turn. While it returns a chore nothing leaves; the chore runs when nothing is under way any more. */
  due(): (() => Promise<void>) | undefined;
}

/** What may be spent in all, by what is known now. */
export interface Grant {
  readonly most: number;
  /** It will not become more. */
  readonly final: boolean;
}

/** A budget that several machines spend together. What each has spent so far is asked for now and then. */
export interface Purse {
  pages(issued: () => number, budget: number): Grant;
  bytes(spent: () => number, budget: number): Grant;
}

export interface SupplyParts {
  /** What is fed. */
  readonly pool: Pool;
  readonly clock: Clock;
  /** Looks at images come on top of those at pages. */
  readonly images?: Images;
  /** New pages that the bounds of the crawl leave room for; absent = any number. */
  readonly newPages?: number;
  /** Pages that a timetable looks at, beside the budget. */
  readonly timed?: ((page: PoolPage) => boolean) | undefined;
  /** New pages that sites have named in this run so far. */
  readonly named?: () => number;
  /** Absent = the budget is this machine's alone. */
  readonly purse?: Purse | undefined;
}

/** Retries fall due while a crawl goes on; it waits for them, and for servers that asked for a pause, with patience. */
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
  for (const { ledger } of pool) time = Math.min(time, ledger.dueTimes.nextRetry()?.time ?? time);
  return time;
}

/** Failures whose time to be tried again has come by now; of each partition at most so many. */
export function retriesBy(pool: Pool, now: number, most: number): PoolPage[] {
  return [...pool].flatMap(member => member.ledger.dueTimes.retries(0, now, most).map(row => ({ member, ...row })));
}

/** What a budget allows: pages, bytes, or both. */
export interface Spending {
  /** Visits a day. */
  readonly pages: number;
  /** Bytes on the wire a day. */
  readonly bytes: number;
}

/** Lets what stands aside go as far as its budget allows, which grows with the looks at pages. */
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
 * Visits that may be added to those under way, at what a visit has cost so far in this run. All of them together take
 * at most half of the bytes that are left, because pages differ: towards the end they go one by one.
 */
export function roomFor(pool: Pool, left: number, spent: number): number {
  if (!Number.isFinite(left)) return left;
  const cost = pool.settled === 0 ? FIRST_COST : spent / pool.settled;
  return Math.max(0, Math.ceil(left / cost / 2) - pool.outstanding);
}

/**
 * Puts failures back into their lanes when their time has come. A retry is always set for later, so none slips by; what
 * failed after somebody set the clock back is looked for in the time that has passed since.
 */
export function retriesOf({ pool, clock }: SupplyParts): () => void {
  let asked = Number.NEGATIVE_INFINITY;
  const watch = new ClockWatch(clock);
  /** Those of a partition that came later are looked for from the beginning. */
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
        ledger.dueTimes.takeBack(now);
      }
      const before = until.get(ledger) ?? 0;
      const since = before - (now - passed) > ASK_EVERY ? Math.max(0, now - passed) : before;
      frontier.again(ledger.dueTimes.retries(since, now));
      until.set(ledger, now);
    }
  };
}
