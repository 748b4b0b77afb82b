/**
 * Every URL that this home knows, in memory: 64-bit fingerprint → page id. It answers "have we seen this link?" without
 * a query, which is asked about a hundred times for each page fetched.
 *
 * It never stores a URL, never forgets an entry, and never shrinks. Two URLs with one fingerprint are one page here:
 * with 64 bits and 10,000,000 URLs the chance that any two meet is about 3 in a million.
 *
 * Invariant: a slot is three numbers (high, low, id); an id of 0 marks it empty; each shard is at most three quarters
 * full, so that a probe always ends.
 *
 * The table is cut into shards by the top bits of the fingerprint, and each grows alone: the pause is that of moving
 * 1/256 of the entries, and so is the memory that is held twice. The shards start with sizes spread over one growth
 * step, or they would all grow in the same moment and the cost of a URL would swing between 16 and 24 bytes together;
 * as it is, it stays near 20.
 */
import type { Borrowed } from '../../base/borrowed.ts';

const SHARDS = 256;
const SLOT = 3;
const FULLEST = 0.75;
const GROWTH = 1.5;
const FIRST_SLOTS = 16;
/** A power of two. */
const RECENT = 1024;
/** How full a shard is that is made for entries that are all there already. */
const FILLED = 0.6;
/** Turns 32 mixed bits into a fraction of the capacity, which therefore need not be a power of two. */
const UNIT = 2 ** -32;
/** Drawn anew in each process, so that no site can choose URLs that all want the same slot. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0;

export class Fingerprints {
  /** Signed, though the halves are not: a number of 32 bits without a sign costs an allocation wherever it is handed on. */
  readonly #shards: Int32Array[] = [];
  /** Slots of each; to ask an array for its length is a call. */
  readonly #capacities = new Int32Array(SHARDS);
  readonly #counts = new Uint32Array(SHARDS);
  #size = 0;
  /** Slots, too, of what was looked up lately: a few hundred links stand on most pages of a site, and 12 kB stay near. */
  readonly #recent = new Int32Array(RECENT * SLOT);
  #found = new Uint32Array(1024);

  constructor() {
    for (let shard = 0; shard < SHARDS; shard++) {
      const slots = Math.round(FIRST_SLOTS * GROWTH ** (shard / SHARDS));
      this.#shards.push(new Int32Array(slots * SLOT));
      this.#capacities[shard] = slots;
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Bytes held by the tables. */
  get bytes(): number {
    let bytes = 0;
    for (const shard of this.#shards) bytes += shard.byteLength;
    return bytes;
  }

  /** All entries, three numbers each: high, low, id. */
  packed(): Int32Array<ArrayBuffer> {
    const entries = new Int32Array(this.#size * SLOT);
    let to = 0;
    for (const slots of this.#shards) {
      for (let at = 0; at < slots.length; at += SLOT) {
        if (slots[at + 2] === 0) continue;
        entries[to++] = slots[at]!;
        entries[to++] = slots[at + 1]!;
        entries[to++] = slots[at + 2]!;
      }
    }
    return entries;
  }

  /** Takes in what packed() gave, into an empty table. */
  load(entries: Int32Array): void {
    for (let at = 0; at < entries.length; at += SLOT) this.#counts[entries[at]! >>> 24]!++;
    for (let shard = 0; shard < SHARDS; shard++) {
      const capacity = Math.max(this.#capacities[shard]!, Math.ceil(this.#counts[shard]! / FILLED));
      this.#shards[shard] = new Int32Array(capacity * SLOT);
      this.#capacities[shard] = capacity;
    }
    for (let at = 0; at < entries.length; at += SLOT) {
      const shard = entries[at]! >>> 24;
      const slots = this.#shards[shard]!;
      const to = find(slots, this.#capacities[shard]!, entries[at]!, entries[at + 1]!);
      slots[to] = entries[at]!;
      slots[to + 1] = entries[at + 1]!;
      slots[to + 2] = entries[at + 2]!;
    }
    this.#size = entries.length / SLOT;
  }

  /** The page id of this fingerprint, 0 = not known. Both halves unsigned. */
  get(high: number, low: number): number {
    const shard = high >>> 24;
    const slots = this.#shards[shard]!;
    return slots[find(slots, this.#capacities[shard]!, high | 0, low | 0) + 2]! >>> 0;
  }

  /** The same for the first `count` of a list, high and low in turn. */
  getAll(fingerprints: Uint32Array, count: number): Borrowed<Uint32Array> {
    if (this.#found.length < count) this.#found = new Uint32Array(count * 2);
    const found = this.#found.subarray(0, count);
    const recent = this.#recent;
    for (let i = 0; i < count; i++) {
      const high = fingerprints[i * 2]! | 0;
      const low = fingerprints[i * 2 + 1]! | 0;
      const at = recentOf(low);
      if (recent[at + 2] === 0 || recent[at + 1] !== low || recent[at] !== high) {
        recent[at] = high;
        recent[at + 1] = low;
        recent[at + 2] = this.get(high, low);
      }
      found[i] = recent[at + 2]!;
    }
    return found;
  }

  /** Adds the fingerprint, or gives it another id. Ids start at 1. */
  set(high: number, low: number, id: number): void {
    const shard = high >>> 24;
    let slots = this.#shards[shard]!;
    let capacity = this.#capacities[shard]!;
    let at = find(slots, capacity, high | 0, low | 0);
    if (slots[at + 2] === 0) {
      const count = this.#counts[shard]! + 1;
      if (count > capacity * FULLEST) {
        capacity = Math.ceil(capacity * GROWTH);
        slots = grown(slots, capacity);
        this.#shards[shard] = slots;
        this.#capacities[shard] = capacity;
        at = find(slots, capacity, high | 0, low | 0);
      }
      this.#counts[shard] = count;
      this.#size++;
    }
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + 2] = id;
    this.#recent[recentOf(low) + 2] = 0; // it may have had another id
  }
}

function recentOf(low: number): number {
  return (low & (RECENT - 1)) * SLOT;
}

/** Index of the slot that holds the fingerprint (both halves signed), or of the empty one where it belongs. */
function find(slots: Int32Array, capacity: number, high: number, low: number): number {
  let mixed = Math.imul(low ^ SEED, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ high, 0x85ebca6b);
  // Exact in a double: 32 bits, and a shard stays far below 2^21 slots.
  let at = (((mixed >>> 0) * UNIT * capacity) | 0) * SLOT;
  while (slots[at + 2] !== 0 && (slots[at + 1] !== low || slots[at] !== high)) {
    at += SLOT;
    if (at === capacity * SLOT) at = 0;
  }
  return at;
}

function grown(slots: Int32Array, capacity: number): Int32Array {
  const larger = new Int32Array(capacity * SLOT);
  for (let from = 0; from < slots.length; from += SLOT) {
    if (slots[from + 2] === 0) continue;
    const to = find(larger, capacity, slots[from]!, slots[from + 1]!);
    larger[to] = slots[from]!;
    larger[to + 1] = slots[from + 1]!;
    larger[to + 2] = slots[from + 2]!;
  }
  return larger;
}
