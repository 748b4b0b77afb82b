/**
 * The parent's end of one outpost, across any number of lines. Lines come and go; the link remembers which errands the
 * outpost has, sends again those that never arrived, and waits a lease before it calls a silent outpost lost. It knows
 * errands and parcels only as bytes, so that a relay is as cheap as a wire.
 *
 * Invariant: an errand is in `sent` from send() until forget() or the loss of the outpost.
 */

import type { Line } from './line.ts';
import type { CodeFrame, ErrandFrame, Frame, ParcelFrame, PassFrame, WantPassFrame } from './wire/frames.ts';
import { type Hello, NO_STATUS, type OutpostStatus } from './wire/messages.ts';

interface LinkEvents {
  parcel(link: Link, frame: ParcelFrame): void;
  /** The outpost will not finish this errand. */
  gaveUp(link: Link, errand: string, why: string): void;
  /** It was given an errand whose code it does not have. */
  wantsCode(link: Link, code: string): void;
  /** It, or one below it, asks to deliver its parcels itself. */
  wantsPass(link: Link, frame: WantPassFrame): void;
  /** Room, state or line changed: there may be something to do. */
  changed(link: Link): void;
  /** It is gone for good, or for longer than the lease. */
  lost(link: Link, why: string): void;
}

/** Milliseconds that a vanished outpost may take to come back before its errands are issued again. */
export const LEASE = 60_000;
/** Milliseconds that word of what is durable may wait for more of it while errands are under way. */
export const ACKNOWLEDGE_WITHIN = 3000;

interface Leases {
  /** Milliseconds that it may be away before it is lost. */
  readonly away?: number | undefined;
  /** The same after its line was closed without a goodbye; absent = no other. */
  readonly closed?: number | undefined;
}

export class Link {
  readonly name: string;
  readonly #events: LinkEvents;
  readonly #lease: Required<{ [each in keyof Leases]: number }>;
  readonly #sent = new Map<string, ErrandFrame>();
  #line: Line | undefined;
  #hello: Hello | undefined;
  #status: OutpostStatus | undefined;
  /** When the last line ended. */
  #heard = 0;
  #absence: NodeJS.Timeout | undefined;
  /** When its line was closed without a goodbye, by performance.now(); undefined = it is there, or away in another way. */
  #closed: number | undefined;
  #over = false;
  #trouble = '';

  constructor(name: string, events: LinkEvents, { away = LEASE, closed = away }: Leases = {}) {
    this.name = name;
    this.#events = events;
    this.#lease = { away, closed: Math.min(away, closed) };
    this.#wait('it has not connected yet', away);
  }

  /** Errands of an earlier life of this parent, which the outpost may still be at. */
  expect(frames: Iterable<ErrandFrame>): void {
    for (const frame of frames) this.#sent.set(frame.errand, frame);
  }

  get connected(): boolean {
    return this.#line !== undefined;
  }

  /** Milliseconds since its line was closed without a goodbye: by the system, most likely, when its process ended. */
  get deserted(): number | undefined {
    return this.#closed === undefined ? undefined : performance.now() - this.#closed;
  }

  /** What it said of itself when it came; undefined = it never did. */
  get hello(): Hello | undefined {
    return this.#hello;
  }

  get errands(): ReadonlyMap<string, ErrandFrame> {
    return this.#sent;
  }

