/**
 * What the search feeder costs a crawl: the same crawl of the web without sockets (test/web/synthetic.ts), without and
 * with the feeder, taken in turns; the median of the ratios counts. The crawl has no delay and uses all cores, which is the hardest
 * case: a polite crawl leaves them idle most of the time.
 *
 *   node bench/index-while-crawling.ts [--pages 4000] [--rounds 5]
 *
 * Also printed: how much of the collection could be found when the crawl ended, how long the rest took, and how long
 * after a look that found a change, while nothing else is to be done, the page is found by its new words.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openHome } from '../src/cli/compose.ts';
import { options as known, values } from '../src/cli/options.ts';
import { bringUp, feederOf, searchFile } from '../src/home/indexing.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { openSearch } from '../src/search/index.ts';
import { html, openPages } from '../test/journeys/pages.ts';

const { values: given } = parseArgs({
  options: { pages: { type: 'string', default: '4000' }, rounds: { type: 'string', default: '5' } },
});
const pages = Number(given.pages);
const rounds = Number(given.rounds);
const WANTED = 0.1;
const cache = join(import.meta.dirname, '..', '.cache', 'bench');
const fetcher = {
  module: new URL('../test/web/synthetic.ts', import.meta.url).href,
  options: { seed: 5, servers: 40, pagesPerServer: 10_000, links: 40, sentences: 60 },
};

interface Run {
  readonly seconds: number;
  readonly processor: number;
  /** Share of the pages that could be found when the crawl ended, and seconds for the others. */
  readonly found: number;
  readonly rest: number;
}

async function open(name: string, seeds: readonly string[], more: Record<string, unknown>, web = true) {
  const data = join(cache, `indexing-${name}`);
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const names = Object.keys(known) as (keyof typeof known)[];
  const chosen = await values({ data, pace: 0, connections: 8, scope: '*', ...more }, names);
  return { data, opened: await openHome(chosen, seeds, web ? { fetcher } : {}) };
}

async function crawl(feed: boolean, most: number): Promise<Run> {
  const { data, opened } = await open('crawl', ['http://s0.test/'], { maxPages: most });
  const indexing = feed ? feederOf(data) : undefined;
  const [started, before] = [performance.now(), process.cpuUsage()];
  await opened.home.run(crawlSupply(opened, 0));
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(before);
  await indexing?.stop();
  const collected = opened.home.progress.outcomes.fetched;
  await opened.close();
  const search = openSearch(searchFile(data));
  const found = search.counts().documents / collected;
  const resumed = performance.now();
  if (feed) await bringUp(data, search, () => {});
  const rest = (performance.now() - resumed) / 1000;
  search.close();
  rmSync(data, { recursive: true, force: true });
  return { seconds, processor: (user + system) / 1e6, found, rest };
}

/** The second page comes so late that the feeder has nothing to do by then. */
const lonely = { allowPrivate: true, pace: 3 };

/** Seconds from the moment that home has committed a change until it is found. */
async function lag(): Promise<number> {
  await using web = await openPages();
  web.set('/', { body: html('Start', ['unhurried words'], ['/late']) });
  web.set('/late', { body: html('Late', ['perambulation']) });
  const { data, opened } = await open('lag', [`${web.origin}/`], lonely, false);
  const indexing = feederOf(data);
  const running = opened.home.run(crawlSupply(opened, 0));
  const search = openSearch(searchFile(data));
  const finds = async (word: string) => {
    while (search.query(word).total === 0) await new Promise(resolve => setTimeout(resolve, 5));
  };
  await finds('unhurried');
  const late = opened.ledger.database.prepare(
    `SELECT 1 FROM visits JOIN pages p ON p.id = page WHERE url LIKE '%/late'`,
  );
  while (late.get() === undefined) await new Promise(resolve => setTimeout(resolve, 5));
  const started = performance.now();
  await finds('perambulation');
  const seconds = (performance.now() - started) / 1000;
  await running;
  await indexing.stop();
  await opened.close();
  search.close();
  rmSync(data, { recursive: true, force: true });
  return seconds;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}

// Compilers warm up on a smaller crawl, which is not counted.
await crawl(true, Math.min(pages, 1000));
const runs = { without: [] as Run[], with: [] as Run[] };
for (let round = 0; round < rounds; round++) {
  runs.without.push(await crawl(false, pages));
  runs.with.push(await crawl(true, pages));
}
for (const [name, list] of Object.entries(runs)) {
  const seconds = median(list.map(run => run.seconds));
  const processor = median(list.map(run => run.processor));
  console.log(
    `${name.padEnd(8)} ${(pages / seconds).toFixed(0)} pages/s, ${processor.toFixed(1)} s of processor (${list.map(run => run.seconds.toFixed(1)).join(', ')} s)`,
  );
}
// Of neighbours, so that what else the machine does weighs on both alike.
const slower = median(runs.with.map((run, round) => run.seconds / runs.without[round]!.seconds)) - 1;
const found = median(runs.with.map(run => run.found));
const rest = median(runs.with.map(run => run.rest));
console.log(`found when the crawl ended: ${(100 * found).toFixed(0)} %; the rest took ${rest.toFixed(1)} s more`);
const load = loadavg()[0]!.toFixed(1);
console.log(`a change is found ${(await lag()).toFixed(1)} s after it was committed`);
const verdict = slower < WANTED ? 'met' : 'missed';
console.log(`at a load of ${load} slower by ${(100 * slower).toFixed(1)} %, target ${100 * WANTED} % (${verdict})`);
