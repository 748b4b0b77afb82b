/**
 * What people order holds on all machines: an order that is given to one peer is kept in the engine, and every peer applies it,
 * also one that joins later or is started again. The newest order of each kind counts; pausing, stopping and a limit of
 * pages are orders about one run.
 */
import { z } from 'zod';
import { seedUrl } from '../../base/url.ts';
import { SharedRecord } from '../../cluster/shared-record.ts';
import type { WatchedBucket } from '../../cluster/watched-bucket.ts';
import { orderSchema, type SteerOrder } from '../../home/orders.ts';
import type { ClusterTerms } from '../engine.ts';

/** Far from where whole numbers end: each order adds one. */
const count = z
  .int()
  .min(0)
  .max(2 ** 48);

export const steeringForm = z.object({
  /** Counts all orders. */
  last: count,
  orders: z.record(z.string().max(5000), z.object({ number: count, run: count.nullable(), order: orderSchema })),
});

/** Orders that are remembered about single servers, and seeds that are on their way to their peers. */
const MOST_ORDERS = 5000;
const MOST_SEEDS = 2000;

/** Orders of one key replace each other; undefined = it is about a page, and not for all. */
function keyOf(order: SteerOrder): string | undefined {
  switch (order.kind) {
    case 'pause':
    case 'resume':
    case 'stop':
      return 'state';
    case 'pace':
    case 'limit':
    case 'filters':
    case 'add':
      return order.kind;
    case 'server': {
      const about = { pause: 'paused', resume: 'paused', exclude: 'scope', include: 'scope', pace: 'pace' } as const;
      return `server ${about[order.action]} ${order.origin}`;
    }
    default:
      return undefined;
  }
}

const ofOneRun = (order: SteerOrder): boolean => ['pause', 'resume', 'stop', 'limit'].includes(order.kind);

/** What follows from orders for the peer itself. */
interface Consequences {
  readonly stopped: () => void;
  /** Seeds of the crawl, for partitions that begin later. */
  readonly add: (seeds: string[]) => Promise<void>;
}

type SteeringPort = ClusterTerms['steering'];

export class Steering {
  readonly #record: SharedRecord<z.infer<typeof steeringForm>>;
  readonly #run: () => number;
  #apply: ((order: SteerOrder) => Promise<void>) | undefined;
  #applied = 0;
  /** The partitions that the orders were last applied to. */
  #partitions = '';
  #busy = false;

  constructor(meta: WatchedBucket, run: () => number) {
    this.#record = new SharedRecord(meta, 'steering', steeringForm);
    this.#run = run;
  }

  /** For whoever takes orders here and applies those of others. */
  port({ stopped, add }: Consequences): SteeringPort {
    return {
      share: async order => {
        await this.#share(order);
        if (order.kind === 'stop') stopped();
        if (order.kind === 'add') await add(order.urls.map(seedUrl));
      },
      attach: apply => {
        this.#apply = async order => {
          if (order.kind === 'stop') stopped();
          await apply(order);
        };
      },
    };
  }

  /**
   * Throws a sentence where the orders cannot be read. Where nobody works, whoever starts now wants to work, however the
   * last ones were stopped.
   */
  async begin(othersWork: boolean): Promise<void> {
    await this.#record.change(now => {
      if (!now?.orders['state'] || othersWork) return now ?? { last: 0, orders: {} };
      const { state: _, ...orders } = now.orders;
      return { ...now, orders };
    });
  }

  /** For all peers; this one has applied it already. */
  async #share(order: SteerOrder): Promise<void> {
    const key = keyOf(order);
    if (key === undefined) return;
    await this.#record.change(now => {
      const before = now ?? { last: 0, orders: {} };
      const known = before.orders[key]?.order;
      const number = before.last + 1;
      const whole =
        order.kind === 'add' && known?.kind === 'add'
          ? { ...order, urls: [...new Set([...known.urls, ...order.urls])].slice(-MOST_SEEDS) }
          : order;
      const orders = { ...before.orders, [key]: { number, run: ofOneRun(order) ? this.#run() : null, order: whole } };
      const newest = Object.entries(orders).sort(([, one], [, two]) => two.number - one.number);
      return { last: number, orders: Object.fromEntries(newest.slice(0, MOST_ORDERS)) };
    });
  }

  /** Called several times a second: applies what is new; to partitions that came, everything that holds. */
  turn(partitions: Iterable<{ readonly id: number }>): void {
    const apply = this.#apply;
    const now = this.#record.value;
    if (!apply || !now || this.#busy) return;
    const here = [...partitions].map(({ id }) => id).join(' ');
    const after = here === this.#partitions ? this.#applied : 0;
    if (now.last <= after) return;
    const due = Object.values(now.orders)
      .filter(({ number, run }) => number > after && (run === null || run === this.#run()))
      .sort((one, two) => one.number - two.number);
    this.#busy = true;
    void (async () => {
      for (const { order } of due) await apply(order);
      this.#applied = now.last;
      this.#partitions = here;
    })()
      .catch(() => undefined) // the run ends
      .finally(() => {
        this.#busy = false;
      });
  }
}
