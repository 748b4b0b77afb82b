/** Links between each page and its seed, one byte a page; page ids are dense. */
const CHUNK = 65_536;

export class Depths {
  readonly #chunks: (Uint8Array | undefined)[] = [];

  set(page: number, depth: number): void {
    const chunk = (this.#chunks[Math.floor(page / CHUNK)] ??= new Uint8Array(CHUNK).fill(255));
    chunk[page % CHUNK] = Math.min(255, depth);
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
