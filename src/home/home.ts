/**
 * Home is where errands start and parcels end. One loop joins everything: the frontiers of its partitions issue errands,
 * dispatch chooses who runs them, parcels come back, the archive keeps their records, and the ledger learns from the visits.
 * Home itself parses nothing, compresses nothing, and never blocks on one outpost.
 *
 * Home runs any number of partitions, which may come (adopt) and go (release) meanwhile. Each has its own ledger, archive
 * and frontier (partition.ts); they share the outposts, the counters, and what people are shown.
 *
 * Order of durability, in each partition: records are appended to the archive, then the batch of visits that speak of
 * them is committed to the ledger together with the archive's length and the links to pages of other partitions. A crash
 * in between leaves a tail that recover() cuts, and pages that are fetched again. Nothing that was committed is ever lost
 * or fetched twice.
 * This is one of the two loops of Skein; the other is the crawler's.
 */
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { encodeErrand } from '../errand/codec/errand-codec.ts';
import type { Errand } from '../errand/errand.ts';
import { diskError } from '../ledger/ledger.ts';
import type { Carrier } from '../transfer/carrier.ts';
import { Judge } from './judging/judge.ts';
import { Dispatch } from './machines/dispatch.ts';
import { Reception } from './machines/reception.ts';
import { Departures } from './partitions/departures.ts';
import { type OpenPartition, Partition } from './partitions/partition.ts';
import { Partitions } from './partitions/partitions.ts';
import { Progress } from './progress.ts';
import type { Chores, Supply } from './supply.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

/** Milliseconds that the loop sleeps when nothing happens. */
const NAP = 100;
/** Milliseconds that stop() waits for answers. Pages that are given up wait for the next run. */
const GRACE = 3000;

interface HomeParts {
  readonly clock: Clock;
  /** Levels of outposts that an errand may travel; absent = 1. */
  readonly levels?: number;
  /** Starts a thread that dispatch never chooses, because it has no room; home sends it what it wants to try there. */
  readonly spare?: (home: Home) => Carrier;
}

/** An errand that leaves for another machine. */
interface Travelling {
  readonly errand: Errand;
  readonly to: Carrier;
  readonly partition: Partition;
}

export class Home {
  readonly dispatch: Dispatch;
  readonly progress: Progress;
  readonly partitions = new Partitions();
  /** What carriers report to. */
  readonly reception: Reception;
  readonly #clock: Clock;
  readonly #judge = new Judge();
  readonly #departures: Departures;
  readonly #sleep: WakeableSleep;
  #stopping = false;
  #stopBy = Number.POSITIVE_INFINITY;
  #paused = false;
  #ended = false;
  #running = false;
  #orders: (() => void)[] = [];
  #failure: unknown;

  constructor({ clock, levels, spare }: HomeParts) {
    this.#clock = clock;
    this.dispatch = new Dispatch(clock, undefined, levels);
    this.progress = new Progress(clock);
    this.#sleep = new WakeableSleep(clock);
    const { partitions, dispatch } = this;
    this.reception = new Reception({
      ...{ partitions, dispatch, clock },
      wake: () => this.#sleep.wake(),
      fail: error => this.fail(error),
      spare: () => spare!(this),
    });
    const end = (from: Carrier, errand: string) => this.reception.endErrand(from, errand);
    this.#departures = new Departures({ partitions, dispatch, judge: this.#judge, clock, end });
  }

