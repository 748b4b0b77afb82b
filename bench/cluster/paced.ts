/**
 * Run by ../cluster.ts in the world of the servers: paced crawls by peers that each have a machine and a line of their own.
 *
 *   speed N …   pages a second with so many peers, each of which brings as many servers as one machine had
 *   death N     the same with N peers, of which the last is killed: how long each server waits for its next visit
 *
 * The first argument says how to run a command on each machine, as JSON.
 */
import { pause } from '../../test/journeys/kills.ts';
import { type Cluster, openCluster, requests } from '../../test/journeys/peers.ts';
import type { Ran } from '../../test/journeys/skein.ts';
import { openWeb, type Web } from '../../test/web/web.ts';
import { carriedBy, SITE } from '../migration/network.ts';

/** Seconds between two requests to a server. */
const PACE = 0.5;
/** Servers that each peer brings. */
const SERVERS = 16;
const PAGES = 80;

const [machines, what, ...counts] = process.argv.slice(2);
const worlds = JSON.parse(machines!) as string[][];

const pagesOf = ({ stdout }: Ran) => (JSON.parse(stdout.toString()) as { pages: number }).pages;

const openServers = (peers: number): Promise<Web> =>
  openWeb({
    ...{ seed: 4, servers: SERVERS * peers, pagesPerServer: PAGES, latency: 5 },
    ...{ addresses: true, network: '10.79', crossLinks: 3 },
  });

async function join(cluster: Cluster, web: Web, peers: number): Promise<void> {
  // All servers are known from the beginning: how fast they are found is not the question.
  const seeds = web.origins.map(origin => `${origin}/`);
  const crawl = [
    ...seeds,
    ...['--allow-private', '--pace', String(PACE), '--scope', '*', '--set', 'partitions=64', '--set', 'threads=1'],
  ];
  for (let i = 0; i < peers; i++) await cluster.join(`p${i}`, i === 0 ? crawl : [], 'crawl', worlds[i]!);
}

/** Pages a second while all peers have enough to do: from the moment at which the last one took part to 70% of all. */
function middleRate({ log }: Web, from: number): number {
  const to = Math.floor(0.7 * log.length);
  return ((to - from) * 1000) / (log[to]!.time - log[from]!.time);
}

async function speed(peers: number, one: number): Promise<number> {
  await using web = await openServers(peers);
  await using cluster = await openCluster({ host: SITE });
  await join(cluster, web, peers);
  // Partitions move to those who joined last.
  await pause(6000);
  const from = web.log.length;
  const began = worlds.slice(0, peers).map(carriedBy);
  const start = performance.now();
  await requests(web, Math.floor(0.7 * SERVERS * PAGES * peers));
  const seconds = (performance.now() - start) / 1000;
  const lines = worlds.slice(0, peers).map((world, i) => (carriedBy(world).down - began[i]!.down) / seconds);
  const pages = (await cluster.ended()).map(pagesOf);
  const rate = middleRate(web, from);
  const most = ((8 * Math.max(...lines)) / 1e6).toFixed(1);
  const times = one === 0 ? 1 : rate / one;
  console.log(
    `${peers} peers: ${rate.toFixed(1)} pages a second, ${times.toFixed(2)} times one (${(times / peers).toFixed(3)} x ${peers}); ` +
      `pages by peer ${pages.join(' ')}; fullest line ${most} Mbit/s`,
  );
  return one || rate;
}

/** Milliseconds from a moment to the first request of each server after it. */
function waits({ log, origins }: Web, moment: number, until: number): Map<string, number> {
  const first = new Map<string, number>();
  for (const { url, time } of log) {
    const { origin } = new URL(url);
    if (time > moment && !first.has(origin)) first.set(origin, time - moment);
  }
  return new Map(origins.map(origin => [origin, first.get(origin) ?? until - moment]));
}

function middleAndMost(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const shown = (ms: number | undefined) => `${((ms ?? 0) / 1000).toFixed(1)} s`;
  return `p50 ${shown(sorted[Math.floor(sorted.length / 2)])}, max ${shown(sorted.at(-1))}`;
}

async function death(peers: number): Promise<void> {
  await using web = await openServers(peers);
  await using cluster = await openCluster({ host: SITE });
  await join(cluster, web, peers);
  await requests(web, Math.floor(0.3 * SERVERS * PAGES * peers));
  const victim = cluster.peers.at(-1)!;
  victim.running.child.kill('SIGKILL');
  const moment = web.log.at(-1)!.time;
  const count = web.log.length;
  await pause(30_000);
  const waited = waits(web, moment, web.log.at(-1)!.time);
  // Those that nobody asked for five seconds were the victim's: all others are asked every half second.
  const long = [...waited.values()].filter(ms => ms > 5000);
  const short = [...waited.values()].filter(ms => ms <= 5000);
  const rate = (from: number, to: number) =>
    web.log.filter(({ time }) => time > moment + from && time <= moment + to).length / ((to - from) / 1000);
  console.log(`one of ${peers} peers is killed (its lines with it) after ${count} requests:`);
  console.log(`  servers of the others (${short.length}): next visit after ${middleAndMost(short)}`);
  console.log(`  servers of the dead one (${long.length}): visited again after ${middleAndMost(long)}`);
  console.log(
    `  requests a second: ${rate(-5000, 0).toFixed(0)} before, ${rate(0, 9000).toFixed(0)} meanwhile, ${rate(20_000, 30_000).toFixed(0)} after`,
  );
  const ran = await cluster.ended([victim]);
  const again = web.mustFind().filter(url => web.requests(url) > 1).length;
  const lost = ran.flatMap(({ stderr }) => [...stderr.matchAll(/(\d+) stored pages were on a machine that is gone/g)]);
  const copies = lost.reduce((sum, [, pages]) => sum + Number(pages), 0);
  console.log(
    `  pages missing: ${missing(web)}; asked for twice: ${again}, of them ${copies} whose copies went with the machine`,
  );
}

const missing = (web: Web): number => web.mustFind().filter(url => web.requests(url) === 0).length;

if (what === 'death') await death(Number(counts[0]));
else {
  let one = 0;
  for (const count of counts) one = await speed(Number(count), one);
}
process.exit();
