/**
 * When each address may be asked next, in memory that all threads of a machine share: whichever of them has a server, its
 * address is asked at one pace. Two addresses may share a place in the table; then they share a pace, which is slower
 * than need be and never faster.
 */
import { hash } from 'node:crypto';

const PLACES = 1 << 18;

/** To be handed to every thread. */
export function makeSlots(): SharedArrayBuffer {
  return new SharedArrayBuffer(PLACES * BigInt64Array.BYTES_PER_ELEMENT);
}

export class AddressSlots {
  /** Microseconds of the clock's ticks at which the next request may start. */
  readonly #next: BigInt64Array<SharedArrayBuffer>;

  constructor(memory = makeSlots()) {
    this.#next = new BigInt64Array(memory);
  }

  /** The number by which an address is known here. */
  placeOf(address: string): number {
    return Number.parseInt(hash('sha1', address).slice(0, 8), 16) % PLACES;
  }

  /** Ticks in milliseconds before which nobody may ask. */
  freeAt(place: number): number {
    return Number(Atomics.load(this.#next, place)) / 1000;
  }

  /** Takes the turn that is free at `now` and keeps the next one `spacing` milliseconds away. False: somebody has it. */
  take(place: number, now: number, spacing: number): boolean {
    const before = Atomics.load(this.#next, place);
    if (Number(before) / 1000 > now) return false;
    const after = BigInt(Math.ceil((now + spacing) * 1000));
    return Atomics.compareExchange(this.#next, place, before, after) === before;
  }
}
