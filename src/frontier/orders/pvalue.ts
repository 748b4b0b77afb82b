/**
 * The order of the paper on redistributing URLs: pvalue = af·FwdLK − af·BkLK, highest first, so that pages which lead
 * on come before pages that everyone links to already. The sorted pages are cut into three lists of equal size, and
 * for every four pages of the first list two of the second and one of the third are served, so that none waits
 * for ever.
 *
 * Where we differ. (1) One common factor af cannot change an order, so forward and backward links have a weight each,
 * and with aging weight moves from the first to the second as the collection grows, which the paper asks for in words.
 * (2) FwdLK cannot be known before the page is fetched, as the paper would have it: a page that was visited has its own,
 * and the mean of the pages fetched from the same server stands in for the others. Among pages of one server, none
 * fetched, the order therefore goes by BkLK alone. (3) Sorting at every new page is not needed: a page that comes between
 * two sorts joins the end of the list whose range holds its pvalue, and all is sorted again when as many as a quarter have
 * come. (4) The lists are the paper's own, over all servers, only where they are shared (crawl-lists.ts).
 *
 * Use it to discover pages, never to decide when to refresh one. Invariant: every waiting page is in exactly one list.
 */
import type { CrawlLists } from './crawl-lists.ts';
import type { Hint, Order } from './order-port.ts';

export interface PvalueOptions {
  readonly forwardWeight: number;
  readonly backwardWeight: number;
  /** Pages indexed at which both weights count as they are, forward ones more before and less after; 0 = always. */
  readonly aging: number;
  /** Pages of each list that are served in turn. */
  readonly service: readonly number[];
  /** How many pages are indexed, for aging. */
  readonly indexed?: () => number;
  /** Lists that are shared with the other servers; absent = this one has its own. */
  readonly crawl?: CrawlLists;
  /** Exact BkLK of a page, where someone keeps count: asked at every sort, and backward() is then not needed. */
  readonly backwardOf?: (page: number) => number;
}

export const pvalueDefaults: PvalueOptions = { forwardWeight: 1, backwardWeight: 1, aging: 0, service: [4, 2, 1] };

/** Pvalues are compared in sixteenths, and within ±32,768: more would not fit beside the place in one sort key. */
const STEP = 16;
const RANGE = 2 ** 19;
const PLACE = 2 ** 32;
/** Sorting fewer pages than this again and again would cost more than it orders. */
const FEWEST = 16;

/** Places of pages: those of the last sort, best first, and those that joined since. */
interface PlaceList {
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
  #lists: PlaceList[] = [];
  #size = 0;
  /** Places, gaps included, at which it is time to sort again. */
  #sortAt = 0;
  /** Which list each page of a round comes from. */
  readonly #service: readonly number[];
  #turn = 0;
  readonly #seen = { pages: 0, links: 0 };

  constructor(options: PvalueOptions = pvalueDefaults) {
    this.#options = options;
    this.#service = options.service.flatMap((pages, list) => Array<number>(pages).fill(list));
    options.crawl?.join(this);
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
    const { crawl } = this.#options;
    crawl?.came();
    if (this.#lists.length === 0) {
      if (crawl) this.#sort();
      return;
    }
    const value = this.#valueAt(place);
    const own = this.#lists.findIndex(list => value >= list.least);
    const list = crawl ? crawl.listOf(value) : own < 0 ? 2 : own;
    this.#lists[list]!.places.push(place);
    crawl?.count(list, 1);
  }

