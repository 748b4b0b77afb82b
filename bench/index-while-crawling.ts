/**
 * What the search feeder costs a crawl at full speed, and how soon a change is found meanwhile. The web has no sockets
 * (test/web/synthetic.ts), nothing is paced and all cores are used, which is the hardest case: a polite crawl leaves them
 * idle most of the time. Everything is done without and with the feeder, in turns; medians count.
 *
 *   node bench/index-while-crawling.ts [--pages 20000] [--rounds 3] [--changes 0.05]
 *
 * `crawl` is a first crawl, every page new. `refresh` looks at all its pages again, of which a share changed; the index is
 * up to date when it begins. `behind` is the same while no page is in the index yet: changes must be found before the
 * backlog. Each begins with a copy of the same collection, complete and refreshed once, because a second look at the same
 * collection has more to do than the first. At last one change while nothing else is to be done.
 */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { keepFresh } from '../src/cli/commands/refresh.ts';
import { openHome } from '../src/cli/options/engine-options.ts';
import { options as known, values } from '../src/cli/options/options.ts';
import { bringUp, feederOf, searchFile, steer } from '../src/home/indexing/indexing.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { openSearch } from '../src/search/index.ts';
import { html, openPages } from '../test/journeys/pages.ts';

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
    changes: { type: 'string', default: '0.05' },
  },
});
const rounds = Number(given.rounds);
const changeShare = Number(given.changes);
/** Slow-down, and seconds: median and 95%. */
const WANTED = 0.1;
const [SOON, LATE] = [5, 8];
/** Milliseconds between two looks at what can be found, and after the end of a run for the last of it. */
const LOOK = 500;
const PATIENCE = 20_000;
/** Times that all pages are looked at in one run: once takes three seconds. */
const LOOKS = 3;
const cache = join(import.meta.dirname, '..', '.cache', 'bench');
const SERVERS = 40;
const web = {
  ...{ seed: 5, servers: SERVERS, pagesPerServer: Math.ceil(Number(given.pages) / SERVERS), links: 40, sentences: 60 },
  // 72,603 links of real documentation have 1.6 different texts a page.
  ...{ texts: 2, changeShare },
};
const pages = web.servers * web.pagesPerServer;
const fetcherAt = (moment: number) => ({
  module: new URL('../test/web/synthetic.ts', import.meta.url).href,
  options: { ...web, moment },
});

interface Run {
  readonly seconds: number;
  readonly processor: number;
  /** Seconds of processor that the feeder took of these. */
  readonly feeding: number;
  /** Share of the pages that could be found at the end. */
  readonly found: number;
  /** Seconds from the fetch of each page that had changed until the change was found. */
  readonly lags: readonly number[];
}

async function chosen(name: string, more: Record<string, unknown>) {
  const names = Object.keys(known) as (keyof typeof known)[];
  return values({ data: join(cache, name), pace: 0, connections: 8, scope: '*', ...more }, names);
}

function empty(name: string): void {
  rmSync(join(cache, name), { recursive: true, force: true });
  mkdirSync(join(cache, name), { recursive: true });
}

/** Measures `work`, with a feeder that takes what home would let it, or without. */
async function measured(data: string, feed: boolean, work: () => Promise<unknown>): Promise<Run> {
  const feeder = feed ? feederOf(data) : undefined;
  // That it starts, once a run, is not what is asked here.
  while (feeder && feeder.report() === undefined) await pause(10);
  const steering = feeder && steer(feeder);
  const watched = feed ? watchLags(data) : undefined;
  const taken = () => (feeder?.report()?.processor ?? 0) / 1000;
  const [started, before, earlier] = [performance.now(), process.cpuUsage(), taken()];
  await work();
  const feeding = taken() - earlier;
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  const search = openSearch(searchFile(data));
  const found = search.counts().documents / pages;
  search.close();
  const lags = watched ? await watched() : [];
  steering?.();
  await feeder?.stop();
  return { seconds, processor: (user + system) / 1e6, feeding, found, lags };
}

