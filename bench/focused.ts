/**
 * Does the focused order earn its name? The same web without sockets, whose pages have topics that keep together along
 * its links, is crawled breadth first and focused on one topic's word, with the same number of fetches; what counts is
 * how many of the pages fetched are of that topic.
 *
 *   node bench/focused.ts [--fetches 5000] [--topics 20] [--locality 0.85]
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openHome } from '../src/cli/options/engine-options.ts';
import { options as known, values } from '../src/cli/options/options.ts';
import { crawlSupply } from '../src/home/supply.ts';
import {
  type SyntheticOptions,
  syntheticDefaults,
  syntheticPage,
  syntheticTopic,
  topicWord,
} from '../test/web/synthetic.ts';
import { grid } from './peers/report.ts';

const cache = join(import.meta.dirname, '..', '.cache', 'bench');
const { values: options } = parseArgs({
  options: {
    fetches: { type: 'string', default: '5000' },
    topics: { type: 'string', default: '20' },
    locality: { type: 'string', default: '0.85' },
  },
});

interface Found {
  readonly fetched: number;
  readonly relevant: number;
}

async function crawl(web: SyntheticOptions, topic: number, focus: string): Promise<Found> {
  const data = join(cache, 'focused');
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const names = Object.keys(known) as (keyof typeof known)[];
  const given = { data, pace: 0, connections: 4, scope: '*', maxPages: options.fetches, focus };
  const fetcher = { module: new URL('../test/web/synthetic.ts', import.meta.url).href, options: web };
  const opened = await openHome(await values(given, names), ['http://s0.test/'], { fetcher });
  await opened.run(crawlSupply(opened, 0));
  let [fetched, relevant] = [0, 0];
  const { pages } = opened.ledger;
  for (let id = 1; id <= pages.size; id++) {
    if (pages.known(id)?.status !== 200) continue;
    fetched++;
    const place = syntheticPage(web, pages.get(id)!.url);
    if (place !== undefined && syntheticTopic(web, place) === topic) relevant++;
  }
  await opened.close();
  rmSync(data, { recursive: true, force: true });
  return { fetched, relevant };
}

/** Within one server only the server's order decides; with many, also which server is asked next. */
const SHAPES = [
  { name: 'one server', servers: 1, pagesPerServer: 50_000 },
  { name: 'many servers', servers: 200, pagesPerServer: 500 },
] as const;

const perThousand = ({ fetched, relevant }: Found): number => (relevant * 1000) / Math.max(1, fetched);

for (const { name, servers, pagesPerServer } of SHAPES) {
  const rows = [];
  const sums = { breadth: 0, focused: 0 };
  for (const seed of [1, 2, 3]) {
    const topics = Number(options.topics);
    const web = { ...syntheticDefaults, seed, servers, pagesPerServer, topics, locality: Number(options.locality) };
    const topic = seed % topics;
    const breadth = await crawl(web, topic, '');
    const focused = await crawl(web, topic, topicWord(topic));
    sums.breadth += perThousand(breadth);
    sums.focused += perThousand(focused);
    const cells = [breadth, focused].flatMap(found => [String(found.fetched), perThousand(found).toFixed(0)]);
    rows.push([`${name}, seed ${seed}`, ...cells, `${(perThousand(focused) / perThousand(breadth)).toFixed(1)} ×`]);
  }
  const header = ['', 'breadth: fetched', 'relevant / 1,000', 'focused: fetched', 'relevant / 1,000', 'focused finds'];
  console.log(`\n${grid([header, ...rows])}`);
  const ratio = sums.focused / sums.breadth;
  console.log(
    `${name}: focused finds more relevant pages per 1,000 fetches than breadth: ${ratio.toFixed(1)} × (${ratio > 1 ? 'met' : 'missed'})`,
  );
}
