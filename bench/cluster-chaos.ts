/**
 * Random blows to a cluster of three peers, with one nats-server or three; after each round the collection is that of one
 * machine, nothing but what was lost or under way was fetched twice, the pace held, and the books of every peer are in order.
 *
 *   node bench/cluster-chaos.ts [rounds] [first seed] [seconds in all]
 *
 * With SKEIN_FAKETIME=/path/to/libfaketimeMT.so.1 (Debian's libfaketime) the clocks of the peers differ by minutes, and are set
 * while they run.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as pathOf } from 'node:path';
import { openEngine } from '../src/cluster/engine.ts';
import { changelogStream } from '../src/cluster/topology/layout.ts';
import { noNats } from '../test/cluster/nats.ts';
import { pause } from '../test/journeys/kills.ts';
import {
  type Cluster,
  checkAllBooks,
  Observer,
  openCluster,
  type RunningPeer,
  tooEarly,
  visited,
} from '../test/journeys/peers.ts';
import type { Ran } from '../test/journeys/skein.ts';
import { skein } from '../test/journeys/skein.ts';
import { type Random, randomly } from '../test/random.ts';
import { openWeb, type Web } from '../test/web/web.ts';

if (noNats() !== '') {
  console.log(noNats());
  process.exit(0);
}

/** Milliseconds between two requests to a server; of what a machine shifts; for a round. */
const PACE = 200;
const SHIFT = 25;
const ROUND = 240_000;
/** Pages that may be under way, or not in the changelog yet, when a peer is lost. */
const UNDER_WAY = 40;
/** Seconds: a peer that does not hear the engine asks for so long, and is taken over after the second. */
const ASKS = 2;
const DEAD = 10;

interface Round {
  readonly cluster: Cluster;
  readonly web: Web;
  readonly random: Random;
  /** Killed, and those who left: nothing is expected of them. */
  readonly dead: RunningPeer[];
  readonly away: RunningPeer[];
  /** Pages that a peer may have fetched without the engine, and that others fetch again since they took its place. */
  unsent: number;
}

const living = ({ cluster, dead, away }: Round) =>
  cluster.peers.filter(peer => !dead.includes(peer) && !away.includes(peer) && peer.running.child.exitCode === null);

type Blow = (round: Round) => Promise<string | undefined>;

const library = process.env['SKEIN_FAKETIME'];
/** The clocks of the peers: a file for each, which says by how much it is wrong. */
const clocks = mkdtempSync(pathOf(tmpdir(), 'skein-clocks-'));
process.on('exit', () => rmSync(clocks, { recursive: true, force: true }));

/** Sets the clock of a peer up to ten minutes wrong, either way. */
function setClock(name: string, random: Random): string {
  const minutes = random.below(21) - 10;
  const wrong = `${minutes < 0 ? '' : '+'}${minutes}m`;
  writeFileSync(pathOf(clocks, name), wrong);
  return wrong;
}

async function addPeer({ cluster, random }: Round, name: string, args: readonly string[] = []): Promise<string> {
  if (library === undefined) {
    await cluster.join(name, args);
    return name;
  }
  const wrong = setClock(name, random);
  const time = [`FAKETIME_TIMESTAMP_FILE=${pathOf(clocks, name)}`, 'FAKETIME_CACHE_DURATION=1'];
  await cluster.join(name, args, 'crawl', [
    ...['env', `LD_PRELOAD=${library}`, ...time, 'FAKETIME_DONT_FAKE_MONOTONIC=1'],
  ]);
  return `${name} (${wrong})`;
}

const kill: Blow = async round => {
  const victim = living(round).at(-1);
  if (!victim || living(round).length < 2) return undefined;
  victim.running.child.kill('SIGKILL');
  round.dead.push(victim);
  return `${victim.name} killed`;
};

const sleep: Blow = async round => {
  const victim = living(round).at(-1);
  if (!victim) return undefined;
  const seconds = 4 + round.random.below(12);
  victim.running.child.kill('SIGSTOP');
  await pause(seconds * 1000);
  victim.running.child.kill('SIGCONT');
  return `${victim.name} asleep for ${seconds} s`;
};

