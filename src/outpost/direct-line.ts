/**
 * The direct way home of an outpost that has another above it: asks home, through the chain, for a pass, dials home's
 * door with it and lends the line to the uplink. Where there is no such way, or while it is gone, parcels go through the
 * parent; nothing ever waits for this.
 */
import type { Duplex } from 'node:stream';
import { greetParent, type Speaker } from '../transfer/entry/greeting.ts';
import { type Pass, readPass } from '../transfer/entry/pass.ts';
import type { Line } from '../transfer/line.ts';
import type { WantPassFrame } from '../transfer/wire/frames.ts';
import type { Welcome } from '../transfer/wire/messages.ts';

export type Dial = (address: Pick<Pass, 'host' | 'port' | 'fingerprint'>) => Promise<Duplex>;

interface DirectLineOptions {
  readonly speaker: Speaker;
  /** Undefined: it never dials home. */
  readonly dial: Dial | undefined;
  /** The home that is obeyed and the level below it, once known. */
  readonly place: () => Pick<Welcome, 'home' | 'level'> | undefined;
  readonly ask: (frame: WantPassFrame) => void;
  /** Parcels may go this way from now on; undefined = no more. */
  readonly opened: (line: Line | undefined) => void;
  /** Home has everything of the errand up to this parcel. */
  readonly acknowledged: (errand: string, sequence: number) => void;
}

/** Milliseconds until a pass is asked for again: first, doubled up to the longest. */
const FIRST = 2000;
const LONGEST = 300_000;
const WORDS = { cores: 0, room: 0, platform: '', servers: [], holding: [] } as const;

export class DirectLine {
  readonly #options: DirectLineOptions;
  #line: Line | undefined;
  #dialling = false;
  #closed = false;
  #wait = FIRST;
  /** When to ask again, by performance.now(). */
  #next = 0;

  constructor(options: DirectLineOptions) {
    this.#options = options;
  }

  /** There is something to deliver. Called as often as one likes. */
  want(): void {
    const { dial, place, ask, speaker } = this.#options;
    const now = performance.now();
    const level = place()?.level ?? 0;
    if (!dial || level < 2 || this.#line || this.#dialling || now < this.#next) return;
    this.#next = now + this.#wait;
    this.#wait = Math.min(LONGEST, this.#wait * 2);
    ask({ kind: 'want-pass', by: '', key: speaker.identity.key });
  }

  /** Home is back: what was in vain before may not be now. */
  hope(): void {
    this.#wait = FIRST;
    this.#next = 0;
  }

  /** A pass has come down the chain. */
  async arrived(text: string): Promise<void> {
    if (this.#line || this.#dialling || this.#closed) return;
    this.#dialling = true;
    try {
      this.#begin(await this.#reach(text));
    } catch {
      // No way from here, or not now: parcels go through the parent, and home is asked again later.
    } finally {
      this.#dialling = false;
    }
  }

  close(): void {
    this.#closed = true;
    this.#line?.bye('later', 'the outpost was stopped');
  }

  async #reach(text: string): Promise<Line> {
    const { dial, place, speaker } = this.#options;
    const pass = readPass(text, { key: speaker.identity.key, home: place()?.home ?? '', now: speaker.now() });
    const { line } = await greetParent(await dial!(pass), speaker, { ...WORDS, token: text });
    return line;
  }

  #begin(line: Line): void {
    this.#line = line;
    this.#wait = FIRST;
    line.listen({
      frame: frame => {
        if (frame.kind === 'acknowledge') this.#options.acknowledged(frame.errand, frame.sequence);
      },
      ended: () => this.#ended(),
    });
    if (this.#closed) this.close();
    else if (this.#line) this.#options.opened(line);
  }

  #ended(): void {
    if (!this.#line) return;
    this.#line = undefined;
    this.#next = performance.now() + FIRST;
    this.#options.opened(undefined);
  }
}
