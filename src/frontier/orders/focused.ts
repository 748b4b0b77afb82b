/**
 * Focused: the most relevant page first, first found first among equals. An irrelevant branch is dropped: a page below
 * the threshold that was reached through as many irrelevant pages in a row as allowed is not taken in. One or two
 * irrelevant pages must be allowed, because the way to a topic often leads through a menu that does not name it.
 */
import type { ReasonCode } from '../../errand/reasons.ts';
import type { Hint, Order } from './order-port.ts';
import { PageQueue } from './page-queue.ts';

export interface FocusedOptions {
  /** Relevance from which a page counts as relevant, 0–255. */
  readonly threshold: number;
  /** Irrelevant pages in a row after which a branch is given up. */
  readonly strayLevels: number;
}

export const focusedDefaults: FocusedOptions = { threshold: 64, strayLevels: 3 };

export class Focused implements Order {
  readonly #options: FocusedOptions;
  readonly #queues: (PageQueue | undefined)[] = new Array(256).fill(undefined);
  #size = 0;
  /** No page waits with a greater relevance. */
  #top = 0;

  constructor(options: FocusedOptions = focusedDefaults) {
    this.#options = options;
  }

  get size(): number {
    return this.#size;
  }

  get top(): number {
    return this.#top;
  }

  add(page: number, hint: Hint): ReasonCode | undefined {
    if (isLost(this.#options, hint.relevance, hint.strayed ?? 0)) return 'irrelevant';
    const queue = (this.#queues[hint.relevance] ??= new PageQueue());
    queue.push(page);
    if (hint.relevance > this.#top) this.#top = hint.relevance;
    this.#size++;
    return undefined;
  }

  take(count: number): number[] {
    const pages: number[] = [];
    while (pages.length < count && pages.length < this.#size) {
      const moved = this.#queues[this.#top]?.shift(count - pages.length, pages) ?? 0;
      if (moved === 0) this.#queues[this.#top--] = undefined;
    }
    this.#size -= pages.length;
    return pages;
  }

  backward(): void {}
  forward(): void {}
}

function isLost({ threshold, strayLevels }: FocusedOptions, relevance: number, strayed: number): boolean {
  return relevance < threshold && strayed >= strayLevels;
}

/**
 * How many irrelevant pages in a row led to each page: one byte a page, of all servers, because a link may cross from
 * one to another. Page ids are dense, so the bytes are too. Lost on restart, where every branch gets a fresh start, and at the
 * border of a partition, behind which it gets one, too: a focused crawl in several partitions drops less.
 */
export class Strays {
  readonly #options: FocusedOptions;
  #levels = new Uint8Array(1024);

  constructor(options: FocusedOptions = focusedDefaults) {
    this.#options = options;
  }

  /** Irrelevant pages in a row that end with this one; 0 = it is relevant, or unknown. */
  of(page: number): number {
    return this.#levels[page] ?? 0;
  }

  /** A link of so little relevance on that page belongs to a branch that is given up. */
  refuses(parent: number, relevance: number): boolean {
    return isLost(this.#options, relevance, this.of(parent));
  }

  /** Notes a page found on `parent` (0 = a seed); returns what its hint's `strayed` should be: the parent's count. */
  note(page: number, parent: number, relevance: number): number {
    if (page >= this.#levels.length) {
      const longer = new Uint8Array(Math.max(page + 1, this.#levels.length * 2));
      longer.set(this.#levels);
      this.#levels = longer;
    }
    const before = parent === 0 ? 0 : this.of(parent);
    this.#levels[page] = relevance >= this.#options.threshold || parent === 0 ? 0 : Math.min(255, before + 1);
    return before;
  }
}
