/**
 * Home: where errands start and parcels end. One loop joins everything: the frontier says what may leave, dispatch says
 * with whom, parcels come back, the archive keeps the records, the ledger learns. Home itself parses nothing,
 * compresses nothing and waits for nobody in particular.
 *
 * Order of durability: records are appended to the archive, then the batch of visits that speak of them is committed to
 * the ledger together with the archive's length. A crash in between leaves a tail that recover() cuts, and pages that
 * are fetched again. Nothing that was committed is ever lost or fetched twice.
 * This is one of the two loops of Skein; the other is the crawler's.
 */
import { setImmediate } from 'node:timers/promises';
import type { Archive } from '../archive/archive.ts';
import type { Clock } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import { originOf } from '../base/url.ts';
import { encodeErrand } from '../errand/codec/errand-codec.ts';
import type { Errand } from '../errand/errand.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Frontier } from '../frontier/frontier.ts';
import { diskError, type Ledger } from '../ledger/ledger.ts';
import type { Carrier, Receiver } from '../transfer/carrier.ts';
import { Batch } from './batch.ts';
import { Inbox } from './inbox.ts';
import { Judging } from './judging/judging.ts';
import { Verdicts } from './judging/verdicts.ts';
import { Acknowledgements } from './machines/acknowledgements.ts';
import { BisectThread } from './machines/bisect-thread.ts';
import { CrashBisect, lastWords } from './machines/crash-bisect.ts';
import { type Choice, Dispatch } from './machines/dispatch.ts';
import { Progress } from './progress.ts';
import { type Judged, receive, receiveWarily } from './receive.ts';
import type { Supply } from './supply.ts';
import { WakeableSleep } from './wakeable-sleep.ts';

/** How long the loop sleeps when nothing happens. */
const NAP = 100;
/** Milliseconds for which the loop may keep Node's own from turning. */
const BREATH = 50;
/** How long stop() waits for answers. Pages given up wait for the next run. */
const GRACE = 3000;
/** Threads that die one after the other without a page coming back in between; beyond, it is not a page that kills them. */
const LIVES = 3;

export interface HomeParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly frontier: Frontier;
  readonly clock: Clock;
  /** Levels of outposts that an errand may travel; absent = 1. */
  readonly levels?: number;
  /** Starts a thread that gets nothing but what is sent to it on purpose: it has no room. */
  readonly spare?: (home: Home) => Carrier;
}

export class Home implements Receiver {
  readonly dispatch: Dispatch;
  readonly progress: Progress;
  readonly #parts: HomeParts;
  readonly verdicts: Verdicts;
  readonly judging: Judging;
  readonly #all: HomeParts & { readonly verdicts: Verdicts };
  readonly #acknowledgements = new Acknowledgements();
  readonly #trials: CrashBisect;
  readonly #apart: BisectThread;
  #deaths = 0;
  readonly #inbox: Inbox;
  readonly #rest: WakeableSleep;
  #stopping = false;
  #stopBy = Number.POSITIVE_INFINITY;
  #paused = false;
  #ended = false;
  #orders: (() => void)[] = [];
  readonly #batch: Batch;
  #failure: unknown;
  #breathed = 0;
  /** When overdue errands were last looked for; ticks, like #stopBy. */
  #looked = 0;

