/**
 * Bytes on the wire per day, and the freshness they buy, on the recorded histories of ten real sites: Skein under
 * several budgets beside a full crawl, a conditional GET of everything, and peers that can revisit. Every byte is
 * counted by the server, freshness by the labels that come with the histories.
 *
 *   node bench/bytes.ts [--quick] [--days 14] [--sites 10] [--budgets 10%,20%,30%,1MB] [--no-peers] [--verbose]
 *
 * All see the same days of the same sites. `--quick`: three sites, five days, two budgets.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { peerDays, peers } from './bytes/peers.ts';
import { PlainClient } from './bytes/plain.ts';
import { type Fresh, Freshness, startReplay } from './bytes/replay.ts';
import { firstCrawl, skeinDays } from './bytes/skein.ts';
import { historiesAvailable } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    days: { type: 'string' },
    sites: { type: 'string' },
    budgets: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}

const days = Number(given.days ?? (given.quick ? 5 : 14));
const sites = Number(given.sites ?? (given.quick ? 3 : 0));
const budgets = (given.budgets ?? (given.quick ? '10%,20%' : '10%,20%,30%,1MB')).split(',');
const TARGET = 0.5;
/** Freshness that counts as "the same" as looking at everything every day. */
const SAME_FRESHNESS = 0.98;

interface Line {
  readonly name: string;
  readonly bytes: readonly number[];
  readonly requests: readonly number[];
  /** Of each day. */
  readonly freshness: readonly Fresh[];
}

const FRESH: Fresh = { all: 1, own: 1 };

const mean = (list: readonly number[]): number => list.reduce((sum, each) => sum + each, 0) / Math.max(1, list.length);

// Below the ports that the system gives to clients.
const replay = await startReplay(20_000 + Math.floor(Math.random() * 12_000), sites);
const lines: Line[] = [];
try {
  await plain('full GET of everything', false);
  await plain('conditional GET of everything', true);
  await skein();
  if (!given['no-peers']) await others();
} finally {
  await replay.stop();
}
report();

async function plain(name: string, conditional: boolean): Promise<void> {
  const client = new PlainClient(conditional);
  if (conditional) await client.day(replay, 0);
  const traffic = [];
  for (let day = 1; day <= days; day++) traffic.push(await client.day(replay, day));
  client.close();
  lines.push({
    name,
    bytes: traffic.map(each => each.bytes),
    requests: traffic.map(each => each.requests),
    freshness: [FRESH],
  });
}

async function skein(): Promise<void> {
  const truth = new Freshness(days);
  const start = await firstCrawl(replay);
  for (const budget of budgets) {
    const costs = await skeinDays(replay, truth, start, {
      days,
      budget,
      onDay: (day, { bytes, freshness }) => {
        if (given.verbose)
          console.error(
            `${budget} day ${day}: ${kilobytes(bytes)}, ${percent(freshness.all)}, ${percent(freshness.own)}`,
          );
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

/** By name, and only what is not there yet; a peer that cannot be had is left out. */
function install(): void {
  const script = fileURLToPath(new URL('../scripts/install-debian.sh', import.meta.url));
  try {
    execFileSync('bash', [script, 'wget2', 'httrack', 'python3-scrapy'], { stdio: 'inherit' });
  } catch {
    console.log('notice: apt could not install everything; what is missing is left out');
  }
}

async function others(): Promise<void> {
  install();
  for (const peer of peers) {
    const found = await peerDays(peer, replay, days);
    if (found)
      lines.push({ name: peer.name, ...found, freshness: found.asked.map(share => ({ all: share, own: share })) });
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
    percent(mean(freshness.map(day => day.all))),
    percent(Math.min(...freshness.map(day => day.all))),
    percent(mean(freshness.map(day => day.own))),
    String(bytes.length),
  ]);
  const header = ['', 'bytes/day', 'of conditional', 'requests/day', 'fresh', 'worst day', 'own text', 'days'];
  const widths = header.map((_, i) => Math.max(...[header, ...rows].map(row => row[i]!.length)));
  for (const row of [header, ...rows]) {
    console.log(row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '));
  }
  for (const kind of ['own', 'all'] as const) {
    const fresh = lines.filter(
      line => line.name.startsWith('skein') && mean(line.freshness.map(day => day[kind])) >= SAME_FRESHNESS,
    );
    const best = fresh.toSorted((a, b) => mean(a.bytes) - mean(b.bytes))[0];
    const ratio = best ? mean(best.bytes) / base : Number.POSITIVE_INFINITY;
    const what = kind === 'own' ? 'leaving out what many pages share' : 'with what many pages share';
    console.log(
      `\nfewest bytes at ${percent(SAME_FRESHNESS)} freshness or more, ${what}: ${best?.name ?? 'none'}, ` +
        `${ratio.toFixed(2)} × conditional GET, target ${TARGET} (${ratio <= TARGET ? 'met' : 'missed'})`,
    );
  }
}
