/**
 * When each address may be asked next, and how many requests to it are under way, in memory that all threads of a machine share: whichever of them has a server, its
 * address is asked at one pace, by so many at once. Two addresses may share a place in the table; then they share both,
 * which is slower than need be and never faster.
 *
 * Each thread counts in a seat of its own: what one that died had under way is taken back by the next one in its seat.
 */
import { hash } from 'node:crypto';

const PLACES = 1 << 18;
/** More threads than this share seats. */
const SEATS = 32;
/** Of the thread that checks what other machines brought. */
export const AUDIT_SEAT = SEATS - 1;
const TIMES = PLACES * BigInt64Array.BYTES_PER_ELEMENT;
/** Of the two tables of times. */
const BOTH = 2 * TIMES;
const COUNTS = PLACES * SEATS * Uint16Array.BYTES_PER_ELEMENT;

/** Requests to an address that are under way in all threads, for whoever has no seat. */
export function requestsTo(memory: SharedArrayBuffer, address: string): number {
  const first = BOTH / Uint16Array.BYTES_PER_ELEMENT + placeOf(address) * SEATS;
  const counts = new Uint16Array(memory);
  let sum = 0;
  for (let at = first; at < first + SEATS; at++) sum += Atomics.load(counts, at);
  return sum;
}

/** The number by which an address is known here. */
function placeOf(address: string): number {
  return Number.parseInt(hash('sha1', address).slice(0, 8), 16) % PLACES;
}

/** To be handed to every thread. The system gives it memory where something is written: 80 bytes an address. */
export function makeSlots(): SharedArrayBuffer {
  return new SharedArrayBuffer(BOTH + COUNTS + SEATS);
}

export class AddressSlots {
  /** Microseconds of the clock's ticks at which the next request may start. */
  readonly #next: BigInt64Array<SharedArrayBuffer>;
  /** Microseconds at which a request was last written. */
  readonly #written: BigInt64Array<SharedArrayBuffer>;

  /** Requests under way, by place and seat. */
  readonly #active: Uint16Array<SharedArrayBuffer>;
  readonly #seat: number;

  constructor(memory = makeSlots(), seat = 0) {
    this.#next = new BigInt64Array(memory, 0, PLACES);
    this.#written = new BigInt64Array(memory, TIMES, PLACES);
    this.#active = new Uint16Array(memory, BOTH, PLACES * SEATS);
    this.#seat = seat % SEATS;
    const taken = new Uint8Array(memory, BOTH + COUNTS, SEATS);
    if (Atomics.exchange(taken, this.#seat, 1) === 1) this.#clear();
  }

  /** Whoever had this seat before is gone. */
  #clear(): void {
    for (let at = this.#seat; at < PLACES * SEATS; at += SEATS) if (this.#active[at] !== 0) this.#active[at] = 0;
  }

  placeOf(address: string): number {
    return placeOf(address);
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

  /** Milliseconds that are missing to `spacing` since a request was last written, by whichever thread. */
  missing(place: number, now: number, spacing: number): number {
    const written = Atomics.load(this.#written, place);
    // None yet: times begin at the start of the process, and a pace may be longer than that.
    return written === 0n ? 0 : Math.max(0, Number(written) / 1000 + spacing - now);
  }

  /**
   * A request is to be written at `now`. Returns the milliseconds that are missing to `spacing` since the last one, whichever
   * thread wrote it; 0 = none, and this one counts.
   */
  write(place: number, now: number, spacing: number): number {
    const before = Atomics.load(this.#written, place);
    const wait = this.missing(place, now, spacing);
    if (wait > 0) return wait;
    const after = BigInt(Math.ceil(now * 1000));
    return Atomics.compareExchange(this.#written, place, before, after) === before ? 0 : Math.max(1, spacing);
  }

  /** It was written by `now`. */
  wrote(place: number, now: number): void {
    const after = BigInt(Math.ceil(now * 1000));
    for (let before = Atomics.load(this.#written, place); before < after; ) {
      const found = Atomics.compareExchange(this.#written, place, before, after);
      if (found === before) return;
      before = found;
    }
  }

  /** Requests to the address that are under way in all threads. */
  active(place: number): number {
    let sum = 0;
    for (let at = place * SEATS; at < (place + 1) * SEATS; at++) sum += Atomics.load(this.#active, at);
    return sum;
  }

  /** A request begins (1) or has ended (-1). Between active() and this only the owner of the turn gets by: see take(). */
  count(place: number, by: 1 | -1): void {
    Atomics.add(this.#active, place * SEATS + this.#seat, by);
  }
}
