/**
 * Home's side of its carriers: takes what outposts send, in the order in which they send it, and sees to the errands of those
 * that die, give up, or are late. Carriers report at any time; home's loop takes what they reported between two turns.
 *
 * Invariant: an errand ends here once, however many say that it has ended.
 */
import type { Clock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Carrier, Receiver } from '../../transfer/carrier.ts';
import { Inbox } from '../inbox.ts';
import type { Partitions } from '../partitions/partitions.ts';
import type { Judged } from '../receive.ts';
import { BisectThread } from './bisect-thread.ts';
import { CrashBisect, lastWords } from './crash-bisect.ts';
import type { Dispatch } from './dispatch.ts';

/** If more threads than this die in a row without bringing back a page, it is not a page that kills them. */
const LIVES = 3;
/** Milliseconds between two searches for overdue errands. */
const OVERDUE_EVERY = 250;

interface ReceptionParts {
  readonly partitions: Partitions;
  readonly dispatch: Dispatch;
  readonly clock: Clock;
  /** Lets home's loop turn. */
  readonly wake: () => void;
  /** Ends the run with an error for people. */
  readonly fail: (error: SkeinError) => void;
  /** Starts a thread that dispatch never chooses. */
  readonly spare: () => Carrier;
}

export class Reception implements Receiver {
  readonly #parts: ReceptionParts;
  readonly #inbox: Inbox;
  readonly #bisect: CrashBisect;
  readonly #bisectThread: BisectThread;
  #deaths = 0;
  /** Time of the last search for overdue errands; ticks. */
  #searched = 0;

  constructor(parts: ReceptionParts) {
    this.#parts = parts;
    const { partitions, dispatch, clock } = parts;
    this.#inbox = new Inbox(parcel => partitions.ofErrand(parcel.errand)?.judging.ask(parcel));
    this.#bisectThread = new BisectThread(dispatch, parts.spare);
    this.#bisect = new CrashBisect({
      wants: (errand, url) => partitions.ofErrand(errand)?.frontier.errands.wants(errand, { url }) ?? false,
      send: errand => this.#bisectThread.send(errand),
      convict: (errand, page) => this.#convict(lastWords(errand, page, clock.now())),
      finish: errand => partitions.ofErrand(errand)?.giveBack(errand),
    });
  }

  parcel(from: Carrier, parcel: Parcel, by = from.name): void {
    this.#inbox.parcel(from, parcel, by);
    this.#parts.wake();
  }

  taken(from: Carrier, errand: string): number {
    return this.#parts.dispatch.posts.sent(from, errand)?.sequence ?? Number.POSITIVE_INFINITY;
  }

  /** The inbox keeps the order: parcels that were sent earlier are taken earlier. */
  gaveUp(from: Carrier, errand: string): void {
    this.#inbox.gaveUp(from, errand);
    this.#parts.wake();
  }

  changed(from: Carrier): void {
    this.#parts.dispatch.serves(from);
    this.#parts.wake();
  }

  lost(from: Carrier, why: string): void {
    const { dispatch, partitions, fail, wake } = this.#parts;
    const errands = dispatch.leave(from);
    if (this.#bisectThread.is(from)) {
      this.#bisectThread.died();
      if (errands.length > 0) this.#bisect.died();
    } else if (from.remote) {
      for (const { id } of errands) partitions.ofErrand(id)?.giveBack(id);
    } else {
      this.#deaths++;
      for (const errand of errands) this.#bisect.suspect(errand);
    }
    if (this.#deaths > LIVES)
      fail(new SkeinError('internal', `Threads keep crashing, the last was ${from.name}: ${why}.`));
    wake();
  }

  /** Gives up outposts of an earlier run that have not come back; their errands are issued again. */
  giveUpAbsent(): void {
    const { dispatch, partitions, wake } = this.#parts;
    for (const { id } of dispatch.leave(undefined)) partitions.ofErrand(id)?.giveBack(id);
    wake();
  }

  /** Nothing has come that the loop has not taken. */
  get empty(): boolean {
    return this.#inbox.empty;
  }

  /** Something has come that the loop can take now. */
  get ready(): boolean {
    return this.#inbox.ready;
  }

  /** No page waits to be tried as the one that killed its thread. */
  get trialsOver(): boolean {
    return this.#bisect.over;
  }

  /** Visits pages of a thread that died again, in a thread of their own, until the pages that kill are found. */
  tryNext(): void {
    this.#bisect.next();
    if (this.#bisect.over) this.#bisectThread.close();
  }

  takeAll(): void {
    for (const each of this.#inbox.take()) {
      if ('gaveUp' in each) {
        this.#parts.dispatch.failed(each.from);
        this.endErrand(each.from, each.gaveUp);
      } else if (each.from.remote) this.#takeFar(each.from, each, each.by);
      else this.#takeHere(each.from, each);
    }
    this.#endOverdue();
  }

  /** Ends an errand before its outpost has said done; pages that it did not visit wait again. */
  endErrand(from: Carrier, errand: string): void {
    const { dispatch, partitions } = this.#parts;
    if (dispatch.returned(from, errand)) partitions.ofErrand(errand)?.end(from, errand);
    else from.forget(errand);
  }

  #endOverdue(): void {
    const { dispatch, partitions, clock } = this.#parts;
    if (clock.ticks() - this.#searched < OVERDUE_EVERY) return;
    this.#searched = clock.ticks();
    for (const { from, errand } of dispatch.overdue(clock.now())) this.endErrand(from, errand);
    for (const partition of partitions) partition.settleUnreached(dispatch.anyone);
  }

  #takeHere(from: Carrier, { parcel, findings }: Judged): void {
    const { dispatch, partitions } = this.#parts;
    if (!dispatch.returned(from, parcel.errand, { visits: parcel.visits.length, done: parcel.done })) return;
    if (parcel.visits.length > 0) this.#deaths = 0;
    // An errand on trial ends only when all of its pages were tried; this parcel may cover only some of them.
    const apart = this.#bisectThread.is(from);
    const taken = { parcel: { ...parcel, done: parcel.done && !apart }, findings };
    partitions.ofErrand(parcel.errand)?.receive(taken, from.name);
    if (apart && parcel.done) this.#bisect.passed();
    dispatch.latencies.learn('', parcel.visits);
    // Returned at once: megabytes that wait for the garbage collector cost a tenth of the time.
    from.reuse?.(parcel);
  }

  #takeFar(from: Carrier, judged: Judged, by: string): void {
    const { errand, sequence } = judged.parcel;
    const last = this.#parts.dispatch.posts.sent(from, errand)?.sequence;
    if (last === undefined)
      from.forget(errand); // it has ended here: the outpost need not keep it
    else if (sequence <= last) from.acknowledge(errand, last);
    else if (sequence > last + 1)
      this.endErrand(from, errand); // parcels are missing and will not come
    else this.#takeParcel(from, judged, by);
  }

  #takeParcel(from: Carrier, judged: Judged, by: string): void {
    const { dispatch, partitions } = this.#parts;
    const { errand, done, visits } = judged.parcel;
    const { origin } = dispatch.posts.sent(from, errand)!.errand.server;
    dispatch.returned(from, errand, { visits: visits.length, done });
    const sender = { outpost: by, machine: from.name, origin, anyone: dispatch.anyone };
    partitions.ofErrand(errand)?.receiveWarily(from, judged, sender);
    dispatch.latencies.learn(from.name, judged.parcel.visits);
  }

  #convict(parcel: Parcel): void {
    this.#deaths++;
    this.#parts.partitions.ofErrand(parcel.errand)?.receive({ parcel });
  }
}
