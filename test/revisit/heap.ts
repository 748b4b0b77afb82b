/**
 * A heap of small integers ordered by keys that lie in a table outside it, with the place of each entry written back
 * into the table, so that an entry whose key changed can be moved in O(log n). Several heaps may share one table as
 * long as no entry is in two of them.
 *
 * Invariant: places[entry] is the entry's index here, or -1 when it is in no heap of the table.
 */
export interface Keys {
  /** Replaced by longer ones as the table grows; heaps read them afresh at every call. */
  keys: Float64Array;
  places: Int32Array;
}

/** Four children: half the levels of a binary heap, and the children lie in one cache line. */
const CHILDREN = 4;

export class Heap {
  readonly #table: Keys;
  #entries = new Int32Array(4);
  #size = 0;

  constructor(table: Keys) {
    this.#table = table;
  }

  get size(): number {
    return this.#size;
  }

  /** The entry with the least key; -1 when empty. */
  get top(): number {
    return this.#size === 0 ? -1 : this.#entries[0]!;
  }

  push(entry: number): void {
    if (this.#size === this.#entries.length) {
      const longer = new Int32Array(this.#size * 2);
      longer.set(this.#entries);
      this.#entries = longer;
    }
    this.#rise(this.#size++, entry);
  }

  pop(): number {
    const top = this.top;
    if (top >= 0) this.remove(top);
    return top;
  }

  remove(entry: number): void {
    const place = this.#table.places[entry]!;
    this.#table.places[entry] = -1;
    const last = this.#entries[--this.#size]!;
    if (last === entry) return;
    this.#settle(place, last);
  }

  /** To be called after the entry's key changed. */
  moved(entry: number): void {
    this.#settle(this.#table.places[entry]!, entry);
  }

  #settle(place: number, entry: number): void {
    const parent = (place - 1) >> 2;
    if (place > 0 && this.#table.keys[entry]! < this.#table.keys[this.#entries[parent]!]!) this.#rise(place, entry);
    else this.#sink(place, entry);
  }

  #rise(place: number, entry: number): void {
    const { keys, places } = this.#table;
    const entries = this.#entries;
    const key = keys[entry]!;
    while (place > 0) {
      const above = (place - 1) >> 2;
      const parent = entries[above]!;
      if (keys[parent]! <= key) break;
      entries[place] = parent;
      places[parent] = place;
      place = above;
    }
    entries[place] = entry;
    places[entry] = place;
  }

  #sink(place: number, entry: number): void {
    const { keys, places } = this.#table;
    const entries = this.#entries;
    const key = keys[entry]!;
    for (let first = place * CHILDREN + 1; first < this.#size; first = place * CHILDREN + 1) {
      const end = Math.min(first + CHILDREN, this.#size);
      let least = first;
      let leastKey = keys[entries[first]!]!;
      for (let child = first + 1; child < end; child++) {
        const childKey = keys[entries[child]!]!;
        if (childKey < leastKey) {
          least = child;
          leastKey = childKey;
        }
      }
      if (leastKey >= key) break;
      const risen = entries[least]!;
      entries[place] = risen;
      places[risen] = place;
      place = least;
    }
    entries[place] = entry;
    places[entry] = place;
  }
}

/** Makes room for one more, if there is none. */
export function grow(table: Keys, index: number): void {
  if (index < table.keys.length) return;
  const keys = new Float64Array(table.keys.length * 2);
  const places = new Int32Array(table.places.length * 2).fill(-1);
  keys.set(table.keys);
  places.set(table.places);
  table.keys = keys;
  table.places = places;
}
