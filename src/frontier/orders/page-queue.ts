/**
 * A first-in, first-out queue of page numbers at about 4 bytes each. Pages lie in chunks that are dropped as they are
 * emptied. A new chunk is a quarter of what the queue holds, within bounds: a server with five pages pays for sixteen,
 * one with a million wastes at most a quarter and never copies.
 */
const SMALLEST = 16;
const LARGEST = 8192;

export class PageQueue {
  #chunks: Uint32Array[] = [];
  /** Next to take in the first chunk, next free in the last. */
  #head = 0;
  #tail = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    let bytes = 0;
    for (const chunk of this.#chunks) bytes += chunk.byteLength;
    return bytes;
  }

  push(page: number): void {
    let last = this.#chunks[this.#chunks.length - 1];
    if (!last || this.#tail === last.length) {
      last = new Uint32Array(Math.min(LARGEST, Math.max(SMALLEST, this.#size >>> 2)));
      this.#chunks.push(last);
      this.#tail = 0;
    }
    last[this.#tail++] = page;
    this.#size++;
  }

  /** Moves at most `count` pages to the end of `out`; returns how many. */
  shift(count: number, out: number[]): number {
    const moved = Math.min(count, this.#size);
    for (let left = moved; left > 0; ) {
      const first = this.#chunks[0]!;
      const end = this.#chunks.length === 1 ? this.#tail : first.length;
      const stop = Math.min(end, this.#head + left);
      left -= stop - this.#head;
      while (this.#head < stop) out.push(first[this.#head++]!);
      if (this.#head === end) this.#drop();
    }
    this.#size -= moved;
    return moved;
  }

  #drop(): void {
    this.#chunks.shift(); // 120 chunks for a million pages: moving the rest is nothing
    this.#head = 0;
    if (this.#chunks.length === 0) this.#tail = 0;
  }
}
