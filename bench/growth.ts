/**
 * Does Skein slow down, or swell, as the collection grows? One crawl of a web without sockets (test/web/synthetic.ts,
 * 1,000 servers of 100,000 pages, 20 links a page), watched at given numbers of known URLs. The web is so large that a
 * page brings as many new links late as early, so that only the size of the collection differs.
 *
 *   node bench/growth.ts [--known 3000000] [--ten-million] [--threads N] [--keep] [--repeat 1]
 *
 * With --repeat it runs so often, in processes of their own, and the median counts: a mark is two seconds long, and a slow
 * moment of the machine at one of them is a fifth of its speed.
 *
 * Memory is looked at while the crawl pauses, after garbage collection in all threads; bytes per known URL is the growth
 * of resident memory between 100,000 known URLs and the mark. Home learns of many URLs between two looks of ours, so each
 * mark says how many were known. pages/s and pages per CPU second are taken over 5,000 pages behind each mark.
 *
 * The collection has to be V8's last resort. After any other V8 keeps the pages of memory that became free for another
 * eight seconds, for all threads together: between nothing and 70 MB, whatever is known. With these in it the same
 * program took 184 bytes per URL in one run and less than none in another. By kinds of mappings (/proc/self/smaps) it was
 * the only part that moved both ways; what is left grows steadily: home's tables by 29 bytes per URL, the heaps of V8 by
 * 7, the allocator's gaps, and caches that are full by 1,000,000, which is why the figure falls from there on.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openHome } from '../src/cli/options/engine-options.ts';
import { options as known, values } from '../src/cli/options/options.ts';
import type { Engine } from '../src/engine/engine.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { collector } from './growth-fetcher.ts';
import { grid } from './peers/report.ts';

const WINDOW = 5000;
/** Pages before these: the last resort throws compiled code away, too. */
const WARM = 2000;
/** Looks at memory at a mark, 200 ms apart: threads collect when they find the time. */
const LOOKS = 8;
/** By then the ledger is larger than SQLite's cache of 16 MB: what has a fixed size has reached it. */
const BASE = 100_000;
const MILLION = 1_000_000;
const cache = join(import.meta.dirname, '..', '.cache', 'bench');

const { values: options } = parseArgs({
  options: {
    known: { type: 'string', default: '3000000' },
    'ten-million': { type: 'boolean', default: false },
    threads: { type: 'string' },
    keep: { type: 'boolean', default: false },
    repeat: { type: 'string', default: '1' },
    // By a run for the one that repeats it: where its figures go.
    figures: { type: 'string' },
  },
});

const collect = collector();
/** Counts the times that threads were asked to collect, too. */
const asked = new SharedArrayBuffer(4);

interface Mark {
  readonly mark: number;
  /** URLs known when memory was looked at. */
  readonly known: number;
  readonly pages: number;
  readonly rate: number;
  readonly perCpuSecond: number;
  readonly servers: number;
  /** Resident bytes at the mark, and of these the JavaScript heap of home's thread with its buffers. */
  readonly resident: number;
  readonly heap: number;
}

const web = { seed: 11, servers: 1000, pagesPerServer: 100_000, links: 20, crossLinks: 3 };

async function open(data: string, maxPages: number): Promise<Engine> {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const names = Object.keys(known) as (keyof typeof known)[];
  const given = { data, pace: 0, connections: 8, scope: '*', maxPages, threads: options.threads };
  const fetcher = { module: new URL('growth-fetcher.ts', import.meta.url).href, options: { ...web, asked } };
  return openHome(await values(given, names), ['http://s0.test/'], { fetcher });
}

/** Waits until `reached`, looking often; the crawl itself runs in other threads and between our turns. */
async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise(resolve => setTimeout(resolve, 5));
}

/**
 * Memory while nothing is under way and nobody has garbage. In full flight it swings by 100 MB with how busy the threads
 * are, which says nothing about the collection.
 */
async function settled({ home, ledger }: Engine): Promise<Pick<Mark, 'known' | 'resident' | 'heap'>> {
  home.pause();
  await until(() => home.dispatch.posts.idle);
  let least = { resident: Number.POSITIVE_INFINITY, heap: 0 };
  for (let look = 0; look < LOOKS; look++) {
    Atomics.add(new Int32Array(asked), 0, 1);
    await new Promise(resolve => setTimeout(resolve, 200));
    collect();
    const { rss: resident, heapUsed, external } = process.memoryUsage();
    if (resident < least.resident) least = { resident, heap: heapUsed + external };
  }
  home.resume();
  return { known: ledger.pages.size, ...least };
}

