/**
 * What people order holds on all machines: an order that is given to one peer is kept in the engine, and every peer applies it,
 * also one that joins later or is started again. The newest order of each kind counts; pausing, stopping, a limit of
 * pages and a budget are orders about one run. An order about one page is not kept: it goes to the peer that has the page.
 */
import { z } from 'zod';
import { SkeinError } from '../../base/errors.ts';
import { partitionOfUrl } from '../../base/partition.ts';
import { normalise, seedUrl, withScheme } from '../../base/url.ts';
import type { ClusterEngine } from '../../cluster/engine.ts';
import { scatter } from '../../cluster/rpc/scatter.ts';
import { SharedRecord } from '../../cluster/shared-record.ts';
import type { WatchedBucket } from '../../cluster/watched-bucket.ts';
import { orderSchema, readOrder, type SteerOrder } from '../../home/orders.ts';
import type { ClusterTerms } from '../engine.ts';
import { agreedOn, type ClusterCrawl } from './joining.ts';

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
    case 'budget':
      return order.kind;
    case 'server': {
      const about = { pause: 'paused', resume: 'paused', exclude: 'scope', include: 'scope', pace: 'pace' } as const;
      return `server ${about[order.action]} ${order.origin}`;
    }
    default:
      return undefined;
  }
}

const ofOneRun = (order: SteerOrder): boolean => ['pause', 'resume', 'stop', 'limit', 'budget'].includes(order.kind);

/** The page that an order is about. */
function pageOf(order: SteerOrder): string | undefined {
  if (order.kind !== 'retry' && order.kind !== 'ping' && order.kind !== 'unmask') return undefined;
  return normalise(withScheme(order.url)) ?? undefined;
}

/** What a peer answers to an order that another one sent on. */
const obeyedForm = z.union([
  z.object({ done: z.string().max(2000) }),
  z.object({ code: z.enum(['refused', 'not-found']), why: z.string().max(2000) }),
]);

interface SteeringParts {
  readonly meta: WatchedBucket;
  /** Has the seeds, for partitions that begin later, and the budget of the next run. */
  readonly crawl: SharedRecord<ClusterCrawl>;
  readonly run: () => number;
  readonly engine: Pick<ClusterEngine, 'connection' | 'layout'>;
  readonly me: string;
  readonly holderOf: (partition: number) => string | undefined;
}

type SteeringPort = ClusterTerms['steering'];

export class Steering {
  readonly #parts: SteeringParts;
  readonly #record: SharedRecord<z.infer<typeof steeringForm>>;
  #apply: ((order: SteerOrder) => Promise<string>) | undefined;
  #applied = 0;
  /** The partitions that the orders were last applied to. */
  #partitions = '';
  #busy = false;

  constructor(parts: SteeringParts) {
    this.#parts = parts;
    this.#record = new SharedRecord(parts.meta, 'steering', steeringForm);
  }

  /** For whoever takes orders here and applies those of others. `stopped`: all were told to stop. */
  port(stopped: () => void): SteeringPort {
    return {
      share: async order => {
        await this.#share(order);
        if (order.kind === 'stop') stopped();
        if (order.kind === 'add') await this.#agree({ seeds: order.urls.map(seedUrl), values: {} });
        if (order.kind === 'budget') await this.#agree({ seeds: [], values: { budget: order.amount } });
      },
      forward: order => this.#forward(order),
      attach: apply => {
        this.#apply = async order => {
          if (order.kind === 'stop') stopped();
          return await apply(order);
        };
      },
    };
  }

  async #agree({ seeds, values }: ClusterCrawl): Promise<void> {
    await this.#parts.crawl.change(now => agreedOn(now, { seeds, values: {} }, values));
  }

  /** Obeys an order about a page here that another peer was given. */
  async obey(given: unknown): Promise<z.infer<typeof obeyedForm>> {
    try {
      const order = readOrder(given);
      if (pageOf(order) === undefined || !this.#apply) throw new SkeinError('refused', 'This peer cannot do that now.');
      return { done: await this.#apply(order) };
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error;
      return { code: error.code === 'not-found' ? 'not-found' : 'refused', why: error.message };
    }
  }

  async #forward(order: SteerOrder): Promise<string | undefined> {
    const { engine, me, holderOf } = this.#parts;
    const page = pageOf(order);
    if (page === undefined) return undefined;
    const holder = holderOf(partitionOfUrl(page, engine.layout.partitions));
    if (holder === me) return undefined;
    if (holder === undefined)
      throw new SkeinError(
        'refused',
        'The partition of the page is moving to another peer.',
        'Try again in some seconds.',
      );
    const { answers, silent } = await scatter(engine.connection, [holder], { name: 'obey', args: order });
    const why = silent.get(holder);
    if (why !== undefined)
      throw new SkeinError('incomplete', `The peer ${holder}, which has the page, cannot be reached: ${why}`);
    const told = obeyedForm.safeParse(answers.get(holder)).data;
    if (!told)
      throw new SkeinError('refused', `The peer ${holder} sent a malformed answer.`, 'It may run another Skein.');
    if ('done' in told) return `${told.done} (${holder})`;
    throw new SkeinError(told.code, told.why);
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
      const orders = {
        ...before.orders,
        [key]: { number, run: ofOneRun(order) ? this.#parts.run() : null, order: whole },
      };
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
      .filter(({ number, run }) => number > after && (run === null || run === this.#parts.run()))
      .sort((one, two) => one.number - two.number);
    this.#busy = true;
    void (async () => {
      for (const { order } of due) await applied(apply(order));
      this.#applied = now.last;
      this.#partitions = here;
    })()
      .catch(() => undefined) // the run ends
      .finally(() => {
        this.#busy = false;
      });
  }
}

/** An order that has no meaning here (another's server, another command) is passed over. */
async function applied(done: Promise<string>): Promise<void> {
  try {
    await done;
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
}
