/**
 * Collects a body of at most `maxBytes` by copying. Keeping the chunks instead would pin the read buffers behind them:
 * a server that sends a byte at a time could make us hold a hundred times what it sent.
 */
import { BodyMemory } from './body-memory.ts';

const empty = new Uint8Array(0);
/** First allocation for a body of unknown length; a known one is allocated whole up to the second figure. */
const firstStep = 32_768;
const wholeStep = 1_048_576;

export class Body {
  /** Bytes held. */
  size = 0;
  #maxBytes = 0;
  #flow: ((bytes: number) => boolean) | undefined;
  /** Length that was announced, -1 = none. */
  #expected = -1;
  #bytes: Uint8Array = empty;
  readonly #memory: BodyMemory;

  constructor(memory = new BodyMemory()) {
    this.#memory = memory;
  }

  /** `flow`: told of every piece; false = the body ends there. */
  begin(maxBytes: number, flow?: (bytes: number) => boolean): void {
    this.#flow = flow;
    this.size = 0;
    this.#maxBytes = maxBytes;
    this.#expected = -1;
    this.#bytes = empty;
  }

  expect(length: number): void {
    this.#expected = length;
  }

  /** An announced length beyond the limit needs no further byte to be known as too long. */
  get full(): boolean {
    return this.size === this.#maxBytes && this.#expected > this.#maxBytes;
  }

  /** False when not all of it fitted. */
  add(bytes: Buffer, from: number, to: number): boolean {
    if (this.#flow?.(to - from) === false) return false;
    const take = Math.min(to - from, this.#maxBytes - this.size);
    const size = this.size + take;
    if (size > this.#bytes.length) this.#grow(size);
    // Not Buffer.copy: it looks at its arguments for longer than it copies a page.
    this.#bytes.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, take), this.size);
    this.size = size;
    return take === to - from;
  }

  take(): Uint8Array {
    return this.size === this.#bytes.length ? this.#bytes : this.#bytes.subarray(0, this.size);
  }

  /** Known length: one allocation, unless the length is so large that it has to be believed step by step. */
  #grow(needed: number): void {
    const known = this.#expected >= needed;
    const most = known ? Math.min(this.#expected, this.#maxBytes) : this.#maxBytes;
    const step = Math.max(needed, known ? wholeStep : firstStep, 2 * this.#bytes.length);
    const larger = this.#memory.take(Math.min(most, step));
    if (this.size > 0) {
      larger.set(this.take(), 0);
      this.#memory.giveBack(this.#bytes);
    }
    this.#bytes = larger;
  }
}