async function watch(opened: Engine, marks: readonly number[], ended: () => boolean): Promise<Mark[]> {
  const { home, ledger } = opened;
  const seen: Mark[] = [];
  for (const mark of marks) {
    await until(() => ledger.pages.size >= mark || ended());
    if (ended()) break;
    const { known, resident, heap } = await settled(opened);
    const warm = home.progress.pages + WARM;
    await until(() => home.progress.pages >= warm || ended());
    const start = { time: performance.now(), cpu: process.cpuUsage(), pages: home.progress.pages };
    await until(() => home.progress.pages >= start.pages + WINDOW || ended());
    const pages = home.progress.pages - start.pages;
    const cpu = process.cpuUsage(start.cpu);
    const rate = (pages * 1000) / (performance.now() - start.time);
    const perCpuSecond = (pages * 1e6) / (cpu.user + cpu.system);
    const { size: servers } = ledger.servers;
    seen.push({ mark, known, pages: start.pages, rate, perCpuSecond, servers, resident, heap });
    console.log(`  ${known} known: ${Math.round(rate)} pages/s, ${Math.round(resident / 1e6)} MB`);
  }
  return seen;
}

async function grow(marks: readonly number[]): Promise<Mark[]> {
  // The compilers have to have seen the code before the first mark, else the small collection looks slow.
  const warm = await open(join(cache, 'growth-warm'), 8000);
  await warm.run(crawlSupply(warm, 0));
  await warm.close();
  const opened = await open(join(cache, 'growth'), Number.MAX_SAFE_INTEGER);
  let ended = false;
  const running = opened.run(crawlSupply(opened, 0)).finally(() => {
    ended = true;
  });
  const seen = await watch(opened, marks, () => ended);
  opened.home.stop();
  await running;
  await opened.close();
  for (const name of ['growth', 'growth-warm']) {
    if (!options.keep) rmSync(join(cache, name), { recursive: true, force: true });
  }
  return seen;
}

const number = (value: number, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });
const verdict = (met: boolean) => (met ? 'met' : 'missed');

/** Of one run: speed at a million known URLs by that at the first mark, and bytes for each known URL. */
interface Figures {
  readonly ratio: number;
  readonly bytes: number;
}

function repeated(times: number): void {
  const figures: Figures[] = [];
  for (let run = 1; run <= times; run++) {
    console.log(`run ${run} of ${times}`);
    const ran = spawnSync(process.execPath, [...process.argv.slice(1), '--repeat', '1', '--figures', '3'], {
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    const text = String(ran.output[3] ?? '');
    if (text !== '') figures.push(JSON.parse(text) as Figures);
  }
  if (figures.length === 0) return;
  const median = (of: (each: Figures) => number) => figures.map(of).sort((a, b) => a - b)[figures.length >> 1]!;
  const [ratio, bytes] = [median(each => each.ratio), median(each => each.bytes)];
  console.log(`\nmedian of ${figures.length}:`);
  console.log(`pages/s at 1,000,000 known ≥ 0.9 × at 10,000: ${number(ratio, 2)} × (${verdict(ratio >= 0.9)})`);
  console.log(`memory ≤ 64 bytes per known URL: ${number(bytes, 1)} (${verdict(bytes <= 64)})`);
}

function report(seen: readonly Mark[]): void {
  const first = seen[0]!;
  const base = seen.find(({ mark }) => mark === BASE);
  const million = seen.find(({ mark }) => mark === MILLION);
  const rows = seen.map(mark => [
    number(mark.known),
    number(mark.servers),
    number(mark.pages),
    number(mark.rate),
    number(mark.rate / first.rate, 2),
    number(mark.perCpuSecond),
    number(mark.perCpuSecond / first.perCpuSecond, 2),
    number(mark.resident / 1e6),
    number(mark.heap / 1e6),
    base !== undefined && mark.mark > BASE ? number(perUrl(base, mark), 1) : '–',
  ]);
  const header = ['known URLs', 'servers', 'pages', 'pages/s', '×', 'pages/CPU s', '×', 'MB', 'home MB', 'bytes/URL'];
  console.log(`\n${grid([header, ...rows])}\n`);
  if (base === undefined || million === undefined) return;
  const ratio = million.rate / first.rate;
  console.log(`pages/s at 1,000,000 known ≥ 0.9 × at 10,000: ${number(ratio, 2)} × (${verdict(ratio >= 0.9)})`);
  // New threads compile their code anew, so the first mark is the slowest moment of all: the stricter look.
  const best = Math.max(...seen.filter(({ mark }) => mark < MILLION).map(mark => mark.perCpuSecond));
  console.log(
    `pages per CPU second at 1,000,000 known: ${number(million.perCpuSecond / best, 2)} × the best mark before it`,
  );
  for (const mark of seen.filter(each => each.mark >= MILLION)) {
    const bytes = perUrl(base, mark);
    const from = `from ${number(base.known)} to ${number(mark.known)} known`;
    console.log(`memory ≤ 64 bytes per known URL, ${from}: ${number(bytes, 1)} (${verdict(bytes <= 64)})`);
  }
  const figures: Figures = { ratio, bytes: perUrl(base, million) };
  if (options.figures) writeSync(Number(options.figures), JSON.stringify(figures));
}

function perUrl(base: Mark, mark: Mark): number {
  return (mark.resident - base.resident) / (mark.known - base.known);
}

const marks = [10_000, BASE, 300_000, MILLION, 3_000_000, 10_000_000];
const last = options['ten-million'] ? 10_000_000 : Number(options.known);
if (Number(options.repeat) > 1) repeated(Number(options.repeat));
else report(await grow(marks.filter(mark => mark <= last)));