const join: Blow = async round => `${await addPeer(round, `late${round.cluster.peers.length}`)} joined`;

async function ask(round: Round, victim: RunningPeer): Promise<string> {
  // What comes after it must find others.
  round.away.push(victim);
  const { code, stderr } = await skein(['peers', 'leave', victim.name, '--engine', round.cluster.nats.url]);
  if (code !== 0) throw new Error(`${victim.name} did not leave: ${stderr}`);
  return `${victim.name} asked to leave`;
}

const leave: Blow = async round => {
  const victim = living(round).at(-1);
  return victim && living(round).length > 1 ? ask(round, victim) : undefined;
};

const twoLeaveOneJoins: Blow = async round => {
  const two = living(round).slice(1).slice(-2);
  return (await Promise.all([...two.map(victim => ask(round, victim)), join(round)])).join(' while ');
};

const clock: Blow = async round => {
  const victim = living(round).at(-1);
  return victim && library !== undefined
    ? `clock of ${victim.name} set to ${setClock(victim.name, round.random)}`
    : undefined;
};

const cut: Blow = async round => {
  const victim = living(round).at(-1);
  if (!victim?.line) return undefined;
  const seconds = 4 + round.random.below(12);
  if (seconds >= DEAD) {
    const own = Math.ceil(round.web.origins.length / living(round).length);
    round.unsent += (ASKS * 1000 * own) / PACE;
  }
  victim.line.cut();
  await pause(seconds * 1000);
  victim.line.mend();
  return `line of ${victim.name} cut for ${seconds} s`;
};

const slow: Blow = async round => {
  for (const { line } of living(round)) line?.slow(50 + round.random.below(250));
  return 'slow lines';
};

const serverAway: Blow = async ({ cluster, random }) => {
  const server = random.pick(cluster.nats.servers);
  const seconds = 1 + random.below(11);
  await server.kill();
  await pause(seconds * 1000);
  await server.start();
  return `${server.name} killed, back after ${seconds} s`;
};

/** The server that leads the stream of a changelog, and a peer, at the same moment. */
const leaderAndPeer: Blow = async round => {
  const { cluster, random } = round;
  await using engine = await openEngine({ address: cluster.nats.address, name: 'chaos', looks: true });
  const { cluster: of } = await engine.manager.streams.info(changelogStream(0));
  const server = cluster.nats.servers.find(({ name }) => name === of?.leader) ?? cluster.nats.servers[0]!;
  const seconds = 1 + random.below(11);
  const dead = await kill(round);
  await server.kill();
  await pause(seconds * 1000);
  await server.start();
  return `${dead} and at once ${server.name}, which led, back after ${seconds} s`;
};

const serverFrozen: Blow = async ({ cluster, random }) => {
  const server = random.pick(cluster.nats.servers);
  server.freeze();
  await pause(6000);
  server.thaw();
  return `${server.name} frozen for 6 s`;
};

const both: Blow = async round => (await Promise.all([serverAway(round), sleep(round)])).join(' and ');

const wipe: Blow = async ({ cluster: { nats } }) => {
  await Promise.all(nats.servers.map(server => server.kill()));
  for (const server of nats.servers) server.wipe();
  await Promise.all(nats.servers.map(server => server.start()));
  return 'engine wiped';
};

const BLOWS: readonly Blow[] = [
  ...[kill, sleep, join, twoLeaveOneJoins, cut, slow, leave, clock],
  ...[serverAway, serverFrozen, both, leaderAndPeer, wipe],
];

const crawlOf = (web: Web) => [
  ...web.seeds,
  ...['--allow-private', '--pace', String(PACE / 1000), '--scope', '*', '--set', 'partitions=16', '--set', 'threads=1'],
];

