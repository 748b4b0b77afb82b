/**
 * Leave to ask, where several homes crawl as one. Home tells its threads until when requests may go out at all (as long as
 * it can know that its servers are its own), and which addresses are this machine's at the moment. Both run out by
 * themselves, by this thread's own reading of the clock: a process that slept finds that its leave is over before it has
 * heard anything.
 */
import type { Clock } from '../../base/clock.ts';

export interface Leave {
  /** Requests may go out now. */
  open(): boolean;
  /** The address may be asked now; if not, it is asked for. `spacing`: milliseconds between two requests to it. */
  holds(address: string, spacing: number): boolean;
  /** A request to the address begins (1) or has ended (-1). */
  count(address: string, by: 1 | -1): void;
  /** `news` is called when there is more leave than before. */
  listen(news: () => void): void;
}

/** What home says: times are ticks. */
interface LeaveTold {
  readonly until: number;
  readonly addresses: readonly (readonly [address: string, until: number])[];
}

/** What a thread says of addresses: those that it wants from now on, with the spacing, and those that it wants no more. */
export interface AddressWishes {
  readonly wanted: readonly (readonly [address: string, spacing: number])[];
  readonly done: readonly string[];
}

/** Milliseconds after the last use of an address after which it is given back, and between two looks for such. */
const UNUSED = 2000;
const LOOK = 500;

interface AddressWish {
  spacing: number;
  /** Ticks: until when it may be asked, and when it was asked for last. */
  until: number;
  used: number;
  active: number;
}

export class ToldLeave implements Leave {
  readonly #clock: Clock;
  readonly #tell: (wishes: AddressWishes) => void;
  #until = 0;
  readonly #addresses = new Map<string, AddressWish>();
  /** Addresses of which home is to be told. */
  readonly #asked = new Set<string>();
  #news: () => void = () => {};
  #looked: number;

  constructor(clock: Clock, tell: (wishes: AddressWishes) => void) {
    this.#clock = clock;
    this.#tell = tell;
    this.#looked = clock.ticks();
  }

  open(): boolean {
    return this.#clock.ticks() < this.#until;
  }

  holds(address: string, spacing: number): boolean {
    const now = this.#clock.ticks();
    const wanted = this.#addresses.get(address) ?? this.#want(address);
    wanted.used = now;
    if (spacing > wanted.spacing) {
      wanted.spacing = spacing;
      this.#ask(address);
    }
    return now < wanted.until && now < this.#until;
  }

  count(address: string, by: 1 | -1): void {
    const wanted = this.#addresses.get(address) ?? this.#want(address);
    wanted.active += by;
    wanted.used = this.#clock.ticks();
  }

  listen(news: () => void): void {
    this.#news = news;
  }

  /** Home has spoken. */
  told({ until, addresses }: LeaveTold): void {
    this.#until = until;
    for (const [address, end] of addresses) {
      const wanted = this.#addresses.get(address);
      if (wanted) wanted.until = end;
    }
    this.#giveBack();
    this.#news();
  }

  #want(address: string): AddressWish {
    const wanted = { spacing: -1, until: 0, used: 0, active: 0 };
    this.#addresses.set(address, wanted);
    return wanted;
  }

  /** All that are asked for in one turn of the event loop go in one message. */
  #ask(address: string): void {
    this.#asked.add(address);
    if (this.#asked.size > 1) return;
    setImmediate(() => {
      const wanted = [...this.#asked].flatMap(each => {
        const known = this.#addresses.get(each);
        return known ? [[each, known.spacing] as const] : [];
      });
      this.#asked.clear();
      this.#tell({ wanted, done: [] });
    });
  }

  /** Called with each word of home, about once a second. What is given back is not used before it is asked for anew. */
  #giveBack(): void {
    const now = this.#clock.ticks();
    if (now - this.#looked < LOOK) return;
    this.#looked = now;
    const done: string[] = [];
    for (const [address, { used, active }] of this.#addresses)
      if (active === 0 && now - used > UNUSED) done.push(address);
    for (const address of done) this.#addresses.delete(address);
    if (done.length > 0) this.#tell({ wanted: [], done });
  }
}
