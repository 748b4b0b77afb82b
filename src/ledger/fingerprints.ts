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

const SHARDS = 256;
const SLOT = 3;
const FULLEST = 0.75;
const GROWTH = 1.5;
const FIRST_SLOTS = 16;
/** Turns 32 mixed bits into a fraction of the capacity, which therefore need not be a power of two. */
const UNIT = 2 ** -32;
/** Drawn anew in each process, so that no site can choose URLs that all want the same slot. */
const SEED = Math.floor(Math.random() * 2 ** 32) | 0;

export class Fingerprints {
  readonly #shards: Uint32Array[] = [];
  readonly #counts = new Uint32Array(SHARDS);
  #size = 0;

  constructor() {
    for (let shard = 0; shard < SHARDS; shard++) {
      const slots = Math.round(FIRST_SLOTS * GROWTH ** (shard / SHARDS));
      this.#shards.push(new Uint32Array(slots * SLOT));
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

  /** The page id of this fingerprint, 0 = not known. Both halves unsigned. */
  get(high: number, low: number): number {
    const slots = this.#shards[high >>> 24]!;
    return slots[find(slots, high, low) + 2]!;
  }

  /** Adds the fingerprint, or gives it another id. Ids start at 1. */
  set(high: number, low: number, id: number): void {
    const shard = high >>> 24;
    let slots = this.#shards[shard]!;
    let at = find(slots, high, low);
    if (slots[at + 2] === 0) {
      const count = this.#counts[shard]! + 1;
      if (count * SLOT > slots.length * FULLEST) {
        slots = grown(slots);
        this.#shards[shard] = slots;
        at = find(slots, high, low);
      }
      this.#counts[shard] = count;
      this.#size++;
    }
    slots[at] = high;
    slots[at + 1] = low;
    slots[at + 2] = id;
  }
}

/** Index of the slot that holds the fingerprint, or of the empty one where it belongs. */
function find(slots: Uint32Array, high: number, low: number): number {
  const length = slots.length;
  let mixed = Math.imul(low ^ SEED, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 15) ^ high, 0x85ebca6b);
  // Exact in a double: 32 bits, and a shard stays far below 2^21 slots.
  let at = Math.trunc((mixed >>> 0) * UNIT * (length / SLOT)) * SLOT;
  while (slots[at + 2] !== 0 && (slots[at + 1] !== low || slots[at] !== high)) {
    at += SLOT;
    if (at === length) at = 0;
  }
  return at;
}

function grown(slots: Uint32Array): Uint32Array {
  const larger = new Uint32Array(Math.ceil((slots.length / SLOT) * GROWTH) * SLOT);
  for (let from = 0; from < slots.length; from += SLOT) {
    if (slots[from + 2] === 0) continue;
    const to = find(larger, slots[from]!, slots[from + 1]!);
    larger[to] = slots[from]!;
    larger[to + 1] = slots[from + 1]!;
    larger[to + 2] = slots[from + 2]!;
  }
  return larger;
}
