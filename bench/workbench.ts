/**
 * Does the workbench stay quick when the collection is large, and what does it cost a crawl? First a ledger of a million
 * pages, into which 500 visits a second are written while every endpoint is asked, and while a browser that has it open
 * is weighed; then the same crawl (a web without sockets) with and without a workbench that someone listens to, in turns.
 *
 *   node bench/workbench.ts [--pages 1000000] [--tab 60] [--crawl 12000] [--rounds 3]
 *
 * --tab: seconds that the browser stays open, 0 = none. --pages 0 or --rounds 0 leaves a part out.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { DAY } from '../src/base/clock.ts';
import { openHome } from '../src/cli/options/engine-options.ts';
import { defaults } from '../src/cli/options/options.ts';
import { attend } from '../src/cli/services.ts';
import { crawlSupply } from '../src/home/supply.ts';
import { startWorkbench } from '../src/workbench/start.ts';
import { noBrowser, openBrowser } from '../test/workbench/browser.ts';
import { grid } from './peers/report.ts';
import { makeLedger, SERVERS, urlOf, visit } from './workbench/large-ledger.ts';

const cache = join(import.meta.dirname, '..', '.cache', 'bench');
const { values: options } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000000' },
    tab: { type: 'string', default: '60' },
    crawl: { type: 'string', default: '12000' },
    rounds: { type: 'string', default: '3' },
  },
});
const PAGES = Number(options.pages);

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;

async function latencies(origin: string, path: string, times: number): Promise<number[]> {
  const taken: number[] = [];
  for (let i = 0; i < times; i++) {
    const started = performance.now();
    await (await fetch(`${origin}/api/v1${path}`)).arrayBuffer();
    taken.push(performance.now() - started);
  }
  return taken.sort((a, b) => a - b);
}

async function large(): Promise<void> {
  const directory = join(cache, 'workbench');
  const ledger = makeLedger(directory, PAGES, Date.now());
  const workbench = await startWorkbench({ directory, port: 0, version: 'bench' });
  const { origin } = new URL(workbench.address);
  let page = 0;
  const writer = setInterval(() => {
    ledger.begin();
    for (let i = 0; i < 125; i++) visit(ledger, (page = (page % PAGES) + 1), Date.now(), true);
    ledger.commit();
  }, 250);
  const half = Math.floor(PAGES / 2);
  const asked: [string, number][] = [
    ['/now', 30],
    ['/pages?order=visited', 30],
    ['/pages?order=changed', 30],
    [`/pages?order=found&after=${half}`, 30],
    ['/pages?find=page-77777.html', 10],
    ['/pages?find=nothing-has-this', 10],
    ['/pages?find=nothing-has-this&order=visited', 10],
    ['/pages?outcome=failed', 10],
    ['/pages?outcome=refused&order=newest', 10],
    ['/pages?outcome=waiting&order=newest', 10],
    [`/pages/${half + 1}`, 30],
    [`/pages/${half + 1}/visits`, 30],
    [`/pages/${half + 1}/why`, 30],
    [`/find?url=${urlOf(half)}`, 30],
    [`/find?url=${urlOf(PAGES)}`, 10],
    ['/find?url=http://s1.test/never-seen', 10],
    ['/servers', 30],
    ['/servers?state=failing', 10],
    ['/servers?find=s77', 10],
    [`/servers/${SERVERS / 2}`, 10],
    [`/pages?server=${SERVERS / 2}`, 10],
    [`/pages/${half + 1}/links`, 10],
    [`/pages/${half + 1}/links?direction=in`, 5],
    ['/changes', 30],
    [`/changes?server=${SERVERS / 2}`, 10],
    [`/changes?day=${Math.floor(Date.now() / DAY) - 1}&noise=1`, 10],
    ['/changes/days', 30],
    ['/changes/days?days=60', 10],
    ['/account', 10],
    ['/account?days=400', 10],
  ];
  const rows: string[][] = [];
  for (const [path, times] of asked) {
    const taken = await latencies(origin, path, times);
    rows.push([path, percentile(taken, 0.5).toFixed(1), percentile(taken, 0.99).toFixed(1)]);
  }
  console.log(`${PAGES.toLocaleString('en')} pages, 500 visits a second written meanwhile; milliseconds\n`);
  console.log(`${grid([['asked for', 'median', 'p99'], ...rows])}\n`);
  if (Number(options.tab) > 0) await weighTab(workbench.address, Number(options.tab));
  clearInterval(writer);
  await workbench.close();
  ledger.close();
  rmSync(directory, { recursive: true, force: true });
}

/** What a sample of the half hour of history may take in a browser, bytes: six numbers and the object around them. */
const SAMPLE_BYTES = 400;

