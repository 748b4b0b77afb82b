/**
 * Bytes on the wire per day, and the freshness they buy, on the recorded histories of ten real sites: Skein under
 * several budgets beside a full crawl, a conditional GET of everything, and peers that can revisit. Every byte is
 * counted by the server, freshness by the labels that come with the histories.
 *
 *   node bench/bytes.ts [--quick] [--days 14] [--sites 10] [--budgets 5%,10%,15%,20%,30%,1MB] [--freshness 0.95,0.98]
 *     [--no-peers] [--verbose]
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
import { type Aim, firstCrawl, skeinDays } from './bytes/skein.ts';
import { historiesAvailable } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    days: { type: 'string' },
    sites: { type: 'string' },
    budgets: { type: 'string' },
    freshness: { type: 'string' },
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
const budgets = (given.budgets ?? (given.quick ? '10%,20%' : '5%,10%,15%,20%,30%,1MB')).split(',');
const aims: readonly Aim[] = [
  ...budgets.map(budget => ({ budget })),
  ...(given.freshness ?? (given.quick ? '0.98' : '0.95,0.98')).split(',').map(each => ({ freshness: Number(each) })),
];
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
const replay = await startReplay(20_000 + Math.floor(Math.random() * 12_000), { sites });
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
  for (const aim of aims) {
    const name = 'budget' in aim ? `skein --budget ${aim.budget}` : `skein --freshness ${aim.freshness}`;
    const costs = await skeinDays(replay, truth, start, {
      days,
      aim,
      onDay: (day, { bytes, freshness: { all, own } }) =>
        tell(name, day, `${kilobytes(bytes)}, ${percent(all)}, ${percent(own)}`),
    });
    lines.push({
      name,
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
    const onDay = (day: number, bytes: number) => tell(peer.name, day, kilobytes(bytes));
    const found = await peerDays(peer, replay, { days, onDay });
    if (found)
      lines.push({ name: peer.name, ...found, freshness: found.asked.map(share => ({ all: share, own: share })) });
    else console.log(`${peer.name}: cannot be run here, left out`);
  }
}

/** A run takes half an hour and more: it says how far it is. */
function tell(name: string, day: number, what: string): void {
  if (given.verbose) console.error(`${name}, day ${day}: ${what}`);
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
    const ratio = cheapest(kind) / base;
    const what = kind === 'own' ? 'leaving out what many pages share' : 'with what many pages share';
    console.log(
      `\nfewest bytes at ${percent(SAME_FRESHNESS)} freshness, ${what}: ` +
        `${ratio.toFixed(2)} × conditional GET, target ${TARGET} (${ratio <= TARGET ? 'met' : 'missed'})`,
    );
  }
}

/** Bytes a day that just reach the freshness, between the two lines of Skein that lie next to it. */
function cheapest(kind: keyof Fresh): number {
  const points = lines
    .filter(line => line.name.startsWith('skein'))
    .map(line => ({ bytes: mean(line.bytes), fresh: mean(line.freshness.map(day => day[kind])) }))
    .sort((a, b) => a.bytes - b.bytes);
  const at = points.findIndex(({ fresh }) => fresh >= SAME_FRESHNESS);
  const [below, above] = [points[at - 1], points[at]];
  if (!above) return Number.POSITIVE_INFINITY;
  if (!below) return above.bytes;
  const part = (SAME_FRESHNESS - below.fresh) / (above.fresh - below.fresh);
  return below.bytes + part * (above.bytes - below.bytes);
}
