/**
 * Does Skein slow down, or swell, as the collection grows? One crawl of a web without sockets (test/web/synthetic.ts,
 * 1,000 servers of 100,000 pages, 20 links a page), watched at given numbers of known URLs. The web is so large that a
 * page brings as many new links late as early, so that only the size of the collection differs.
 *
 *   node bench/growth.ts [--known 3000000] [--ten-million] [--threads N] [--keep]
 *
 * pages/s and pages per CPU second are taken over the 5,000 pages that follow each mark; bytes per known URL is the
 * growth of resident memory, after garbage collection, between 1,000,000 known URLs and the mark.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Opened, openHome } from '../src/cli/compose.ts';
import { options as known, values } from '../src/cli/options.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { grid } from './peers/report.ts';

const WINDOW = 5000;
/** By then SQLite's cache of 64 MB is full and all servers are known: what has a fixed size has reached it. */
const BASE = 1_000_000;
const cache = join(import.meta.dirname, '..', '.cache', 'bench');

const { values: options } = parseArgs({
  options: {
    known: { type: 'string', default: '3000000' },
    'ten-million': { type: 'boolean', default: false },
    threads: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

interface Mark {
  readonly known: number;
  readonly pages: number;
  readonly rate: number;
  readonly perCpuSecond: number;
  readonly servers: number;
  /** Resident bytes at the mark, and of these the JavaScript heap of home's thread with its buffers. */
  readonly resident: number;
  readonly heap: number;
}

/** All servers are known by the base mark, so that what grows after it is URLs and not servers. */
const web = { seed: 11, servers: 1000, pagesPerServer: 100_000, links: 20, crossLinks: 3 };

async function open(data: string, maxPages: number): Promise<Opened> {
  rmSync(data, { recursive: true, force: true });
  mkdirSync(data, { recursive: true });
  const names = Object.keys(known) as (keyof typeof known)[];
  const given = { data, pace: 0, connections: 8, scope: '*', maxPages, threads: options.threads };
  const fetcher = { module: new URL('../test/web/synthetic.ts', import.meta.url).href, options: web };
  return openHome(await values(given, names), ['http://s0.test/'], { fetcher });
}

/** Waits until `reached`, looking often; the crawl itself runs in other threads and between our turns. */
async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise(resolve => setTimeout(resolve, 5));
}

async function watch(opened: Opened, marks: readonly number[], ended: () => boolean): Promise<Mark[]> {
  const { home, ledger } = opened;
  const seen: Mark[] = [];
  for (const mark of marks) {
    await until(() => ledger.pages.size >= mark || ended());
    if (ended()) break;
    collect();
    const { rss: resident, heapUsed, external } = process.memoryUsage();
    const start = { time: performance.now(), cpu: process.cpuUsage(), pages: home.progress.pages };
    await until(() => home.progress.pages >= start.pages + WINDOW || ended());
    const pages = home.progress.pages - start.pages;
    const cpu = process.cpuUsage(start.cpu);
    const rate = (pages * 1000) / (performance.now() - start.time);
    const perCpuSecond = (pages * 1e6) / (cpu.user + cpu.system);
    const { size: servers } = ledger.servers;
    seen.push({ known: mark, pages: start.pages, rate, perCpuSecond, servers, resident, heap: heapUsed + external });
    console.log(`  ${mark} known: ${Math.round(rate)} pages/s, ${Math.round(resident / 1e6)} MB`);
  }
  return seen;
}

async function grow(marks: readonly number[]): Promise<Mark[]> {
  // The compilers have to have seen the code before the first mark, else the small collection looks slow.
  const warm = await open(join(cache, 'growth-warm'), 8000);
  await warm.home.run(crawlSupply(warm, 0));
  await warm.close();
  const opened = await open(join(cache, 'growth'), Number.MAX_SAFE_INTEGER);
  let ended = false;
  const running = opened.home.run(crawlSupply(opened, 0)).finally(() => {
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

function report(seen: readonly Mark[]): void {
  const first = seen[0]!;
  const base = seen.find(mark => mark.known === BASE);
  const number = (value: number, digits = 0) => value.toLocaleString('en', { maximumFractionDigits: digits });
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
    base !== undefined && mark.known > BASE ? number(perUrl(base, mark), 1) : '–',
  ]);
  const header = ['known URLs', 'servers', 'pages', 'pages/s', '×', 'pages/CPU s', '×', 'MB', 'home MB', 'bytes/URL'];
  console.log(`\n${grid([header, ...rows])}\n`);
  const verdict = (met: boolean) => (met ? 'met' : 'missed');
  const last = seen.at(-1)!;
  if (base === undefined) return;
  const ratio = base.rate / first.rate;
  console.log(`pages/s at 1,000,000 known ≥ 0.9 × at 10,000: ${number(ratio, 2)} × (${verdict(ratio >= 0.9)})`);
  // New threads compile their code anew, so the first mark is the slowest moment of all: the stricter look.
  const best = Math.max(...seen.filter(mark => mark.known < BASE).map(mark => mark.perCpuSecond));
  console.log(
    `pages per CPU second at 1,000,000 known: ${number(base.perCpuSecond / best, 2)} × the best mark before it`,
  );
  if (last === base) return;
  const bytes = perUrl(base, last);
  console.log(`memory ≤ 64 bytes per known URL beyond the base: ${number(bytes, 1)} (${verdict(bytes <= 64)})`);
}

function perUrl(base: Mark, mark: Mark): number {
  return (mark.resident - base.resident) / (mark.known - base.known);
}

const marks = [10_000, 100_000, 300_000, BASE, 3_000_000, 10_000_000];
const last = options['ten-million'] ? 10_000_000 : Number(options.known);
report(await grow(marks.filter(mark => mark <= last)));