async function crawl(name: string, feed: boolean, most: number): Promise<Run> {
  empty(name);
  const given = await chosen(name, { maxPages: most });
  const opened = await openHome(given, ['http://s0.test/'], { fetcher: fetcherAt(0) });
  const run = await measured(given.data, feed, () => opened.run(crawlSupply(opened, 0)));
  await opened.close();
  return run;
}

/** A collection that was crawled, looked at once more and indexed, as it is every day. */
async function settle(): Promise<void> {
  await crawl('settled', false, pages);
  await look('settled', 0);
  const data = join(cache, 'settled');
  const search = openSearch(searchFile(data));
  await bringUp(data, search, () => {});
  search.close();
}

async function look(name: string, moment: number): Promise<void> {
  await keepFresh('refresh', await chosen(name, { budget: '100%' }), { fetcher: fetcherAt(moment) });
}

async function refresh(feed: boolean, indexed: boolean): Promise<Run> {
  empty('indexing');
  const data = join(cache, 'indexing');
  cpSync(join(cache, 'settled'), data, { recursive: true });
  if (!indexed) rmSync(searchFile(data));
  return measured(data, feed, async () => {
    for (let moment = 1; moment <= LOOKS; moment++) await look('indexing', moment);
  });
}

/** Notes for each change from now on how long it takes until the index has it. What it gives waits for the last. */
function watchLags(data: string): () => Promise<readonly number[]> {
  const search = openSearch(searchFile(data));
  const ledger = new DatabaseSync(join(data, 'ledger.db'), { readOnly: true });
  let last = Number(ledger.prepare('SELECT max(id) AS last FROM visits').get()!['last'] ?? 0);
  const changes = ledger.prepare(
    `SELECT id, page, time FROM visits WHERE id > ? AND outcome = 'fetched' AND stage IS NOT 'first'`,
  );
  const lags: number[] = [];
  const waiting = new Map<number, number>();
  const look = () => {
    const now = Date.now();
    for (const row of changes.all(last)) {
      last = Number(row['id']);
      waiting.set(Number(row['page']), Number(row['time']));
    }
    for (const [page, changed] of search.updates.changes([...waiting.keys()])) {
      const time = waiting.get(page)!;
      if (changed < time) continue;
      lags.push((now - time) / 1000);
      waiting.delete(page);
    }
  };
  const timer = setInterval(look, LOOK);
  return async () => {
    const patience = performance.now() + PATIENCE;
    look();
    while (waiting.size > 0 && performance.now() < patience) await pause(LOOK);
    clearInterval(timer);
    // What is still missing has waited so long already.
    for (const time of waiting.values()) lags.push((Date.now() - time) / 1000);
    search.close();
    ledger.close();
    return lags;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms));
}

/** Seconds from the moment that home has committed a change until it is found, while nothing else is to be done. */
async function quietLag(): Promise<number> {
  await using small = await openPages();
  small.set('/', { body: html('Start', ['unhurried words'], ['/late']) });
  small.set('/late', { body: html('Late', ['perambulation']) });
  empty('indexing');
  // The second page comes so late that the feeder has nothing to do by then.
  const given = await chosen('indexing', { allowPrivate: true, pace: 3 });
  const opened = await openHome(given, [`${small.origin}/`]);
  const feeder = feederOf(given.data);
  const running = opened.run(crawlSupply(opened, 0));
  const search = openSearch(searchFile(given.data));
  while (search.query('unhurried').total === 0) await pause(5);
  const late = opened.ledger['database'].prepare(
    `SELECT 1 FROM visits JOIN pages p ON p.id = page WHERE url LIKE '%/late'`,
  );
  while (late.get() === undefined) await pause(5);
  const started = performance.now();
  while (search.query('perambulation').total === 0) await pause(5);
  const seconds = (performance.now() - started) / 1000;
  await running;
  await feeder.stop();
  await opened.close();
  search.close();
  return seconds;
}