  /** Pages that may be under way there; 0 while it is away or its disk is full. */
  get room(): number {
    if (!this.#line || this.#status?.state === 'full') return 0;
    return this.#status?.room ?? this.#hello?.room ?? 0;
  }

  /** It has said on this line how it does, and which outposts it has. */
  get told(): boolean {
    return this.#status !== undefined;
  }

  get status(): OutpostStatus {
    const base = this.#status ?? { ...NO_STATUS, errands: this.#sent.size };
    return {
      ...base,
      name: this.name,
      heard: this.#line ? Date.now() - this.#line.silent : this.#heard,
      trouble: this.#trouble || base.trouble,
      ...(!this.#line && { state: 'away', rate: 0 }),
    };
  }

  /** A line to the outpost is there: compares what both sides know, and goes on where the last one ended. */
  attach(line: Line, hello: Hello): void {
    const before = this.#line;
    this.#line = line;
    this.#hello = hello;
    this.#status = undefined;
    this.#trouble = '';
    this.#closed = undefined;
    clearTimeout(this.#absence);
    before?.bye('later', 'a newer connection to the same outpost replaced it');
    line.listen({
      frame: frame => this.#take(frame),
      ended: (over, why, said) => this.#ended(over, why, said),
    });
    const holding = new Set(hello.holding);
    for (const errand of holding) if (!this.#sent.has(errand)) line.send({ kind: 'forget', errand });
    for (const frame of this.#sent.values()) if (!holding.has(frame.errand)) line.send(frame);
    line.calm(this.#sent.size === 0);
    this.#events.changed(this);
  }

  send(frame: ErrandFrame): void {
    this.#sent.set(frame.errand, frame);
    this.#line?.calm(false);
    this.#line?.send(frame);
  }

  /** What it asked for. */
  answer(frame: CodeFrame | PassFrame): void {
    this.#line?.send(frame);
  }

  acknowledge(errand: string, sequence: number): void {
    this.#line?.send({ kind: 'acknowledge', errand, sequence }, ACKNOWLEDGE_WITHIN);
  }

  /** The errand is over here; the outpost may drop what it keeps of it. */
  forget(errand: string): void {
    this.#sent.delete(errand);
    this.#line?.calm(this.#sent.size === 0);
    this.#line?.send({ kind: 'forget', errand }, this.#sent.size === 0 ? 0 : ACKNOWLEDGE_WITHIN);
  }

  recall(): void {
    this.#line?.send({ kind: 'recall' });
  }

  /** Asks for everything that was not acknowledged, once more. */
  resend(): void {
    this.#line?.send({ kind: 'resend' });
  }

  /** Back-pressure: nothing is read of it until go(). */
  hold(): void {
    this.#line?.hold();
  }

  go(): void {
    this.#line?.go();
  }

  /** Ends the line so that it comes back under other terms. */
  renew(why: string): void {
    this.#line?.bye('later', why);
  }

  /** Ends it for good; the outpost is told why. */
  dismiss(why: string): void {
    const line = this.#line;
    this.#line = undefined;
    clearTimeout(this.#absence);
    line?.bye('refused', why);
    this.#lose(why);
  }

  /** Ends the line; the outpost is told that there is no more work, or that it may come `later`. */
  async close(why: string, code: 'done' | 'later' = 'done'): Promise<void> {
    this.#over = true;
    clearTimeout(this.#absence);
    const line = this.#line;
    if (!line) return;
    await new Promise<void>(resolve => {
      line.listen({ frame: () => {}, ended: () => resolve() });
      line.bye(code, why);
    });
    this.#line = undefined;
  }

  #take(frame: Frame): void {
    if (frame.kind === 'parcel') this.#events.parcel(this, frame);
    if (frame.kind === 'give-up') this.#events.gaveUp(this, frame.errand, frame.why);
    if (frame.kind === 'want-code') this.#events.wantsCode(this, frame.code);
    if (frame.kind === 'want-pass') this.#events.wantsPass(this, frame);
    if (frame.kind === 'status') {
      this.#status = { ...(this.#status ?? NO_STATUS), ...frame.news };
      this.#events.changed(this);
    }
  }

  #ended(line: Line, why: string, said: string | undefined): void {
    if (line !== this.#line) return;
    this.#heard = Date.now() - line.silent;
    this.#line = undefined;
    this.#trouble = why;
    if (line.closed && said === undefined) this.#closed = performance.now();
    if (said === 'done') this.#lose(why);
    else this.#wait(why, this.#closed === undefined ? this.#lease.away : this.#lease.closed);
    this.#events.changed(this);
  }

  #wait(why: string, lease: number): void {
    clearTimeout(this.#absence);
    this.#absence = setTimeout(() => this.#lose(why), lease);
    this.#absence.unref();
  }

  #lose(why: string): void {
    if (this.#over) return;
    this.#sent.clear();
    this.#events.lost(this, why);
  }
}
