/**
 * Does a round of refresh fit into memory, however large the collection is? A ledger as a crawl leaves it
 * (workbench/large-ledger.ts) is refreshed with a budget of pages, from a web without sockets. The round runs in a process
 * of its own, so that its peak of memory is its own, too.
 *
 *   node bench/growth-refresh.ts [--pages 1000000,10000000] [--budget 10000] [--keep]
 *
 * A million pages and a budget of 10,000: 609 MB at the peak, 60 s of CPU on two cores at a load of 20 to 25 (660 MB and 46 s with
 * less load, before the schedule read its rows as records). 200,000 pages and a budget of 4,000: 13.3 and 13.4 s of CPU before,
 * 10.3 and 11.5 s since. What grows with the collection is not the visits but the two passes in which all due times are computed
 * anew, 18 µs a page, and the pages of a server that are placed anew when a wave begins or ends there.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { keepFresh } from '../src/engine/keep-fresh.ts';
import { grid } from './peers/report.ts';
import { makeLedger } from './workbench/large-ledger.ts';

/** Bytes of resident memory that a round may take. */
const MOST = 1.5e9;

const { values: given } = parseArgs({
  options: {
    pages: { type: 'string', default: '1000000,10000000' },
    budget: { type: 'string', default: '10000' },
    keep: { type: 'boolean', default: false },
    // Of the process that refreshes: the collection.
    round: { type: 'string' },
  },
});

interface Round {
  readonly looked: number;
  readonly seconds: number;
  readonly cpu: number;
  /** Bytes. */
  readonly peak: number;
}

async function refresh(data: string): Promise<Round> {
  const started = performance.now();
  const { pages: looked } = await keepFresh('refresh', {
    ...{ data, pace: 0, connections: 8, threads: 2, notices: false, secondLook: 0 },
    budget: { pages: Number(given.budget) },
    fetcher: { module: new URL('growth-refresh-fetcher.ts', import.meta.url) },
  });
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  return {
    looked,
    seconds: (performance.now() - started) / 1000,
    cpu: (userCPUTime + systemCPUTime) / 1e6,
    peak: maxRSS * 1024,
  };
}

function measured(pages: number): Round {
  const data = join(import.meta.dirname, '..', '.cache', 'bench', `refresh-${pages}`);
  if (!existsSync(data)) makeLedger(data, pages, Date.now()).close();
  const args = [import.meta.filename, '--round', data, '--budget', given.budget];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1e8 });
  if (!given.keep) rmSync(data, { recursive: true, force: true });
  if (status !== 0) throw new Error(stderr.slice(-2000));
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Round;
}

if (given.round) {
  console.log(JSON.stringify(await refresh(given.round)));
} else {
  const rows = given.pages.split(',').map(text => {
    const { looked, seconds, cpu, peak } = measured(Number(text));
    const verdict = peak <= MOST ? 'met' : 'missed';
    const numbers = [Number(text), looked].map(each => each.toLocaleString('en'));
    return [...numbers, seconds.toFixed(1), cpu.toFixed(1), (peak / 1e6).toFixed(0), verdict];
  });
  const header = ['known URLs', 'looked at', 'seconds', 'CPU s', 'peak MB', `≤ ${MOST / 1e9} GB`];
  console.log(`\n${grid([header, ...rows])}`);
}