/** Memory that the page itself holds, garbage aside, early and late. All that may grow is the history, up to its cap. */
async function weighTab(address: string, seconds: number): Promise<void> {
  if (noBrowser) return console.log(`the memory of a tab: not measured, ${noBrowser}\n`);
  await using browser = await openBrowser();
  const page = await browser.context.newPage();
  const session = await browser.context.newCDPSession(page);
  const weigh = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { nodes } = await session.send('Memory.getDOMCounters');
    return { bytes: usedSize, nodes };
  };
  await page.goto(address);
  await page.waitForSelector('tbody tr:nth-child(30)');
  await page.waitForTimeout(10_000);
  const early = await weigh();
  await page.waitForTimeout(seconds * 1000);
  const late = await weigh();
  const grown = late.bytes - early.bytes;
  const figures = [early, late].map(({ bytes, nodes }) => `${(bytes / 1e6).toFixed(1)} MB and ${nodes} nodes`);
  const held = grown < seconds * SAMPLE_BYTES + 500_000 && late.nodes < early.nodes * 1.2;
  console.log(
    `a tab holds ${figures[0]} after ten seconds, ${figures[1]} after ${seconds} more (${held ? 'bounded' : 'it grows'})\n`,
  );
}

interface Run {
  readonly rate: number;
  /** Seconds, of all threads and of the workbench's. */
  readonly cpu: number;
  readonly own: number;
}

async function crawl(watched: boolean): Promise<Run> {
  const data = join(cache, 'workbench-crawl');
  rmSync(data, { recursive: true, force: true });
  const chosen = {
    ...defaults(),
    data,
    pace: 0,
    connections: 4,
    threads: 1,
    scope: ['*'],
    maxPages: Number(options.crawl),
  };
  const module = new URL('../test/web/synthetic.ts', import.meta.url).href;
  const opened = await openHome(chosen as unknown as Parameters<typeof openHome>[0], ['http://s0.test/'], {
    fetcher: { module, options: { servers: 200, pagesPerServer: 1000 } },
  });
  const attended = await attend(opened, { command: 'crawl', data, keep: '', workbench: undefined });
  const workbench = watched ? await startWorkbench({ directory: data, port: 0, version: 'bench' }) : undefined;
  const stop = new AbortController();
  const listening = workbench && listen(new URL(workbench.address).origin, stop.signal);
  const before = (await workbench?.cpuSeconds()) ?? 0;
  const started = { time: performance.now(), cpu: process.cpuUsage() };
  await opened.run(crawlSupply(opened, 0));
  const seconds = (performance.now() - started.time) / 1000;
  const { user, system } = process.cpuUsage(started.cpu);
  const { pages } = opened.home.progress;
  const own = ((await workbench?.cpuSeconds()) ?? 0) - before;
  stop.abort();
  await listening;
  await workbench?.close();
  await attended.leave();
  await opened.close();
  rmSync(data, { recursive: true, force: true });
  return { rate: pages / seconds, cpu: (user + system) / 1e6, own };
}

async function listen(origin: string, signal: AbortSignal): Promise<void> {
  try {
    const { body } = await fetch(`${origin}/api/v1/live`, { signal });
    for await (const _ of body!) if (signal.aborted) return;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function cost(): Promise<void> {
  const runs: Record<'alone' | 'watched', Run[]> = { alone: [], watched: [] };
  await crawl(false); // the compilers get to know the code
  for (let round = 0; round < Number(options.rounds); round++) {
    for (const name of ['alone', 'watched'] as const) runs[name].push(await crawl(name === 'watched'));
  }
  const median = (name: 'alone' | 'watched', of: keyof Run) =>
    runs[name].map(run => run[of]).sort((a, b) => a - b)[Math.floor(runs[name].length / 2)]!;
  const [alone, watched] = [median('alone', 'rate'), median('watched', 'rate')];
  const slower = ((1 - watched / alone) * 100).toFixed(1);
  console.log(
    `a crawl of ${options.crawl} pages, median of ${options.rounds} in turns: ${Math.round(alone)} pages/s alone, ` +
      `${Math.round(watched)} watched, ${slower}% less`,
  );
  // Pages a second say little on a machine that does other things; processor time does.
  const share = median('watched', 'own') / median('watched', 'cpu');
  const took = `${median('watched', 'own').toFixed(2)} of ${median('watched', 'cpu').toFixed(1)} CPU seconds`;
  console.log(
    `the workbench takes less than 5% of the processor time: ${(share * 100).toFixed(1)}%, ${took} (${share < 0.05 ? 'met' : 'missed'})`,
  );
}

if (PAGES > 0) await large();
if (Number(options.rounds) > 0) await cost();
