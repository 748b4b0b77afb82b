/** Breadth first: the pages nearest to a seed come first, in the order in which they were found. */
import type { Hint, Order } from './order-port.ts';
import { PageQueue } from './page-queue.ts';

/** Deeper pages share the last queue. */
const DEEPEST = 255;

export class Breadth implements Order {
  readonly #levels: (PageQueue | undefined)[] = [];
  #size = 0;
  /** No page waits at a lesser depth. */
  #from = 0;

  get top(): number {
    return 0;
  }

  get size(): number {
    return this.#size;
  }

  add(page: number, { depth }: Hint): undefined {
    const level = Math.min(depth, DEEPEST);
    let queue = this.#levels[level];
    if (!queue) {
      while (this.#levels.length < level) this.#levels.push(undefined); // no holes: they would make it a slow array
      queue = this.#levels[level] = new PageQueue();
    }
    queue.push(page);
    if (level < this.#from) this.#from = level;
    this.#size++;
  }

  take(count: number): number[] {
    const pages: number[] = [];
    while (pages.length < count && pages.length < this.#size) {
      const moved = this.#levels[this.#from]?.shift(count - pages.length, pages) ?? 0;
      if (moved === 0) this.#levels[this.#from++] = undefined;
    }
    this.#size -= pages.length;
    return pages;
  }

  backward(): void {}
  forward(): void {}
}
