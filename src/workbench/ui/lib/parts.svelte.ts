/** A list that comes in parts. A part may be short though more follows: a rare match may lie far down a long list. */
import { route } from './route.svelte.ts';

export type Cursor = number | string | null;

export interface Part<T> {
  readonly items: readonly T[];
  readonly next: Cursor;
}

/** Items that fill a screen: with fewer of them, and more to be had, parts are asked for up to so many times. */
const SCREENFUL = 25;
const TRIES = 30;
/** Lists that are kept for those who come back to them, and rows of one that are written to a file. */
const KEPT = 12;
const MOST_EXPORTED = 20_000;

const kept = new Map<string, Part<unknown>>();

export class Parts<T> {
  items = $state<readonly T[]>([]);
  next = $state<Cursor>(null);
  /** Nothing was asked for yet, an answer is awaited, or what is shown is what there is. */
  state = $state<'new' | 'busy' | 'done'>('new');
  problem = $state('');
  readonly #name: string;
  readonly #ask: (after: Cursor) => Promise<Part<T>>;
  #turn = 0;

  /** `name`: of the list within its view; without one it is not kept for those who come back. */
  constructor(ask: (after: Cursor) => Promise<Part<T>>, name = '') {
    this.#ask = ask;
    this.#name = name;
  }

  get busy(): boolean {
    return this.state !== 'done';
  }

  /** From the beginning; what is shown stays until the first part has come. Who comes back finds what was there. */
  load(): Promise<void> {
    const before = route.now.back ? (kept.get(this.#key()) as Part<T> | undefined) : undefined;
    if (!before) return this.#read(null, []);
    this.#turn++;
    [this.items, this.next, this.state, this.problem] = [before.items, before.next, 'done', ''];
    return Promise.resolve();
  }

  /** The same, asked for again. */
  renew(): Promise<void> {
    return this.#read(null, []);
  }

  more(): Promise<void> {
    return this.#read(this.next, this.items);
  }

  /** Everything, up to a bound. */
  async all(): Promise<readonly T[]> {
    let [found, next]: [readonly T[], Cursor] = [this.items, this.next];
    while (next !== null && found.length < MOST_EXPORTED) {
      const part: Part<T> = await this.#ask(next);
      [found, next] = [[...found, ...part.items], part.next];
    }
    return found;
  }

  #key(): string {
    return `${route.now.entry} ${this.#name}`;
  }

  async #read(after: Cursor, before: readonly T[]): Promise<void> {
    const mine = ++this.#turn;
    const key = this.#key();
    this.state = 'busy';
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
    if (mine !== this.#turn) return;
    this.state = 'done';
    if (this.#name !== '' && this.problem === '') keep(key, { items: this.items, next: this.next });
  }
}

function keep(key: string, part: Part<unknown>): void {
  kept.delete(key);
  kept.set(key, part);
  if (kept.size > KEPT) kept.delete(kept.keys().next().value!);
}
