/** A set of pages, one bit each; page ids are dense. */
const CHUNK = 65_536;

export class PageSet {
  readonly #chunks: (Uint8Array | undefined)[] = [];

  add(page: number): void {
    const chunk = (this.#chunks[Math.floor(page / CHUNK)] ??= new Uint8Array(CHUNK / 8));
    chunk[(page % CHUNK) >>> 3]! |= 1 << (page & 7);
  }

  has(page: number): boolean {
    const chunk = this.#chunks[Math.floor(page / CHUNK)];
    return chunk !== undefined && (chunk[(page % CHUNK) >>> 3]! & (1 << (page & 7))) !== 0;
  }
}
