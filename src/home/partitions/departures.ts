/**
 * Partitions on their way out of a home. Home sends no more of their errands and calls back those under way, which get a few
 * seconds to end; then it gives the rest back to the frontier and commits all that came. So nothing is lost, and nothing is
 * written afterwards.
 */
import type { Clock } from '../../base/clock.ts';
import { partitionOfErrand } from '../../frontier/errands/under-way.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import type { Judge } from '../judging/judge.ts';
import type { Dispatch } from '../machines/dispatch.ts';
import type { Partition } from './partition.ts';
import type { Partitions } from './partitions.ts';

/** Milliseconds that errands under way get to end. */
const GRACE = 3000;

interface DepartureParts {
  readonly partitions: Partitions;
  readonly dispatch: Dispatch;
  readonly judge: Judge;
  readonly clock: Clock;
  /** Ends an errand before its outpost said done. */
  readonly end: (from: Carrier, errand: string) => void;
}

interface Leaving {
  readonly partition: Partition;
  readonly resolve: () => void;
  /** Ticks. */
  readonly by: number;
}

export class Departures {
  readonly #parts: DepartureParts;
  #leaving: Leaving[] = [];

  constructor(parts: DepartureParts) {
    this.#parts = parts;
  }

  isLeaving(partition: Partition): boolean {
    return this.#leaving.some(each => each.partition === partition);
  }

  /** Resolves when the home no longer has it. */
  add(partition: Partition): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#leaving.push({ partition, resolve, by: this.#parts.clock.ticks() + GRACE });
    // No request may leave after the partition has: another machine may ask its servers then.
    callBack(this.#parts.dispatch, partition.id);
    return promise;
  }

  /** Releases partitions that have nothing under way any more, or have waited long enough; `all`: releases all at once. */
  look(all = false): void {
    if (this.#leaving.length === 0) return;
    const { dispatch, clock, end } = this.#parts;
    const out = dispatch.posts.underWay();
    const [gone, still] = [[], []] as [Leaving[], Leaving[]];
    for (const each of this.#leaving) {
      const own = out.filter(({ errand }) => partitionOfErrand(errand) === each.partition.id);
      const over = all || clock.ticks() >= each.by;
      if (over) for (const { from, errand } of own) end(from, errand);
      (over || own.length === 0 ? gone : still).push(each);
    }
    this.#leaving = still;
    for (const each of gone) this.#leave(each);
  }

  #leave({ partition, resolve }: Leaving): void {
    const { partitions, judge } = this.#parts;
    partition.conclude();
    partitions.exchange();
    partition.ledger.commit();
    partitions.remove(partition);
    judge.forget(partition.ledger.directory);
    resolve();
  }
}

/** Has the errands of a partition end after the requests that are already sent. */
export function callBack(dispatch: Dispatch, partition: number): void {
  for (const { from, errand } of dispatch.posts.underWay()) {
    if (partitionOfErrand(errand) !== partition) continue;
    if (from.cancel) from.cancel(errand);
    else from.recall();
  }
}
