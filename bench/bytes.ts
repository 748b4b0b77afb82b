/**
 * Bytes on the wire per day, and the freshness they buy, on the recorded histories of real sites: Skein under several
 * budgets beside a full crawl, a conditional GET of everything, and peers that can revisit. Every byte is counted by the
 * server, freshness by the labels that come with the histories. For all sites together, for each, and under every
 * profile of servers (bytes/profiles.ts).
 *
 *   node bench/bytes.ts [--quick] [--days 14] [--sites 10] [--data DIR] [--profiles correct,none]
 *     [--budgets 5%,10%,15%,20%,30%,1MB] [--freshness 0.95,0.98] [--no-peers] [--verbose]
 *
 * All see the same days of the same sites. `--quick`: three sites, five days, two budgets, one profile. Profiles after the
 * first take only the aims that have a target. `--data`: another set of sites of the same format.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { knownRates } from './bytes/known-rates.ts';
import { peerDays, peers } from './bytes/peers.ts';
import { PlainClient } from './bytes/plain.ts';
import { crowd, type Profile, profiles } from './bytes/profiles.ts';
import { type Fresh, Freshness, type Replay, startReplay } from './bytes/replay.ts';
import {
  bytesOf,
  freshOf,
  heldOf,
  kilobytes,
  type Line,
  mean,
  percent,
  printLines,
  printSites,
  shareOf,
} from './bytes/report.ts';
import { type Aim, firstCrawl, skeinDays } from './bytes/skein.ts';
import { historiesAvailable, recordedDays, useHistories } from './histories.ts';

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    days: { type: 'string' },
    sites: { type: 'string' },
    data: { type: 'string' },
    profiles: { type: 'string' },
    budgets: { type: 'string' },
    freshness: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
});

useHistories(given.data);
if (!historiesAvailable) {
  console.log('The recorded histories are not beside the project: nothing to measure.');
  process.exit(0);
}

const days = Number(given.days ?? (given.quick ? 5 : 14));
const sites = Number(given.sites ?? (given.quick ? 3 : 0));
const chosen = (given.profiles ?? (given.quick ? 'correct' : profiles.map(each => each.name).join(','))).split(',');
/** What has a target. */
const AIMED = { budget: '10%', freshness: 0.98 };
/** Of what known rates would reach; how far from the freshness; of a conditional GET of everything. */
const TARGETS = { known: 0.97, off: 0.01, cost: 0.6 };

const truth = new Freshness(recordedDays());
const met: string[] = [];
for (const [i, name] of chosen.entries()) {
  const profile = profiles.find(each => each.name === name);
  if (!profile) throw new Error(`There is no profile "${name}", only ${profiles.map(each => each.name).join(', ')}.`);
  await under(profile, i === 0);
}
console.log(`\n${met.join('\n')}`);

function aimsOf(first: boolean): Aim[] {
  const list = (text: string | undefined, more: string, few: string) =>
    (text ?? (first && !given.quick ? more : few)).split(',');
  return [
    ...list(given.budgets, '5%,10%,15%,20%,30%,1MB', AIMED.budget).map(budget => ({ budget })),
    ...list(given.freshness, '0.95,0.98', String(AIMED.freshness)).map(each => ({ freshness: Number(each) })),
  ];
}

async function under(profile: Profile, first: boolean): Promise<void> {
  // Below the ports that the system gives to clients.
  const replay = await startReplay(20_000 + Math.floor(Math.random() * 12_000), { sites, ...profile.served });
  const lines: Line[] = [];
  try {
    lines.push(await plain(replay, 'full GET of everything', false));
    const base = await plain(replay, 'conditional GET of everything', true);
    lines.push(base);
    const start = await firstCrawl(replay, crowd(replay, profile));
    for (const aim of aimsOf(first)) lines.push(await skein(replay, start, aim));
    rmSync(start, { recursive: true });
    if (first && !given['no-peers'] && !given.quick) lines.push(...(await others(replay)));
    console.log(`\n${profile.name}: ${profile.means}\n`);
    printLines(lines, base);
    console.log();
    printSites(lines, base, replay.origins);
    judge(profile.name, lines, base, replay);
  } finally {
    await replay.stop();
  }
}

async function plain(replay: Replay, name: string, conditional: boolean): Promise<Line> {
  const client = new PlainClient(conditional);
  if (conditional) await client.day(replay, 0);
  const traffic = [];
  for (let day = 1; day <= days; day++) traffic.push(await client.day(replay, day));
  client.close();
  return { name, traffic, fresh: [] };
}

