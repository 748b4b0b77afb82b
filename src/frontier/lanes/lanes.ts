/** All lanes, one for each server that anything has mentioned. The director decides which of them comes next. */

import { hostOf } from '../../base/url.ts';
import { ShapeCounter } from '../../errand/scope/traps.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { FrontierOptions } from '../options.ts';
import { CrawlLists } from '../orders/crawl-lists.ts';
import { HoldableOrder } from '../orders/holdable-order.ts';
import { makeOrder, type OrderOptions } from '../orders/order.ts';
import { pvalueTerms } from '../orders/pvalue-terms.ts';
import { domainOf, leavesOut } from './director.ts';
import type { Lane } from './lane.ts';

export interface Waiting {
  readonly pages: number;
  readonly servers: number;
  /** When the first lane that must wait may go on. */
  readonly wake: number;
}

export class Lanes {
  readonly #ledger: Ledger;
  readonly #options: Pick<FrontierOptions, 'order' | 'domains'>;
  readonly #terms: OrderOptions;
  readonly #lanes = new Map<string, Lane>();
  readonly #joined: (lane: Lane) => void;
  #pages = 0;

  /** `joined` is called when pages have come to a lane. */
  constructor(
    ledger: Ledger,
    options: Pick<FrontierOptions, 'order' | 'domains' | 'pvalue'>,
    joined: (lane: Lane) => void = () => {},
  ) {
    this.#ledger = ledger;
    this.#options = options;
    const { lists, ...terms } = options.pvalue ?? pvalueTerms;
    const crawl = options.order === 'pvalue' && lists === 'crawl' ? new CrawlLists(terms.service) : undefined;
    this.#terms = { ...terms, indexed: () => ledger.visits.last, ...(crawl && { crawl }) };
    this.#joined = joined;
  }

  [Symbol.iterator](): Iterator<Lane> {
    return this.#lanes.values();
  }

  /** The lane of a server; makes it if there is none. */
  of(origin: string): Lane {
    const known = this.#lanes.get(origin);
    if (known) return known;
    const { links, servers } = this.#ledger;
    const topLevelDomain = domainOf(this.#options.domains, hostOf(origin));
    const counts = !leavesOut(this.#options.domains, topLevelDomain);
    const order = makeOrder(this.#options.order, { ...this.#terms, backwardOf: page => links.backward.of(page) });
    const changed = (by: number) => {
      if (counts) this.#pages += by;
      if (by >= 0) this.#joined(lane);
    };
    const lane: Lane = {
      server: servers.of(origin),
      topLevelDomain,
      order: new HoldableOrder(order, changed),
      shapes: new ShapeCounter(),
      errands: 0,
      elsewhere: 0,
      views: new Map(),
      pages: 0,
    };
    this.#lanes.set(origin, lane);
    return lane;
  }

  /** By the number that the ledger gave the server. */
  ofServer(id: number): Lane {
    return this.of(this.#ledger.servers.byId(id).origin);
  }

  /** Pages that wait, without those of domains whose weight is 0. */
  get pages(): number {
    return this.#pages;
  }

  waiting(now: number): Waiting {
    const sum = { pages: 0, servers: 0, wake: Number.POSITIVE_INFINITY };
    for (const lane of this.#lanes.values()) {
      const { held } = lane.order;
      const size = lane.order.size + lane.elsewhere;
      if (size + held === 0 || leavesOut(this.#options.domains, lane.topLevelDomain)) continue;
      sum.pages += size + held;
      sum.servers++;
      if (size > 0 && lane.errands === 0 && !lane.server.paused)
        sum.wake = Math.min(sum.wake, Math.max(now, lane.server.notBefore));
    }
    return sum;
  }
}