  /** Takes a partition in; the next turn of the loop works on it. Whoever opened it closes it after release(). */
  adopt(opened: OpenPartition): Partition {
    const shared = { clock: this.#clock, progress: this.progress, judge: this.#judge, wake: () => this.#sleep.wake() };
    const partition = new Partition(opened, shared);
    // It may have been here before, with other files.
    this.#judge.forget(opened.ledger.directory);
    this.partitions.add(partition);
    this.#sleep.wake();
    return partition;
  }

  /** Lets a partition go; resolves when this home no longer has it (departures.ts). */
  release(id: number): Promise<void> {
    const partition = this.partitions.of(id);
    const gone = partition ? this.#departures.add(partition) : Promise.resolve();
    if (!this.#running) this.#departures.look(true);
    this.#sleep.wake();
    return gone;
  }

  /** Runs until the supply has no more, or stop() is called. If something ends it early, it saves what it has and throws that. */
  async run(supply: Supply, chores?: Chores): Promise<void> {
    if ([...this.partitions].some(({ frontier }) => frontier.options.mode === 'refresh')) this.#judge.begin();
    this.#running = true;
    try {
      await this.#loop(supply, chores);
      this.#ended = true;
      this.#obey();
      for (const partition of this.partitions) partition.conclude();
      this.#departures.look(true);
    } catch (error) {
      this.#ended = true;
      // Half a batch would name records beyond the length of the archive that the ledger knows.
      for (const { ledger } of this.partitions) ledger.abandon();
      this.#obey();
      throw diskError(error);
    } finally {
      this.#running = false;
      this.#sleep.end();
      await this.#judge.close();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #loop(supply: Supply, chores: Chores | undefined): Promise<void> {
    for (;;) {
      this.reception.takeAll();
      this.partitions.commitIfDue();
      this.partitions.exchange();
      this.#departures.look();
      this.#obey();
      if (this.#failure !== undefined || this.#clock.ticks() >= this.#stopBy) return;
      const chore = this.#stopping || this.#paused ? undefined : chores?.due();
      if (!this.#stopping && !this.#paused && !chore) {
        supply.fill();
        const sending = this.partitions.wake(partition => this.#departures.isLeaving(partition));
        this.reception.tryNext();
        this.#sendAll(sending);
      }
      if (this.dispatch.posts.idle && this.reception.empty) {
        if (this.partitions.settle()) continue; // links to other partitions may bring more to do
        if (chore) await chore();
        else if (this.#isOver(supply)) return;
      }
      await this.#nap();
    }
  }

  /** Nothing is under way, and nothing will follow. */
  #isOver(supply: Supply): boolean {
    if (this.#stopping) return true;
    return !this.#paused && this.reception.trialsOver && !supply.worthWaiting();
  }

  /** Gives requests under way a few seconds to end, and then leaves the loop. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#stopBy = this.#clock.ticks() + GRACE;
    this.dispatch.posts.recall();
    this.#sleep.wake();
  }

  /** Sends nothing until resume(), and calls back what is under way. */
  pause(): void {
    this.#paused = true;
    this.dispatch.posts.recall();
    this.#sleep.wake();
  }

  resume(): void {
    this.#paused = false;
    this.#sleep.wake();
  }

  get state(): 'working' | 'paused' | 'stopping' | 'ended' {
    if (this.#ended) return 'ended';
    return this.#stopping ? 'stopping' : this.#paused ? 'paused' : 'working';
  }

  get stopped(): boolean {
    return this.#stopping;
  }

  /**
   * Runs `work` between two turns of the loop and commits what it writes, in one partition or in all. `along`: the next batch
   * may commit it.
   */
  order<T>(work: () => T, partition?: number, along = false): Promise<T> {
    if (this.#ended) return Promise.reject(new SkeinError('refused', 'This run has ended.'));
    return new Promise((resolve, reject) => {
      this.#orders.push(() => {
        try {
          this.partitions.begin(partition, along);
          const result = work();
          if (!along) this.partitions.commit(partition);
          resolve(result);
        } catch (error) {
          reject(error);
        }
      });
      this.#sleep.wake();
    });
  }

  /** An outpost lied: ends its errands, and has the pages visited again that it brought after `since`; returns how many. */
  disown(outpost: string, since: number): Promise<number> {
    return this.order(() => {
      const from = this.dispatch.posts.carriers.find(({ name }) => name === outpost);
      if (from) for (const { id } of this.dispatch.posts.errandsOf(outpost)) this.reception.endErrand(from, id);
      const now = this.#clock.now();
      return this.partitions.sum(({ ledger }) => ledger.visits.disown(outpost, since, now));
    });
  }

  /** Ends the run with an error for people. */
  fail(error: SkeinError): void {
    this.#failure ??= error;
    this.#sleep.wake();
  }

  #obey(): void {
    for (let order = this.#orders.shift(); order; order = this.#orders.shift()) order();
  }

  /** The partitions take turns until none has an errand that can leave now. */
  #sendAll(partitions: readonly Partition[]): void {
    const travelling: Travelling[] = [];
    for (let sending = partitions; sending.length > 0; )
      sending = sending.filter(partition => this.#sendOne(partition, travelling));
    this.#dispatchFar(travelling);
  }

  /** Sends one errand of the partition; false = none can leave now. */
  #sendOne(partition: Partition, travelling: Travelling[]): boolean {
    if (!this.dispatch.hasRoom()) return false;
    const issued = partition.frontier.errands.next(place => {
      const choice = this.dispatch.choose(place);
      // In a batch SQLite takes its lock once, and not for each page that is read next.
      if (choice) partition.ledger.begin();
      return choice;
    });
    if (!issued) return false;
    const { errand, planned } = issued;
    this.dispatch.send(errand, planned.to);
    if (planned.remote) travelling.push({ errand, to: planned.to, partition });
    else planned.to.send(errand);
    return true;
  }

  /** Commits errands before they leave this machine: a home that starts again must know of them. */
  #dispatchFar(travelling: readonly Travelling[]): void {
    const issued = this.#clock.now();
    for (const { errand, to, partition } of travelling) {
      partition.ledger.outbox.errands.add({ id: errand.id, outpost: to.name, bytes: encodeErrand(errand), issued });
    }
    for (const partition of new Set(travelling.map(each => each.partition))) partition.batch.commit();
    for (const { errand, to } of travelling) to.send(errand);
  }

  async #nap(): Promise<void> {
    await this.#sleep.breathe();
    if (this.reception.ready || this.#orders.length > 0) return;
    await this.#sleep.sleep(this.partitions.patience ?? NAP);
  }
}