  take(count: number): number[] {
    if (this.#options.crawl) return this.#takeShared(count, this.#options.crawl);
    if (this.#lists.length === 0 || this.#pages.length >= this.#sortAt) this.#sort();
    const pages: number[] = [];
    while (pages.length < count && this.#size > 0) {
      const list = this.#lists[this.#service[this.#turn]!]!;
      this.#turn = (this.#turn + 1) % this.#service.length;
      if (list.next < list.places.length) pages.push(this.#pop(list)); // an empty list gives its turn away
    }
    return pages;
  }

  /** Pages of the list whose turn it is among all servers, or of the best that there is here. */
  #takeShared(count: number, crawl: CrawlLists): number[] {
    crawl.settle();
    const wanted = crawl.next();
    const list = left(this.#lists[wanted]) > 0 ? wanted : this.#lists.findIndex(each => left(each) > 0);
    if (list < 0) return [];
    const pages: number[] = [];
    const from = this.#lists[list]!;
    while (pages.length < Math.min(count, crawl.most(list)) && left(from) > 0) pages.push(this.#pop(from));
    crawl.serve(list, pages.length);
    return pages;
  }

  /** Whether its turn has come among all servers. */
  get called(): boolean {
    const { crawl } = this.#options;
    if (!crawl) return true;
    crawl.settle();
    return left(this.#lists[crawl.next()]) > 0;
  }

  values(): number[] {
    this.#count();
    return this.#pages.flatMap((page, place) => (page === 0 ? [] : [this.#valueAt(place)]));
  }

  relist(): void {
    this.#sort();
  }

  #pop(list: PlaceList): number {
    const place = list.places[list.next++]!;
    const page = this.#pages[place]!;
    this.#pages[place] = 0;
    this.#size--;
    return page;
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
    const { forwardWeight, backwardWeight, aging, indexed } = this.#options;
    const age = aging > 0 ? (2 * (indexed?.() ?? 0)) / (aging + (indexed?.() ?? 0)) : 1; // 0 at first, 2 in the end
    const mean = this.#seen.pages === 0 ? 0 : this.#seen.links / this.#seen.pages;
    const forward = this.#forward[place]!;
    return (2 - age) * forwardWeight * (forward < 0 ? mean : forward) - age * backwardWeight * this.#backward[place]!;
  }

  /** Counts the links to each page anew. */
  #count(): void {
    this.#gain();
    const { backwardOf } = this.#options;
    if (backwardOf) this.#backward = this.#pages.map(page => (page === 0 ? 0 : backwardOf(page)));
  }

  #sort(): void {
    const { crawl } = this.#options;
    for (const [index, list] of this.#lists.entries()) crawl?.count(index, -left(list));
    this.#close();
    this.#count();
    const sorted = this.#sorted();
    const cuts = crawl ? this.#sharedCuts(sorted, crawl) : equalCuts(sorted.length);
    this.#lists = [0, 1, 2].map(index => {
      const places = sorted.slice(cuts[index]!, cuts[index + 1]!);
      crawl?.count(index, places.length);
      const last = places[places.length - 1];
      return { places, next: 0, least: last === undefined ? Number.POSITIVE_INFINITY : this.#valueAt(last) };
    });
    this.#sortAt = Math.max(FEWEST, Math.ceil(sorted.length * 1.25));
  }

  /** Where the shared lists begin and end among these places. */
  #sharedCuts(sorted: readonly number[], crawl: CrawlLists): number[] {
    const first = (list: number) => {
      const found = sorted.findIndex(place => crawl.listOf(this.#valueAt(place)) >= list);
      return found < 0 ? sorted.length : found;
    };
    return [0, first(1), first(2), sorted.length];
  }

  /** Places of all pages, best first. */
  #sorted(): number[] {
    const count = this.#size;
    // Value and place in one number: sorting plain numbers takes a tenth of the time of sorting with a function.
    const keys = new Float64Array(count);
    for (let place = 0; place < count; place++) {
      const value = Math.max(1 - RANGE, Math.min(RANGE - 1, Math.round(this.#valueAt(place) * STEP)));
      keys[place] = (RANGE - value) * PLACE + place;
    }
    return Array.from(keys.sort(), key => key % PLACE);
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

/** Pages of a list that were not taken. */
function left(list: PlaceList | undefined): number {
  return list ? list.places.length - list.next : 0;
}

/** Thirds, as the paper cuts five into two, one and two. */
function equalCuts(count: number): number[] {
  return [0, Math.round(count / 3), Math.round((2 * count) / 3), count];
}
