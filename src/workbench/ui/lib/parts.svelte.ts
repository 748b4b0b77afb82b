/** A list that comes in parts. A part may be short though more follows: a rare match may lie far down a long list. */

export interface Part<T> {
  readonly items: readonly T[];
  readonly next: number | null;
}

/** Items that fill a screen: with fewer of them, and more to be had, parts are asked for up to so many times. */
const SCREENFUL = 25;
const TRIES = 30;

export class Parts<T> {
  items = $state<readonly T[]>([]);
  next = $state<number | null>(null);
  busy = $state(false);
  problem = $state('');
  readonly #ask: (after: number | null) => Promise<Part<T>>;
  #turn = 0;

  constructor(ask: (after: number | null) => Promise<Part<T>>) {
    this.#ask = ask;
  }

  /** From the beginning; what is shown stays until the first part has come. */
  load(): Promise<void> {
    return this.#read(null, []);
  }

  more(): Promise<void> {
    return this.#read(this.next, this.items);
  }

  async #read(after: number | null, before: readonly T[]): Promise<void> {
    const mine = ++this.#turn;
    this.busy = true;
    this.problem = '';
    let [from, found] = [after, before];
    try {
      for (let tries = 0; tries < TRIES; tries++) {
        const { items, next } = await this.#ask(from);
        // An answer that was overtaken by another question is nobody's.
        if (mine !== this.#turn) return;
        this.items = found = [...found, ...items];
        this.next = from = next;
        if (found.length >= before.length + SCREENFUL || next === null) break;
      }
    } catch (error) {
      if (mine === this.#turn) this.problem = (error as Error).message;
    }
    if (mine === this.#turn) this.busy = false;
  }
}
