/**
 * Home: where errands start and parcels end. One loop joins everything: the frontier says what may leave, dispatch says
 * with whom, parcels come back, the archive keeps the records, the ledger learns. Home itself parses nothing,
 * compresses nothing and waits for nobody in particular.
 *
 * Order of durability: records are appended to the archive, then the batch of visits that speak of them is committed to
 * the ledger together with the archive's length. A crash in between leaves a tail that recover() cuts, and pages that
 * are fetched again. Nothing that was committed is ever lost or fetched twice.
 *
 * This is one of the two loops of Skein; the other is the crawler's.
 */
import type { Archive } from '../archive/archive.ts';
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Frontier } from '../frontier/frontier.ts';
import { diskError, type Ledger } from '../ledger/ledger.ts';
import type { Carrier, Receiver } from '../transfer/carrier.ts';
import { Dispatch } from './dispatch.ts';
import { Progress } from './progress.ts';
import { receive } from './receive.ts';
import type { Supply } from './supply.ts';

/** A batch is committed when it is this old (milliseconds) or holds this many visits. */
const BATCH_AGE = 250;
const BATCH_VISITS = 2000;
/** How long the loop sleeps when nothing happens. */
const NAP = 100;
/** How long stop() waits for answers: a server may take a minute to fail. Pages given up wait for the next run. */
const GRACE = 3000;

export interface HomeParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
  readonly clock: Clock;
}

export class Home implements Receiver {
  readonly dispatch = new Dispatch();
  readonly progress: Progress;
  readonly #parts: HomeParts;
  #inbox: { from: Carrier; parcel: Parcel }[] = [];
  #wake: () => void = () => {};
  #stopping = false;
  #stopBy = Number.POSITIVE_INFINITY;
  #paused = false;
  #ended = false;
  #orders: (() => void)[] = [];
  #batch = { since: 0, visits: 0 };
  #failure: unknown;

  constructor(parts: HomeParts) {
    this.#parts = parts;
    this.progress = new Progress(parts.clock);
  }

  /** Runs until the supply has no more, or stop() is called. Throws what ended it early, after saving what it had. */
  async run(supply: Supply): Promise<void> {
    try {
      await this.#loop(supply);
      this.#ended = true;
      this.#obey();
      this.#commit();
    } catch (error) {
      this.#ended = true;
      // Half a batch would speak of records behind the end of the archive that the ledger knows.
      this.#parts.ledger.abandon();
      throw diskError(error);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #loop(supply: Supply): Promise<void> {
    const { frontier, clock } = this.#parts;
    for (;;) {
      this.#receiveAll();
      this.#commitIfDue();
      this.#obey();
      if (this.#failure !== undefined || clock.now() >= this.#stopBy) return;
      if (!this.#stopping && !this.#paused) {
        supply.fill();
        frontier.wake();
        this.#sendAll();
      }
      const over = this.#stopping || (!this.#paused && !supply.worthWaiting());
      if (this.dispatch.idle && this.#inbox.length === 0 && over) return;
      await this.#nap();
    }
  }

  /** Lets requests under way end, for a few seconds, and then leaves the loop. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#stopBy = this.#parts.clock.now() + GRACE;
    this.dispatch.recall();
    this.#wake();
  }

  /** Sends nothing more until resume(); what is under way is called back, so that servers are left alone soon. */
  pause(): void {
    this.#paused = true;
    this.dispatch.recall();
    this.#wake();
  }

  resume(): void {
    this.#paused = false;
    this.#wake();
  }

  get state(): 'working' | 'paused' | 'stopping' | 'ended' {
    if (this.#ended) return 'ended';
    return this.#stopping ? 'stopping' : this.#paused ? 'paused' : 'working';
  }

  /** Runs `work` between two turns of the loop; what it writes is committed before the promise settles. */
  order<T>(work: () => T): Promise<T> {
    if (this.#ended) return Promise.reject(new SkeinError('refused', 'This run has ended.'));
    return new Promise((resolve, reject) => {
      this.#orders.push(() => {
        try {
          this.#parts.ledger.begin();
          const result = work();
          this.#commit();
          resolve(result);
        } catch (error) {
          reject(error);
        }
      });
      this.#wake();
    });
  }

  parcel(from: Carrier, parcel: Parcel): void {
    this.#inbox.push({ from, parcel });
    this.#wake();
  }

  gaveUp(from: Carrier, errand: string): void {
    if (this.dispatch.returned(from, errand, 0, true)) this.#parts.frontier.finish(errand);
    this.#wake();
  }

  changed(): void {
    this.#wake();
  }

  lost(from: Carrier, why: string): void {
    for (const errand of this.dispatch.leave(from)) this.#parts.frontier.finish(errand.id);
    if (this.dispatch.size === 0) {
      this.#failure = new SkeinError('internal', `The last outpost (${from.name}) is lost: ${why}.`);
    }
    this.#wake();
  }

  #obey(): void {
    for (let order = this.#orders.shift(); order; order = this.#orders.shift()) order();
  }

  #sendAll(): void {
    while (this.dispatch.hasRoom()) {
      const issued = this.#parts.frontier.next();
      if (!issued) return;
      this.#parts.ledger.begin();
      this.dispatch.send(issued.errand, issued);
    }
  }

  #receiveAll(): void {
    const arrived = this.#inbox;
    this.#inbox = [];
    for (const { from, parcel } of arrived) {
      if (!this.dispatch.returned(from, parcel.errand, parcel.visits.length, parcel.done)) continue;
      if (this.#batch.visits === 0) this.#batch.since = this.#parts.clock.now();
      this.#parts.ledger.begin();
      receive(this.#parts, parcel, from.name, this.progress);
      this.#batch.visits += parcel.visits.length + 1;
    }
  }

  #commitIfDue(): void {
    const { since, visits } = this.#batch;
    if (visits >= BATCH_VISITS || (visits > 0 && this.#parts.clock.now() - since >= BATCH_AGE)) this.#commit();
  }

  #commit(): void {
    const { ledger, archive } = this.#parts;
    const end = archive.end();
    ledger.begin();
    if (end.segment > 0) ledger.setSegment(end.segment, end.length);
    ledger.commit();
    this.#batch = { since: 0, visits: 0 };
  }

  async #nap(): Promise<void> {
    if (this.#inbox.length > 0 || this.#orders.length > 0) return;
    const awake = new AbortController();
    this.#wake = () => awake.abort();
    await this.#parts.clock.sleep(this.#batch.visits > 0 ? BATCH_AGE : NAP, awake.signal);
    this.#wake = () => {};
  }
}
