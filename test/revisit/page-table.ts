/**
 * The pages of a scheduler as columns: about 90 bytes a page, where records of numbers would take 300 and slow the
 * garbage collector down. Numbers of removed pages are used again.
 */

import { type ChangeState, packInto, STATE_BYTES, unpackFrom } from '../../src/revisit/state.ts';
import type { Keys } from './heap.ts';

export interface PageRow {
  readonly server: number;
  readonly weight: number;
  /** Bytes of its body on the wire, as far as known. */
  readonly bytes: number;
  /** Milliseconds of the last visit; NaN = never. */
  readonly last: number;
  readonly due: number;
  readonly state: ChangeState;
}

export class PageTable {
  /** Due times, and the place of each page in its server's heap. */
  readonly order: Keys = { keys: new Float64Array(64), places: new Int32Array(64).fill(-1) };
  last = new Float64Array(64);
  weight = new Float32Array(64);
  bytes = new Float32Array(64);
  server = new Int32Array(64).fill(-1);
  /** Pings since the last visit, at most 255. */
  pings = new Uint8Array(64);
  #states = new DataView(new ArrayBuffer(64 * STATE_BYTES));
  #used = 0;
  readonly #free: number[] = [];

  /** Pages there are. */
  get size(): number {
    return this.#used - this.#free.length;
  }

  /** One more than the highest number ever given. */
  get end(): number {
    return this.#used;
  }

  insert(row: PageRow): number {
    const page = this.#free.pop() ?? this.#used++;
    if (page === this.server.length) this.#grow();
    this.server[page] = row.server;
    this.weight[page] = row.weight;
    this.bytes[page] = row.bytes;
    this.last[page] = row.last;
    this.order.keys[page] = row.due;
    this.pings[page] = 0;
    this.setState(page, row.state);
    return page;
  }

  remove(page: number): void {
    this.server[page] = -1;
    this.#free.push(page);
  }

  state(page: number): ChangeState {
    return unpackFrom(this.#states, page * STATE_BYTES);
  }

  setState(page: number, state: ChangeState): void {
    packInto(state, this.#states, page * STATE_BYTES);
  }

  /** Undefined for a number that no page has. */
  row(page: number): PageRow | undefined {
    const server = this.server[page] ?? -1;
    if (server < 0) return undefined;
    return {
      server,
      weight: this.weight[page]!,
      bytes: this.bytes[page]!,
      last: this.last[page]!,
      due: this.order.keys[page]!,
      state: this.state(page),
    };
  }

  #grow(): void {
    const length = this.server.length * 2;
    this.order.keys = copied(this.order.keys, new Float64Array(length));
    this.order.places = copied(this.order.places, new Int32Array(length).fill(-1));
    this.last = copied(this.last, new Float64Array(length));
    this.weight = copied(this.weight, new Float32Array(length));
    this.bytes = copied(this.bytes, new Float32Array(length));
    this.server = copied(this.server, new Int32Array(length).fill(-1));
    this.pings = copied(this.pings, new Uint8Array(length));
    const states = new Uint8Array(length * STATE_BYTES);
    states.set(new Uint8Array(this.#states.buffer));
    this.#states = new DataView(states.buffer);
  }
}

function copied<T extends Float64Array | Float32Array | Int32Array | Uint8Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
