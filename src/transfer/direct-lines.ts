/**
 * Home's end of direct lines: those on which outposts two or more levels down deliver their parcels themselves, past
 * the outpost that their errands went through. Parcels, and errands given up after them, come in; acknowledgements go
 * out; anything else ends the line.
 *
 * Invariant: nothing is taken of an errand before the sender has shown by the errand's warrant that it was given to it.
 * That an errand has ended is told through the chain alone: everyone on it holds the errand, and has to hear it in turn.
 */
import { SkeinError } from '../base/errors.ts';
import { readClaim } from '../errand/warrant.ts';
import type { Line } from './line.ts';
import { ACKNOWLEDGE_WITHIN } from './link.ts';
import type { Frame, ParcelFrame } from './wire/frames.ts';

interface DirectLineEvents {
  /** `by` says who did it, as if it had come through the chain. */
  parcel(frame: ParcelFrame): void;
  gaveUp(errand: string, why: string): void;
}

interface OpenDirectLine {
  readonly line: Line;
  /** Way to the outpost from the first one below home: `b/c`; and its public key. */
  readonly by: string;
  readonly key: string;
  /** Errands that were shown to be its own, and have not ended here. */
  readonly claimed: Set<string>;
}

export class DirectLines {
  readonly #home: string;
  readonly #events: DirectLineEvents;
  readonly #lines = new Map<string, OpenDirectLine>();

  /** `home`: public key of this home. */
  constructor(home: string, events: DirectLineEvents) {
    this.#home = home;
    this.#events = events;
  }

  get paths(): ReadonlySet<string> {
    return new Set(this.#lines.keys());
  }

  /** A line was greeted whose other end has proved this key. */
  attach(line: Line, by: string, key: string): void {
    const direct: OpenDirectLine = { line, by, key, claimed: new Set() };
    this.#lines.get(by)?.line.bye('later', 'a newer connection of the same outpost replaced it');
    this.#lines.set(by, direct);
    line.calm(true);
    line.listen({
      frame: frame => this.#take(direct, frame),
      ended: () => {
        if (this.#lines.get(by) === direct) this.#lines.delete(by);
      },
    });
  }

  acknowledge(errand: string, sequence: number): void {
    for (const { line, claimed } of this.#lines.values()) {
      if (claimed.has(errand)) line.send({ kind: 'acknowledge', errand, sequence }, ACKNOWLEDGE_WITHIN);
    }
  }

  /** The errand has ended here, durably. What still comes of it is passed over. `last`: the last parcel that came. */
  ended(errand: string, last: number | undefined): void {
    if (last !== undefined) this.acknowledge(errand, last);
    for (const { line, claimed } of this.#lines.values()) {
      if (claimed.delete(errand)) line.calm(claimed.size === 0);
    }
  }

  close(why: string): void {
    for (const { line } of this.#lines.values()) line.bye('later', why);
  }

  #take(direct: OpenDirectLine, frame: Frame): void {
    const { line, by, claimed } = direct;
    if (frame.kind === 'claim') this.#claim(direct, frame);
    else if (frame.kind === 'parcel') {
      if (claimed.has(frame.errand)) this.#events.parcel({ ...frame, by });
    } else if (frame.kind === 'give-up') {
      if (claimed.has(frame.errand)) this.#events.gaveUp(frame.errand, frame.why);
    } else line.bye('refused', `A direct connection carries only parcels, not "${frame.kind}".`);
  }

  #claim({ line, key, claimed }: OpenDirectLine, frame: Extract<Frame, { kind: 'claim' }>): void {
    try {
      // Whether it is too late is for whoever waits for the errand to say: the outpost may be delivering the last of it.
      readClaim(frame, { key, home: this.#home, now: 0 });
      claimed.add(frame.errand);
      line.calm(false);
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      line.bye(error.code === 'bad-frame' ? 'bad-frame' : 'refused', error.message);
    }
  }
}