/** What is wrong after it, nothing if all is well; and how often pages were fetched again. */
async function check(round: Round, ran: readonly Ran[], observer: Observer): Promise<[wrong: string[], again: string]> {
  const { web, cluster, dead, away } = round;
  const wrong: string[] = [];
  const shift = observer.heldUp + SHIFT;
  for (const [pace, of] of [
    [PACE, 'origin'],
    [PACE / 4, 'hostname'],
  ] as const) {
    const early = tooEarly(web, { pace, of });
    if (early > shift) wrong.push(`asked ${early.toFixed(0)} ms too early (${of}; held up ${shift.toFixed(0)} ms)`);
  }
  const left = cluster.peers.filter(peer => !dead.includes(peer) && !away.includes(peer));
  const found = visited(left);
  const missing = web.mustFind().filter(url => !found.has(url)).length;
  if (missing > 0) wrong.push(`${missing} pages are missing`);
  const shared = [...found.values()].filter(({ places }) => places.length > 1).length;
  if (shared > 0) wrong.push(`${shared} pages are at two peers`);
  const said = ran.flatMap(({ stderr }) => [...stderr.matchAll(/(\d+) stored pages were on a machine that is gone/g)]);
  const lost = said.reduce((sum, [, count]) => sum + Number(count), 0);
  const twice = web.mustFind().filter(url => web.requests(url) > 1).length;
  const again = `${twice} fetched twice, ${lost} copies lost`;
  if (twice > lost + UNDER_WAY + round.unsent) wrong.push('more than lost or under way');
  await checkAllBooks(left, 'after it').catch((error: Error) => wrong.push(error.message.slice(0, 300)));
  return [wrong, again];
}

/** Of peers that do not come to an end. */
async function tellWhatTheySaid(peers: readonly RunningPeer[]): Promise<void> {
  for (const { name, running } of peers) {
    running.child.kill('SIGKILL');
    console.log(`${name} said: ${(await running.ended).stderr.slice(-1000)}`);
  }
}

async function play(seed: number): Promise<boolean> {
  const random = randomly(1000 + seed);
  // In 26 rounds each of the thirteen blows comes first once with one server and once with three.
  const servers = seed % 2 === 0 ? 3 : 1;
  const addresses = random.below(3) > 0;
  const size = addresses ? { servers: 12, pagesPerServer: 40 } : { servers: 8, pagesPerServer: 16 };
  await using web = await openWeb({ seed, ...size, latency: 5, addresses });
  await using cluster = await openCluster({ servers, lines: true });
  const observer = new Observer();
  const round: Round = { cluster, web, random, dead: [], away: [], unsent: 0 };
  const start = performance.now();
  const peers = [await addPeer(round, 'p0', crawlOf(web)), await addPeer(round, 'p1'), await addPeer(round, 'p2')];
  const done: string[] = [];
  for (let blow = 0; blow < 2; blow++) {
    await pause(random.below(3000));
    const struck = blow === 0 ? BLOWS[seed % BLOWS.length]! : random.pick(BLOWS);
    if (living(round).length > 0) done.push((await struck(round).catch(String)) ?? 'nothing');
  }
  const waited = cluster.ended(round.dead);
  const ran = await Promise.race([waited, pause(ROUND)]).catch((error: Error) => error);
  const how = `${servers} server(s), ${addresses ? 'an address each' : 'one address'}, ${peers.join(' ')}`;
  const told = `${seed}: ${how}: ${done.join('; ')}`;
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  const [wrong, again] = Array.isArray(ran)
    ? await check(round, ran, observer)
    : [[`it did not end well: ${ran ?? 'late'}`], ''];
  if (!Array.isArray(ran)) await tellWhatTheySaid(living(round));
  console.log(`${told}: ${wrong.length === 0 ? 'well' : `WRONG: ${wrong.join('; ')}`}; ${again} (${seconds} s)`);
  return wrong.length === 0;
}

const [rounds = 30, first = 1, seconds = 3600] = process.argv.slice(2).map(Number);
let [played, well] = [0, 0];
while (played < rounds && performance.now() < seconds * 1000) if (await play(first + played++)) well++;
console.log(`${well} of ${played} rounds went well`);
process.exit(well === played ? 0 : 1);
