/**
 * The order of the paper on redistributing URLs: pvalue = af·FwdLK − af·BkLK, highest first, so that pages which lead
 * on come before pages that everyone links to already. The sorted pages are cut into three lists of equal size, and
 * for every four pages of the first list two of the second and one of the third are served, so that none waits
 * for ever.
 *
 * Where we differ. (1) One common factor af cannot change an order, so forward and backward links have a weight each.
 * (2) FwdLK cannot be known before the page is fetched, as the paper would have it; the mean of the pages fetched from
 * the same server stands in for it. Among pages of one server, none fetched, the order therefore goes by BkLK alone.
 * (3) Sorting at every new page is not needed: a page that comes between two sorts joins the end of the list whose
 * range holds its pvalue, and all is sorted again when as many as a quarter have come.
 *
 * Use it to discover pages, never to decide when to refresh one. Invariant: every waiting page is in exactly one list.
 */
import type { Hint, Order } from './order-port.ts';

export interface PvalueOptions {
  readonly forwardWeight: number;
  readonly backwardWeight: number;
  /** Exact BkLK of a page, where someone keeps count: asked at every sort, and backward() is then not needed. */
  readonly backwardOf?: (page: number) => number;
}

export const pvalueDefaults: PvalueOptions = { forwardWeight: 1, backwardWeight: 1 };

/** Which list each of seven pages comes from: 4 : 2 : 1. */
const SERVICE = [0, 0, 0, 0, 1, 1, 2] as const;
/** Pvalues are compared in sixteenths, and within ±32,768: more would not fit beside the place in one sort key. */
const STEP = 16;
const RANGE = 2 ** 19;
const PLACE = 2 ** 32;
/** Sorting fewer pages than this again and again would cost more than it orders. */
const FEWEST = 16;

/** Places of pages: those of the last sort, best first, and those that joined since. */
interface List {
  places: number[];
  next: number;
  /** Pvalue of its last page at the last sort: a better one belongs here or further up. */
  least: number;
}

export class Pvalue implements Order {
  readonly #options: PvalueOptions;
  // Three numbers for each page, at the same place. A page taken leaves its place until the next sort.
  #pages: number[] = [];
  #forward: number[] = [];
  #backward: number[] = [];
  /** Pages that got one more link since the last sort; looked up all at once then, so that no map is needed. */
  #gained: number[] = [];
  #lists: List[] = [];
  #size = 0;
  /** Places, gaps included, at which it is time to sort again. */
  #sortAt = 0;
  #turn = 0;
  readonly #seen = { pages: 0, links: 0 };

  constructor(options: PvalueOptions = pvalueDefaults) {
    this.#options = options;
  }

  get top(): number {
    return 0;
  }

  get size(): number {
    return this.#size;
  }

  add(page: number, hint: Hint): undefined {
    const place = this.#pages.length;
    this.#pages.push(page);
    this.#forward.push(hint.forward);
    this.#backward.push(hint.backward);
    this.#size++;
    if (hint.forward >= 0) this.forward(hint.forward);
    if (this.#lists.length === 0) return;
    const value = this.#valueAt(place);
    (this.#lists.find(list => value >= list.least) ?? this.#lists[2]!).places.push(place);
  }

  take(count: number): number[] {
    if (this.#lists.length === 0 || this.#pages.length >= this.#sortAt) this.#sort();
    const pages: number[] = [];
    while (pages.length < count && this.#size > 0) {
      const list = this.#lists[SERVICE[this.#turn]!]!;
      this.#turn = (this.#turn + 1) % SERVICE.length;
      if (list.next === list.places.length) continue; // an empty list gives its turn away
      const place = list.places[list.next++]!;
      pages.push(this.#pages[place]!);
      this.#pages[place] = 0;
      this.#size--;
    }
    return pages;
  }

  backward(page: number): void {
    if (this.#options.backwardOf) return;
    this.#gained.push(page);
    if (this.#gained.length > Math.max(1024, this.#size)) this.#gain();
  }

  forward(links: number): void {
    this.#seen.pages++;
    this.#seen.links += links;
  }

  /** The three lists as they would be served, for people and tests. */
  lists(): number[][] {
    this.#sort();
    return this.#lists.map(list => list.places.map(place => this.#pages[place]!));
  }

  #valueAt(place: number): number {
    const { forwardWeight, backwardWeight } = this.#options;
    const mean = this.#seen.pages === 0 ? 0 : this.#seen.links / this.#seen.pages;
    const forward = this.#forward[place]!;
    return forwardWeight * (forward < 0 ? mean : forward) - backwardWeight * this.#backward[place]!;
  }

  #sort(): void {
    this.#gain();
    this.#close();
    const count = this.#size;
    const { backwardOf } = this.#options;
    if (backwardOf) this.#backward = this.#pages.map(backwardOf);
    // Value and place in one number: sorting plain numbers takes a tenth of the time of sorting with a function.
    const keys = new Float64Array(count);
    for (let place = 0; place < count; place++) {
      const value = Math.max(1 - RANGE, Math.min(RANGE - 1, Math.round(this.#valueAt(place) * STEP)));
      keys[place] = (RANGE - value) * PLACE + place;
    }
    keys.sort();
    const cuts = [0, Math.round(count / 3), Math.round((2 * count) / 3), count];
    this.#lists = [0, 1, 2].map(index => {
      const places = Array.from(keys.subarray(cuts[index]!, cuts[index + 1]!), key => key % PLACE);
      const last = places[places.length - 1];
      return { places, next: 0, least: last === undefined ? Number.POSITIVE_INFINITY : this.#valueAt(last) };
    });
    this.#sortAt = Math.max(FEWEST, Math.ceil(count * 1.25));
  }

  /** Closes the gaps that pages taken have left. */
  #close(): void {
    let to = 0;
    for (let from = 0; from < this.#pages.length; from++) {
      if (this.#pages[from] === 0) continue;
      this.#pages[to] = this.#pages[from]!;
      this.#forward[to] = this.#forward[from]!;
      this.#backward[to] = this.#backward[from]!;
      to++;
    }
    this.#pages.length = this.#forward.length = this.#backward.length = to;
  }

  /** Adds the links gained to the pages that still wait. */
  #gain(): void {
    if (this.#gained.length === 0) return;
    const gains = new Map<number, number>();
    for (const page of this.#gained) gains.set(page, (gains.get(page) ?? 0) + 1);
    for (let place = 0; place < this.#pages.length; place++) {
      const gain = gains.get(this.#pages[place]!);
      if (gain !== undefined) this.#backward[place] = this.#backward[place]! + gain;
    }
    this.#gained = [];
  }
}
