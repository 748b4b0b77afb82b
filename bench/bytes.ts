/**
 * Bytes on the wire per day, and the freshness they buy, on the recorded histories of ten real sites: Skein under
 * several budgets beside a full crawl, a conditional GET of everything, and peers that can revisit. Every byte is
 * counted by the server, freshness by the labels that come with the histories.
 *
 *   node bench/bytes.ts [--days 14] [--budgets 10%,20%,30%,1MB] [--peer-days 1] [--no-peers] [--verbose]
 *
 * The peers and the full crawl cost about the same every day, so they are measured for a day or two only.
 */
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { peerDays, peers } from './bytes/peers.ts';
import { PlainClient } from './bytes/plain.ts';
import { Freshness, startReplay } from './bytes/replay.ts';
import { firstCrawl, skeinDays } from './bytes/skein.ts';
import { historiesAvailable } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    days: { type: 'string', default: '14' },
    budgets: { type: 'string', default: '10%,20%,30%,1MB' },
    'peer-days': { type: 'string', default: '1' },
    'no-peers': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}

const days = Number(given.days);
const TARGET = 0.5;
/** Freshness that counts as "the same" as looking at everything every day. */
const SAME_FRESHNESS = 0.98;

interface Line {
  readonly name: string;
  readonly bytes: readonly number[];
  readonly requests: readonly number[];
  /** Of each day. */
  readonly freshness: readonly number[];
}

const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length);

// Below the ports that the system gives to clients.
const replay = await startReplay(20_000 + Math.floor(Math.random() * 12_000), true);
const lines: Line[] = [];
try {
  await plain('full GET of everything', false, 1);
  await plain('conditional GET of everything', true, days);
  await skein();
  if (!given['no-peers']) await others();
} finally {
  await replay.stop();
}
report();

async function plain(name: string, conditional: boolean, count: number): Promise<void> {
  const client = new PlainClient(conditional);
  if (conditional) await client.day(replay, 0);
  const traffic = [];
  for (let day = 1; day <= count; day++) traffic.push(await client.day(replay, day));
  client.close();
  lines.push({
    name,
    bytes: traffic.map(each => each.bytes),
    requests: traffic.map(each => each.requests),
    freshness: [1],
  });
}

async function skein(): Promise<void> {
  const truth = new Freshness(days);
  const start = await firstCrawl(replay);
  for (const budget of given.budgets.split(',')) {
    const costs = await skeinDays(replay, truth, start, {
      days,
      budget,
      onDay: (day, { bytes, freshness }) => {
        if (given.verbose) console.error(`${budget} day ${day}: ${kilobytes(bytes)}, ${percent(freshness)}`);
      },
    });
    lines.push({
      name: `skein, budget ${budget} a day`,
      bytes: costs.map(each => each.bytes),
      requests: costs.map(each => each.requests),
      freshness: costs.map(each => each.freshness),
    });
  }
  rmSync(start, { recursive: true });
}

async function others(): Promise<void> {
  for (const peer of peers) {
    const found = await peerDays(peer, replay, Number(given['peer-days']));
    if (found) lines.push({ name: peer.name, ...found, freshness: [1] });
    else console.log(`${peer.name}: cannot be run here, left out`);
  }
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1000).toLocaleString('en')} kB`;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

function report(): void {
  const base = mean(lines.find(line => line.name.startsWith('conditional'))!.bytes);
  const rows = lines.map(({ name, bytes, requests, freshness }) => [
    name,
    kilobytes(mean(bytes)),
    `${(mean(bytes) / base).toFixed(2)}×`,
    Math.round(mean(requests)).toLocaleString('en'),
    percent(mean(freshness)),
    percent(Math.min(...freshness)),
    String(bytes.length),
  ]);
  const header = ['', 'bytes/day', 'of conditional', 'requests/day', 'fresh', 'worst day', 'days'];
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map(row => row[i]!.length)));
  for (const row of [header, ...rows]) {
    console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '));
  }
  const fresh = lines.filter(line => line.name.startsWith('skein') && mean(line.freshness) >= SAME_FRESHNESS);
  const best = fresh.toSorted((a, b) => mean(a.bytes) - mean(b.bytes))[0];
  const ratio = best ? mean(best.bytes) / base : Number.POSITIVE_INFINITY;
  console.log(
    `\nfewest bytes at ${percent(SAME_FRESHNESS)} freshness or more: ${best?.name ?? 'none'}, ` +
      `${ratio.toFixed(2)} × conditional GET, target ${TARGET} (${ratio <= TARGET ? 'met' : 'missed'})`,
  );
}
