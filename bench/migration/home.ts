/**
 * One run of home for the benches: `home.ts JSON`. Crawls the seeds, or refreshes everything that is known, on the given
 * day, and prints how it went.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DAY, systemClock } from '../../src/base/clock.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { type Chosen, chosen } from '../../test/journeys/collection.ts';
import { type Account, openAccount } from './account.ts';

export interface Order {
  readonly data: string;
  /** File of seeds, for a crawl; none = refresh. */
  readonly seeds?: string;
  readonly day: number;
  /** Where outposts dial; none = home fetches itself. */
  readonly listen?: string;
  /** Outposts that have to be there before the crawl begins. */
  readonly meet?: number;
  readonly options?: Record<string, unknown>;
}

export interface Result {
  readonly visits: number;
  readonly fetched: number;
  readonly same: number;
  readonly failed: number;
  readonly ms: number;
  /** Images that changed and came, which the limit of pages does not know. */
  readonly images: { readonly count: number; readonly bytes: number };
  /** Processor seconds of home's process. */
  readonly cpu: number;
  /** Bytes of frames by cause. */
  readonly account: Account;
}

const order = JSON.parse(process.argv[2]!) as Order;
const clockShift = new SharedArrayBuffer(8);
// The sites' clock begins in January 2025; ours goes on from today, which makes no difference to anybody.
new Float64Array(clockShift)[0] = order.day * DAY;
const far = order.listen === undefined ? { threads: 2 } : { threads: 0, listen: order.listen };
const values: Chosen = chosen(order.data, {
  connections: 8,
  ...far,
  policy: 'uniform',
  budget: '1000000',
  ...order.options,
});
const account = openAccount();
const started = performance.now();
const since = Date.now() + order.day * DAY;
let outcomes: Readonly<Record<string, number>> = {};
if (order.seeds === undefined) {
  await keepFresh('refresh', values, { clockShift }, async opened => {
    outcomes = opened.home.progress.outcomes;
    return async () => {};
  });
} else {
  const seeds = readFileSync(order.seeds, 'utf8').trim().split('\n');
  const opened = await openHome(values, seeds, { clockShift });
  outcomes = opened.home.progress.outcomes;
  await opened.ready();
  while (opened.home.dispatch.posts.all.length < (order.meet ?? 0)) await systemClock.sleep(50);
  await opened.run(crawlSupply(opened, 20_000));
  await opened.close();
}
const { fetched = 0, same = 0, failed = 0 } = outcomes;
const visits = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
const { user, system } = process.cpuUsage();
const spent = { ms: performance.now() - started, cpu: (user + system) / 1e6, account: account() };
const images = imagesSince(since);
console.log(JSON.stringify({ visits, fetched, same, failed, images, ...spent } satisfies Result));
process.exit(0);

function imagesSince(time: number): Result['images'] {
  const database = new DatabaseSync(join(order.data, 'ledger.db'), { readOnly: true });
  const row = database
    .prepare(
      `SELECT count(*) AS count, coalesce(sum(known.bytes), 0) AS bytes FROM known JOIN pages ON pages.id = known.page
       WHERE pages.role = 2 AND known.outcome = 'fetched' AND known.time >= ?`,
    )
    .get(time);
  database.close();
  return row as unknown as Result['images'];
}
