/**
 * The parent's end of the connection to one outpost, across any number of lines. Lines come and go; the link remembers which
 * errands the outpost has, sends those again that never arrived, and gives a silent outpost up after a lease. It knows errands
 * and parcels only as bytes, so that relaying them costs nearly nothing.
 *
 * Invariant: an errand is in `sent` from send() until forget() or the loss of the outpost.
 */

import type { Line } from './line.ts';
import { Presence } from './presence.ts';
import type { CodeFrame, ErrandFrame, Frame, ParcelFrame, PassFrame, WantPassFrame } from './wire/frames.ts';
import type { Hello } from './wire/messages.ts';

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
/** Milliseconds that an acknowledgement may wait for others while errands are under way. */
export const ACKNOWLEDGE_WITHIN = 3000;

interface Leases {
  /** Milliseconds that it may be away before it is lost. */
  readonly away?: number | undefined;
  /** The same after its line was closed without a goodbye; absent = no other. */
  readonly closed?: number | undefined;
}

export class Link {
  readonly outpost: Presence;
  readonly #events: LinkEvents;
  readonly #sent = new Map<string, ErrandFrame>();
  #line: Line | undefined;
  #over = false;

  constructor(name: string, events: LinkEvents, { away = LEASE, closed = away }: Leases = {}) {
    this.#events = events;
    this.outpost = new Presence(name, {
      lease: { away, closed: Math.min(away, closed) },
      errands: () => this.#sent.size,
      lost: why => this.#lose(why),
    });
  }

  get name(): string {
    return this.outpost.name;
  }

  /** Errands of an earlier process of this parent, on which the outpost may still work. */
  expect(frames: Iterable<ErrandFrame>): void {
    for (const frame of frames) this.#sent.set(frame.errand, frame);
  }

  /** Begins to use a new line: compares the errands that both sides have, and goes on where the last line ended. */
  attach(line: Line, hello: Hello): void {
    const before = this.#line;
    this.#line = line;
    this.outpost.came(line, hello);
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

  /** Sends the code or the pass that it has asked for. */
  answer(frame: CodeFrame | PassFrame): void {
    this.#line?.send(frame);
  }

  acknowledge(errand: string, sequence: number): void {
    this.#line?.send({ kind: 'acknowledge', errand, sequence }, ACKNOWLEDGE_WITHIN);
  }

  /** The errand has ended here; the outpost may delete what it keeps of it. */
  forget(errand: string): void {
    this.#sent.delete(errand);
    this.#line?.calm(this.#sent.size === 0);
    this.#line?.send({ kind: 'forget', errand }, this.#sent.size === 0 ? 0 : ACKNOWLEDGE_WITHIN);
  }

  recall(): void {
    this.#line?.send({ kind: 'recall' });
  }

  /** Asks for all parcels again that were not acknowledged. */
  resend(): void {
    this.#line?.send({ kind: 'resend' });
  }

  /** Back-pressure: reads nothing from the line until go(). */
  hold(): void {
    this.#line?.hold();
  }

  go(): void {
    this.#line?.go();
  }

  /** Ends the line, so that the outpost comes back and learns its new terms. */
  renew(why: string): void {
    this.#line?.bye('later', why);
  }

  /** Ends it for good; the outpost is told why. */
  dismiss(why: string): void {
    const line = this.#line;
    this.#line = undefined;
    this.outpost.gone();
    line?.bye('refused', why);
    this.#lose(why);
  }

  /** Ends the line; the outpost is told that there is no more work, or that it may come `later`. */
  async close(why: string, code: 'done' | 'later' = 'done'): Promise<void> {
    this.#over = true;
    this.outpost.stopWaiting();
    const line = this.#line;
    if (!line) return;
    await new Promise<void>(resolve => {
      line.listen({ frame: () => {}, ended: () => resolve() });
      line.bye(code, why);
    });
    this.#line = undefined;
    this.outpost.gone();
  }

  #take(frame: Frame): void {
    if (frame.kind === 'parcel') this.#events.parcel(this, frame);
    if (frame.kind === 'give-up') this.#events.gaveUp(this, frame.errand, frame.why);
    if (frame.kind === 'want-code') this.#events.wantsCode(this, frame.code);
    if (frame.kind === 'want-pass') this.#events.wantsPass(this, frame);
    if (frame.kind === 'status') {
      this.outpost.says(frame.news);
      this.#events.changed(this);
    }
  }

  #ended(line: Line, why: string, said: string | undefined): void {
    if (line !== this.#line) return;
    this.#line = undefined;
    this.outpost.left(line, why, said);
    this.#events.changed(this);
  }

  #lose(why: string): void {
    if (this.#over) return;
    this.#sent.clear();
    this.#events.lost(this, why);
  }
}