  constructor(parts: HomeParts) {
    this.#parts = parts;
    this.dispatch = new Dispatch(parts.clock, undefined, parts.levels);
    this.progress = new Progress(parts.clock);
    this.#rest = new WakeableSleep(parts.clock);
    this.verdicts = new Verdicts(parts, this.progress);
    this.judging = new Judging(parts.ledger, parts.frontier, () => this.#rest.wake());
    this.#inbox = new Inbox(this.judging);
    this.#all = { ...parts, verdicts: this.verdicts };
    this.#batch = new Batch(parts, this.#acknowledgements);
    this.#apart = new BisectThread(this.dispatch, () => parts.spare!(this));
    this.#trials = new CrashBisect({
      wants: (errand, url) => parts.frontier.wants(errand, { url }),
      send: errand => this.#apart.send(errand),
      convict: (errand, page) => this.#convict(lastWords(errand, page, parts.clock.now())),
      finish: errand => this.#release(errand),
    });
  }

  /** Runs until the supply has no more, or stop() is called. Throws what ended it early, after saving what it had. */
  async run(supply: Supply): Promise<void> {
    if (this.#parts.frontier.options.mode === 'refresh') this.judging.begin();
    try {
      await this.#loop(supply);
      this.#ended = true;
      this.#obey();
      this.#batch.open(1);
      this.verdicts.review();
      this.#batch.commit();
    } catch (error) {
      this.#ended = true;
      // Half a batch would speak of records behind the end of the archive that the ledger knows.
      this.#parts.ledger.abandon();
      throw diskError(error);
    } finally {
      this.#rest.end();
      await this.judging.close();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #loop(supply: Supply): Promise<void> {
    const { frontier, clock } = this.#parts;
    for (;;) {
      this.#receiveAll();
      this.#batch.commitIfDue();
      this.#obey();
      if (this.#failure !== undefined || clock.ticks() >= this.#stopBy) return;
      if (!this.#stopping && !this.#paused) {
        supply.fill();
        frontier.wake();
        this.#try();
        this.#sendAll();
      }
      if (this.dispatch.idle && this.#inbox.empty && this.#isOver(supply)) return;
      await this.#nap();
    }
  }

  /** Nothing is under way: does anything come after it? */
  #isOver(supply: Supply): boolean {
    if (this.#stopping) return true;
    return !this.#paused && this.#trials.over && !supply.worthWaiting();
  }

  /** Lets requests under way end, for a few seconds, and then leaves the loop. */
  stop(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#stopBy = this.#parts.clock.ticks() + GRACE;
    this.dispatch.recall();
    this.#rest.wake();
  }

  /** Sends nothing until resume(); what is under way is called back. */
  pause(): void {
    this.#paused = true;
    this.dispatch.recall();
    this.#rest.wake();
  }

  resume(): void {
    this.#paused = false;
    this.#rest.wake();
  }

  get state(): 'working' | 'paused' | 'stopping' | 'ended' {
    if (this.#ended) return 'ended';
    return this.#stopping ? 'stopping' : this.#paused ? 'paused' : 'working';
  }

  get stopped(): boolean {
    return this.#stopping;
  }

  /** Runs `work` between two turns of the loop; what it writes is then committed. */
  order<T>(work: () => T): Promise<T> {
    if (this.#ended) return Promise.reject(new SkeinError('refused', 'This run has ended.'));
    return new Promise((resolve, reject) => {
      this.#orders.push(() => {
        try {
          this.#parts.ledger.begin();
          const result = work();
          this.#batch.commit();
          resolve(result);
        } catch (error) {
          reject(error);
        }
      });
      this.#rest.wake();
    });
  }

  parcel(from: Carrier, parcel: Parcel, by = from.name): void {
    this.#inbox.parcel(from, parcel, by);
    this.#rest.wake();
  }

  /** An outpost lied: its errands end, and what it brought after `since` is to be visited again. Returns how many pages. */
  disown(outpost: string, since: number): Promise<number> {
    const { ledger, clock } = this.#parts;
    return this.order(() => {
      const from = this.dispatch.carriers.find(({ name }) => name === outpost);
      if (from) for (const { id } of this.dispatch.errandsOf(outpost)) this.#endErrand(from, id);
      return ledger.visits.disown(outpost, since, clock.now());
    });
  }

  taken(from: Carrier, errand: string): number {
    return this.dispatch.sequenceOf(from, errand) ?? Number.POSITIVE_INFINITY;
  }

  /** Comes after the parcels that were sent before it. */
  gaveUp(from: Carrier, errand: string): void {
    this.#inbox.gaveUp(from, errand);
    this.#rest.wake();
  }

  changed(from: Carrier): void {
    this.dispatch.serves(from);
    this.#rest.wake();
  }

  lost(from: Carrier, why: string): void {
    const errands = this.dispatch.leave(from);
    if (this.#apart.is(from)) {
      this.#apart.died();
      if (errands.length > 0) this.#trials.died();
    } else if (from.remote) {
      for (const { id } of errands) this.#release(id);
    } else {
      this.#deaths++;
      for (const errand of errands) this.#trials.suspect(errand);
    }
    if (this.#deaths > LIVES)
      this.fail(new SkeinError('internal', `Thread after thread dies, now ${from.name}: ${why}.`));
    this.#rest.wake();
  }

  /** Pages that were with a thread that died are visited in a thread apart, until it is clear which of them kill. */
  #try(): void {
    this.#trials.next();
    if (this.#trials.over) this.#apart.close();
  }

  #convict(parcel: Parcel): void {
    this.#deaths++;
    this.#batch.open(1);
    receive(this.#all, { parcel }, 'home', this.progress);
  }

  /** Ends the run for a reason that a person has to see. */
  fail(error: SkeinError): void {
    this.#failure ??= error;
    this.#rest.wake();
  }

  /** Outposts of an earlier run that have not come back are given up; their errands are issued again. */
  giveUpAbsent(): void {
    for (const { id } of this.dispatch.absent()) this.#release(id);
    this.#rest.wake();
  }

  #obey(): void {
    for (let order = this.#orders.shift(); order; order = this.#orders.shift()) order();
  }

  #sendAll(): void {
    const travelling: { errand: Errand; to: Carrier }[] = [];
    while (this.dispatch.hasRoom()) {
      let chosen: Choice | undefined;
      const issued = this.#parts.frontier.next(place => {
        chosen = this.dispatch.choose(place);
        // Before its pages are read: outside a batch SQLite takes and gives back a lock for each.
        if (chosen) this.#parts.ledger.begin();
        return chosen;
      });
      if (!issued || !chosen) break;
      const { errand } = issued;
      const { to } = chosen;
      this.dispatch.send(errand, to);
      if (to.remote) travelling.push({ errand, to });
      else to.send(errand);
    }
    this.#dispatchFar(travelling);
  }

  /** An errand leaves this machine only after it is written down: a home that starts again must know of it. */
  #dispatchFar(travelling: readonly { errand: Errand; to: Carrier }[]): void {
    if (travelling.length === 0) return;
    const issued = this.#parts.clock.now();
    for (const { errand, to } of travelling) {
      this.#parts.ledger.errands.add({ id: errand.id, outpost: to.name, bytes: encodeErrand(errand), issued });
    }
    this.#batch.commit();
    for (const { errand, to } of travelling) to.send(errand);
  }

  #receiveAll(): void {
    for (const each of this.#inbox.take()) {
      if ('gaveUp' in each) this.#giveUp(each.from, each.gaveUp);
      else if (each.from.remote) this.#receiveFar(each.from, each, each.by);
      else this.#receiveHere(each.from, each);
    }
    this.#endOverdue();
  }

  #endOverdue(): void {
    const { clock, frontier } = this.#parts;
    if (clock.ticks() - this.#looked < 1000) return;
    this.#looked = clock.ticks();
    for (const { from, errand } of this.dispatch.overdue(clock.now())) this.#endErrand(from, errand);
    frontier.settleUnreached(this.dispatch.anyone, () => this.#batch.open(1));
  }

  #receiveHere(from: Carrier, { parcel, findings }: Judged): void {
    if (!this.dispatch.returned(from, parcel.errand, parcel.visits.length, parcel.done)) return;
    this.#batch.open(parcel.visits.length + 1);
    if (parcel.visits.length > 0) this.#deaths = 0;
    // An errand on trial ends when all of its pages were tried, not when this thread is done with some.
    const apart = this.#apart.is(from);
    receive(this.#all, { parcel: { ...parcel, done: parcel.done && !apart }, findings }, from.name, this.progress);
    if (apart && parcel.done) this.#trials.passed();
    this.#measure(from, parcel);
    // Given back at once: megabytes that wait for the collector make it work a tenth of the time.
    from.reuse?.(parcel);
  }

  #receiveFar(from: Carrier, judged: Judged, by: string): void {
    const { errand, sequence } = judged.parcel;
    const last = this.dispatch.sequenceOf(from, errand);
    if (last === undefined)
      from.forget(errand); // it ended here before: the outpost need not keep it
    else if (sequence <= last) from.acknowledge(errand, last);
    else if (sequence > last + 1)
      this.#endErrand(from, errand); // parcels are missing that will not come
    else this.#takeParcel(from, judged, by);
  }

  #takeParcel(from: Carrier, judged: Judged, by: string): void {
    const { errand, sequence, done, visits } = judged.parcel;
    const { origin } = this.dispatch.errandOf(from, errand)!.server;
    this.dispatch.returned(from, errand, visits.length, done);
    this.dispatch.succeeded(from);
    this.#batch.open(visits.length + 1);
    const sender = { outpost: by, machine: from.name, origin, anyone: this.dispatch.anyone };
    receiveWarily(this.#all, judged, sender, this.progress);
    this.#measure(from, judged.parcel);
    if (done) this.#settle(from, errand);
    else {
      this.#parts.ledger.errands.took(errand, sequence);
      this.#acknowledgements.parcel(from, errand, sequence);
    }
  }

  #giveUp(from: Carrier, errand: string): void {
    this.dispatch.failed(from);
    this.#endErrand(from, errand);
  }

  /** It ends before its outpost said done; what it did not visit waits again. */
  #endErrand(from: Carrier, errand: string): void {
    if (this.dispatch.returned(from, errand, 0, true)) {
      this.#batch.open(1);
      this.#parts.frontier.finish(errand);
      this.#settle(from, errand);
    } else from.forget(errand);
  }

  #settle(from: Carrier, errand: string): void {
    if (from.remote) this.#parts.ledger.errands.remove(errand);
    this.#acknowledgements.ended(from, errand);
  }

  #release(errand: string): void {
    this.#batch.open(1);
    this.#parts.frontier.finish(errand);
    this.#parts.ledger.errands.remove(errand);
  }

  #measure({ remote, name }: Carrier, { visits }: Parcel): void {
    const { times } = this.dispatch;
    for (const { url, status, cost } of visits)
      if (status > 0) times.measured(originOf(url), remote ? name : '', cost.ms);
  }

  async #nap(): Promise<void> {
    await this.#breathe();
    if (this.#inbox.ready || this.#orders.length > 0) return;
    await this.#rest.sleep(this.#batch.patience ?? NAP);
  }

  /**
   * Node hands the messages of a thread over one by one, up to a thousand of them in one turn of its loop, and ours turns
   * between two. Where threads are faster than home, timers, signals and orders would wait for all of these.
   */
  async #breathe(): Promise<void> {
    if (performance.now() - this.#breathed < BREATH) return;
    await setImmediate();
    this.#breathed = performance.now();
  }
}
