/** Links between each page and its seed, one byte a page; page ids are dense. */
const CHUNK = 65_536;

export class Depths {
  readonly #chunks: (Uint8Array | undefined)[] = [];

  set(page: number, depth: number): void {
    const chunk = (this.#chunks[Math.floor(page / CHUNK)] ??= new Uint8Array(CHUNK).fill(255));
    chunk[page % CHUNK] = Math.min(255, depth);
  }

  /** One byte for each page up to `last`. */
  packed(last: number): Uint8Array<ArrayBuffer> {
    const all = new Uint8Array(last + 1).fill(255);
    for (const [index, chunk] of this.#chunks.entries()) {
      if (chunk) all.set(chunk.subarray(0, Math.max(0, last + 1 - index * CHUNK)), index * CHUNK);
    }
    return all;
  }

  /** Takes in what packed() gave. */
  load(all: Uint8Array): void {
    for (let from = 0; from < all.length; from += CHUNK) {
      const chunk = new Uint8Array(CHUNK).fill(255);
      chunk.set(all.subarray(from, from + CHUNK));
      this.#chunks[from / CHUNK] = chunk;
    }
  }

  of(page: number): number {
    return this.#chunks[Math.floor(page / CHUNK)]?.[page % CHUNK] ?? 255;
  }

  /** True when the page was deeper so far. */
  lower(page: number, depth: number): boolean {
    if (depth >= this.of(page)) return false;
    this.set(page, depth);
    return true;
  }
}
