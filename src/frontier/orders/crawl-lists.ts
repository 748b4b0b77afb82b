/**
 * The papers' three lists over all servers of a crawl. Where a page belongs is decided by its pvalue among the pages of
 * all servers; which server is asked next is still for politeness to say, but among those that may be, one with a page of
 * the list that is behind comes first. Over many errands the lists are served as their shares say (4 : 2 : 1), a list
 * without pages giving its share away.
 *
 * Invariant: `waiting` counts the pages in the lists of all orders that joined.
 */

/** An order of one server that takes part. */
interface Listed {
  /** Pvalues of its waiting pages. */
  values(): number[];
  /** The lists were cut anew: its pages join those that they belong to now. */
  relist(): void;
}

/** Pages of a list that leave together for each of its share: one at a time would make an errand of each. */
const TOGETHER = 4;
/** Sorting fewer pages than this again and again would cost more than it orders. */
const FEWEST = 16;

export class CrawlLists {
  readonly #orders = new Set<Listed>();
  readonly #shares: readonly number[];
  readonly #served = [0, 0, 0];
  readonly #waiting = [0, 0, 0];
  #cuts: readonly [number, number] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  /** Pages that have come, and how many of them it takes to cut anew. */
  #come = 0;
  #cutAt = 0;

  constructor(shares: readonly number[]) {
    this.#shares = shares;
  }

  join(order: Listed): void {
    this.#orders.add(order);
  }

  /** 0, 1 or 2. */
  listOf(value: number): number {
    return value >= this.#cuts[0] ? 0 : value >= this.#cuts[1] ? 1 : 2;
  }

  /** So many pages more wait in a list, or fewer. */
  count(list: number, by: number): void {
    this.#waiting[list]! += by;
  }

  /** A page has come that no order had. */
  came(): void {
    this.#come++;
  }

  /** Cuts all pages into three lists of equal size, when as many as a quarter have come since the last time. */
  settle(): void {
    if (this.#come < this.#cutAt) return;
    const values = Float64Array.from([...this.#orders].flatMap(order => order.values())).sort();
    const n = values.length;
    const least = (rank: number) => values[n - rank] ?? Number.POSITIVE_INFINITY;
    this.#cuts = [least(Math.round(n / 3)), least(Math.round((2 * n) / 3))];
    this.#come = 0;
    this.#cutAt = Math.max(FEWEST, Math.ceil(n / 4));
    for (const order of this.#orders) order.relist();
  }

  /** The list that is furthest behind its share, of those in which a page waits; the first when none does. */
  next(): number {
    const there = [0, 1, 2].filter(list => this.#waiting[list]! > 0);
    if (there.length === 0) return 0;
    const ratio = (list: number) => this.#served[list]! / this.#shares[list]!;
    const behind = Math.min(...there.map(ratio));
    // What gave its share away does not get it back.
    for (const list of [0, 1, 2]) {
      if (this.#waiting[list] === 0) this.#served[list] = Math.max(this.#served[list]!, behind * this.#shares[list]!);
    }
    return there.find(list => ratio(list) === behind)!;
  }

  /** How many pages of the list may leave together. */
  most(list: number): number {
    return this.#shares[list]! * TOGETHER;
  }

  serve(list: number, pages: number): void {
    this.#served[list]! += pages;
    this.#waiting[list]! -= pages;
  }
}