function at(numbers: readonly number[], share: number): number {
  return [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * share))] ?? NaN;
}
const median = (numbers: readonly number[]) => at(numbers, 0.5);

/**
 * Prints the rates of one kind of run, and gives by how much it is slower with the feeder: by the clock, or by processor
 * time where the machine was not ours alone and the clock says nothing.
 */
function compare(name: string, without: readonly Run[], fed: readonly Run[]): number {
  for (const [how, runs] of [
    ['without', without],
    ['with', fed],
  ] as const) {
    const seconds = median(runs.map(run => run.seconds));
    const processor = median(runs.map(run => run.processor));
    const rate = (((name === 'crawl' ? 1 : LOOKS) * pages) / seconds).toFixed(0).padStart(5);
    const feeding = median(runs.map(run => run.feeding));
    const times = `${processor.toFixed(1)} s of processor${feeding > 0 ? `, of it ${feeding.toFixed(1)} for feeding` : ''}`;
    console.log(`${name.padEnd(8)} ${how.padEnd(8)} ${rate} visits/s, ${times}`);
  }
  // Of neighbours, so that what else the machine does weighs on both alike.
  const ratio = (of: 'seconds' | 'processor') => median(fed.map((run, round) => run[of] / without[round]![of])) - 1;
  console.log(
    `${name}: slower by ${(100 * ratio('seconds')).toFixed(1)}%, more processor by ${(100 * ratio('processor')).toFixed(1)}%`,
  );
  return loadavg()[0]! > 1.5 * availableParallelism() ? ratio('processor') : ratio('seconds');
}

// Compilers warm up on a smaller crawl, which is not counted.
await crawl('indexing', true, Math.min(pages, 1000));
await settle();
type Runs = { without: Run[]; fed: Run[] };
const runs: { crawl: Runs; refresh: Runs } = { crawl: { without: [], fed: [] }, refresh: { without: [], fed: [] } };
const behind: Runs = { without: runs.refresh.without, fed: [] };
for (let round = 0; round < rounds; round++) {
  const turns = [
    async () => runs.crawl.without.push(await crawl('indexing', false, pages)),
    async () => runs.crawl.fed.push(await crawl('indexing', true, pages)),
    async () => behind.fed.push(await refresh(true, false)),
    async () => runs.refresh.without.push(await refresh(false, true)),
    async () => runs.refresh.fed.push(await refresh(true, true)),
  ];
  for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
}
const costs = [compare('crawl', runs.crawl.without, runs.crawl.fed)];
const found = median(runs.crawl.fed.map(run => run.found));
console.log(`of the new pages ${(100 * found).toFixed(0)}% could be found when the crawl ended`);
const late: number[] = [];
for (const [name, { without, fed }] of [['refresh', runs.refresh] as const, ['behind', behind] as const]) {
  costs.push(compare(name, without, fed));
  const lags = fed.flatMap(run => run.lags);
  const [middle, most] = [median(lags), at(lags, 0.95)];
  console.log(
    `${lags.length} changes were found ${middle.toFixed(1)} s (median), ${most.toFixed(1)} s (95%) after the fetch`,
  );
  late.push(middle / SOON, most / LATE);
}
console.log(`while nothing else is to be done: ${(await quietLag()).toFixed(1)} s`);
for (const name of ['indexing', 'settled']) rmSync(join(cache, name), { recursive: true, force: true });
const more = Math.max(...costs);
console.log(`at a load of ${loadavg()[0]!.toFixed(1)}:`);
console.log(
  `feeding costs ${(100 * more).toFixed(1)}% at most, target ${100 * WANTED}% (${more < WANTED ? 'met' : 'missed'})`,
);
console.log(`target for changes: median ${SOON} s, 95% ${LATE} s (${Math.max(...late) <= 1 ? 'met' : 'missed'})`);