async function skein(replay: Replay, start: string, aim: Aim): Promise<Line> {
  const name = 'budget' in aim ? `skein --budget ${aim.budget}` : `skein --freshness ${aim.freshness}`;
  const costs = await skeinDays(replay, truth, start, {
    days,
    aim,
    onDay: (day, { traffic, fresh, said }) => {
      const { low, expected, high } = said.freshness;
      const shown = `shown ${percent(expected)} (${percent(low)}–${percent(high)})`;
      const found = `${percent(shareOf(fresh, 'all'))}, own ${percent(shareOf(fresh, 'own'))}`;
      tell(name, day, `${kilobytes(traffic.bytes)}, ${traffic.requests} requests, ${found}, ${shown}`);
    },
  });
  return {
    name,
    traffic: costs.map(each => each.traffic),
    fresh: costs.map(each => each.fresh),
    said: costs.map(each => each.said),
    inferred: costs.map(each => each.inferred),
  };
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

async function others(replay: Replay): Promise<Line[]> {
  install();
  const lines: Line[] = [];
  for (const peer of peers) {
    const onDay = (day: number, bytes: number) => tell(peer.name, day, kilobytes(bytes));
    const found = await peerDays(peer, replay, { days, onDay });
    if (!found) {
      console.log(`${peer.name}: cannot be run here, left out`);
      continue;
    }
    const traffic = found.bytes.map((bytes, i) => ({ bytes, requests: found.requests[i]!, sites: new Map() }));
    const fresh = found.asked.map((all): Map<string, Fresh> => new Map([['', { pages: 1, all, own: all }]]));
    lines.push({ name: peer.name, traffic, fresh });
  }
  return lines;
}

/** A run takes a quarter of an hour: it says how far it is. */
function tell(name: string, day: number, what: string): void {
  if (given.verbose) console.error(`${name}, day ${day}: ${what}`);
}

/** Holds the lines that have a target against it. */
function judge(profile: string, lines: readonly Line[], base: Line, { origins }: Replay): void {
  const hosts = [...origins.keys()].filter(host => lines.some(line => line.fresh[0]?.has(host)));
  const worst = (of: (host: string) => number) =>
    hosts.map(host => ({ host, value: of(host) })).reduce((a, b) => (b.value < a.value ? b : a));
  const verdict = (what: string, good: boolean) => met.push(`${profile}: ${what} (${good ? 'met' : 'missed'})`);
  const budget = lines.find(line => line.name.endsWith(`--budget ${AIMED.budget}`));
  if (budget) {
    const known: Line = {
      name: '',
      traffic: [],
      fresh: knownRates(truth, days, Number.parseFloat(AIMED.budget) / 100),
    };
    const share = (host?: string) => freshOf(budget, 'all', host) / freshOf(known, 'all', host);
    const { host, value } = worst(share);
    const all = `${percent(share())} of what known rates reach (${percent(freshOf(known, 'all'))})`;
    verdict(`--budget ${AIMED.budget} reaches ${all}, worst site ${percent(value)} (${host})`, value >= TARGETS.known);
  }
  const aim = lines.find(line => line.name.endsWith(`--freshness ${AIMED.freshness}`));
  if (aim) {
    const reached = freshOf(aim, 'all');
    const cost = bytesOf(aim) / bytesOf(base);
    const { host, value } = worst(each => freshOf(aim, 'all', each));
    const text = `reaches ${percent(reached)} (own text ${percent(freshOf(aim, 'own'))}) at ${cost.toFixed(2)} × conditional GET`;
    const good = Math.abs(reached - AIMED.freshness) <= TARGETS.off && cost <= TARGETS.cost;
    verdict(`--freshness ${AIMED.freshness} ${text}, worst site ${percent(value)} (${host})`, good);
  }
  for (const line of [budget, aim]) {
    if (!line) continue;
    const { host, value } = worst(each => heldOf(line, origins.get(each), each) ?? 1);
    const off = mean(
      line.said!.map(({ freshness }, day) => Math.abs(freshness.expected - shareOf(line.fresh[day]!, 'all'))),
    );
    const text = `the truth lies in what ${line.name} shows on ${percent(heldOf(line) ?? 0)} of the days (${percent(off)} off on average)`;
    verdict(`${text}, worst site ${percent(value)} (${host})`, (heldOf(line) ?? 0) >= 0.9 && value >= 0.8);
  }
}
