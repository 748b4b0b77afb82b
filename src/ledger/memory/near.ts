/**
 * Finds a page whose text nearly equals another's, by simhash: among the pages remembered, one whose 64 bits differ
 * from the given ones in at most three places. It remembers the newest half million pages in at most 15 MB and forgets
 * the rest: near duplicates come in runs, from one server and one template, so the newest are those that matter.
 *
 * It never says that a page changed (an edit often leaves a simhash as it was), and it never compares text.
 *
 * Four tables, one for each 16 bits of the simhash: two simhashes that differ in at most three bits are equal in at
 * least one of the four parts, so they meet in one of the four buckets. Invariant: a bucket holds at most eight places
 * in the ring, newest first, 0 = none. A place may since have been taken by another page; that is harmless, because
 * the distance is computed from what stands there now.
 */

const PARTS = 4;
const BUCKETS = 65_536;
const BUCKET = 8;
/** Pages remembered: as many as the buckets of one part can name. */
const RING = BUCKETS * BUCKET;
const RECORD = 3;
/** Memory is taken in pieces of this many pages or buckets, as they are needed. */
const PIECE_BITS = 12;
const PIECE = 1 << PIECE_BITS;

export class NearPages {
  readonly #records: Uint32Array[] = [];
  readonly #buckets: (Uint32Array | undefined)[] = new Array(PARTS * (BUCKETS / PIECE)).fill(undefined);
  #added = 0;
  /** Asked for last, and not there: a page is mostly asked for just before it is remembered. */
  readonly #absent = { high: 0, low: 0 };

  /** Pages remembered now. */
  get size(): number {
    return Math.min(this.#added, RING);
  }

  /** Bytes held by the tables. */
  get bytes(): number {
    let bytes = 0;
    for (const piece of this.#records) bytes += piece.byteLength;
    for (const piece of this.#buckets) bytes += piece?.byteLength ?? 0;
    return bytes;
  }

  /** All that are remembered, oldest first, three numbers each: high, low, page. */
  packed(): Uint32Array<ArrayBuffer> {
    const entries = new Uint32Array(this.size * RECORD);
    const first = this.#added - this.size;
    for (let i = 0; i < this.size; i++) {
      const place = (first + i) % RING;
      const offset = (place % PIECE) * RECORD;
      entries.set(this.#records[place >>> PIECE_BITS]!.subarray(offset, offset + RECORD), i * RECORD);
    }
    return entries;
  }

  /** Takes in what packed() gave, into an empty table. */
  load(entries: Uint32Array): void {
    for (let at = 0; at < entries.length; at += RECORD) this.#append(entries[at]!, entries[at + 1]!, entries[at + 2]!);
  }

  /** The nearest page within the distance (at most 3 bits is certain to be found), 0 = none. Both halves unsigned. */
  near(high: number, low: number, maxDistance = 3): number {
    if (high === 0 && low === 0) return 0; // no text: all such pages would be alike
    let best = 0;
    let least = maxDistance + 1;
    for (let part = 0; part < PARTS; part++) {
      const bucket = bucketOf(part, high, low);
      const piece = this.#buckets[bucket >>> PIECE_BITS];
      if (!piece) continue;
      const start = (bucket % PIECE) * BUCKET;
      for (let at = start; at < start + BUCKET && piece[at] !== 0; at++) {
        const place = piece[at]! - 1;
        const record = this.#records[place >>> PIECE_BITS]!;
        const offset = (place % PIECE) * RECORD;
        const distance = bitCount(record[offset]! ^ high) + bitCount(record[offset + 1]! ^ low);
        if (distance >= least) continue;
        least = distance;
        best = record[offset + 2]!;
        if (distance === 0) return best;
      }
    }
    this.#absent.high = high;
    this.#absent.low = low;
    return best;
  }

  /** Remembers a page. One whose simhash is already there adds nothing: the first page stands for all its copies. */
  add(high: number, low: number, page: number): void {
    if ((high === 0 && low === 0) || this.#has(high, low)) return;
    this.#append(high, low, page);
    this.#absent.high = 0;
    this.#absent.low = 0;
  }

  #append(high: number, low: number, page: number): void {
    const place = this.#added++ % RING;
    const piece = (this.#records[place >>> PIECE_BITS] ??= new Uint32Array(PIECE * RECORD));
    const offset = (place % PIECE) * RECORD;
    piece[offset] = high;
    piece[offset + 1] = low;
    piece[offset + 2] = page;
    for (let part = 0; part < PARTS; part++) this.#enter(bucketOf(part, high, low), place + 1);
  }

  #has(high: number, low: number): boolean {
    if (this.#absent.high === high && this.#absent.low === low) return false;
    return this.near(high, low, 0) !== 0;
  }

  #enter(bucket: number, place: number): void {
    const piece = (this.#buckets[bucket >>> PIECE_BITS] ??= new Uint32Array(PIECE * BUCKET));
    const start = (bucket % PIECE) * BUCKET;
    for (let at = start + BUCKET - 1; at > start; at--) piece[at] = piece[at - 1]!;
    piece[start] = place;
  }
}

function bucketOf(part: number, high: number, low: number): number {
  const half = part < 2 ? high : low;
  return part * BUCKETS + (part % 2 === 0 ? half >>> 16 : half & 0xffff);
}

/** Ones of a 32-bit word. */
export function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
