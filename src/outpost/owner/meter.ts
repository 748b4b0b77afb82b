/**
 * What the threads of an outpost use, counted where it is used: a request when it is made, bytes as they flow. The
 * numbers lie in memory that all threads share, so that nothing an errand does, and nobody who forgets one, gets past
 * them. Whoever looks after the day's quota says how much is left, and takes over what was used (owner.ts).
 */
const [PAGES, BYTES, OTHERS, HELD] = [0, 1, 2, 3];
/** More than anybody uses. */
const PLENTY = 2 ** 50;

interface Left {
  /** Absent = no limit. */
  readonly pages?: number | undefined;
  readonly bytes?: number | undefined;
}

/** The end of the one who looks after the quota. */
export class Meter {
  readonly shared = new SharedArrayBuffer(4 * 8);
  readonly #counts = new BigInt64Array(this.shared);
  #given = [0, 0, 0];
  /** What take() saw. */
  #read = [0, 0, 0];

  constructor() {
    this.refill({});
  }

  /** What was used since the last refill; it counts as taken over by the next one, and whatever comes later does not. */
  take(): { readonly pages: number; readonly bytes: number } {
    this.#read = this.#given.map((_, i) => Number(Atomics.load(this.#counts, i)));
    const used = (i: number) => Math.max(0, this.#given[i]! - this.#read[i]!);
    return { pages: used(PAGES!), bytes: used(BYTES!) };
  }

  /** This is left after what take() said. Requests besides pages, for rules, may be as many. */
  refill({ pages = PLENTY, bytes = PLENTY }: Left): void {
    for (const [i, left] of [pages, bytes, pages].entries()) {
      // Not by what is there now: threads go on, and a request made since take() must count with the next one.
      Atomics.add(this.#counts, i, BigInt(Math.round(left) - this.#read[i]!));
      this.#given[i] = Math.round(left);
      this.#read[i] = Math.round(left);
    }
  }
}

/** A thread's end. */
export class Allowance {
  readonly #counts: BigInt64Array;

  constructor(shared: SharedArrayBuffer) {
    this.#counts = new BigInt64Array(shared);
  }

  /** Before a request is made. False: there is none left for today, and it must not be. */
  request(): boolean {
    return Atomics.load(this.#counts, BYTES) > 0n && this.#take(PAGES);
  }

  /** The request turns out to be for no page: rules, or how the server says that it has none. False as above. */
  other(): boolean {
    Atomics.add(this.#counts, PAGES, 1n);
    return this.#take(OTHERS);
  }

  #take(count: number): boolean {
    if (Atomics.sub(this.#counts, count, 1n) > 0n) return true;
    Atomics.add(this.#counts, count, 1n);
    return false;
  }

  /** Bytes that passed otherwise than through a flow. */
  spend(bytes: number): void {
    if (bytes > 0) Atomics.sub(this.#counts, BYTES, BigInt(Math.round(bytes)));
  }

  /** For one answer. `memory`: bytes that all answers under way may take together. */
  flow(memory: number): Flow {
    const counts = this.#counts;
    const flow = {
      bytes: 0,
      stopped: false,
      take(bytes: number): boolean {
        flow.bytes += bytes;
        const left = Atomics.sub(counts, BYTES, BigInt(bytes)) - BigInt(bytes);
        const held = Atomics.add(counts, HELD, BigInt(bytes)) + BigInt(bytes);
        flow.stopped ||= left < 0n || held > BigInt(memory);
        return !flow.stopped;
      },
      end(): void {
        Atomics.sub(counts, HELD, BigInt(flow.bytes));
      },
    };
    return flow;
  }
}

interface Flow {
  /** Bytes that came. */
  readonly bytes: number;
  /** It was ended here, and not by the server. */
  readonly stopped: boolean;
  /** False: no more may come. */
  take(bytes: number): boolean;
  end(): void;
}
