/**
 * What would a cluster of 100 peers with a billion known URLs cost, how long does it take to absorb a lost machine, and
 * what breaks first? Virtual time: the ring, the layout, the rules for snapshots and the detector's times are the
 * product's own; what a page or a link costs was measured on its own, and stands below with its source.
 *
 *   node bench/cluster-simulated.ts [--urls 1e9] [--peers 100] [--partitions 1024] [--rate 100] [--snapshot-hours 1] [--scales]
 *
 * It crawls minute by minute until so many URLs are known, then loses one machine. Every peer is taken to have enough to do
 * all the time: how fast single servers may be visited is not its question. With --scales (the default when
 * nothing else is said) it also asks the same of smaller and larger clusters, and names the first limit that each breaks.
 */
import { parseArgs } from 'node:util';
import { partitionOf } from '../src/base/partition.ts';
import { DEAD } from '../src/cluster/members/detector.ts';
import { BEAT, encodeHeartbeat, FULL_BEAT_EVERY, idle } from '../src/cluster/members/heartbeat.ts';
import { assign } from '../src/cluster/ring/assign.ts';
import { layoutOf, shardOf } from '../src/cluster/topology/layout.ts';
import { grid } from './peers/report.ts';

/** Unit costs. Bytes, seconds. */
const COST = {
  /** A first visit in the changelog, after zstd: 355 to 385 on ledgers of two documentation sites. */
  changelogPage: 385,
  /** A link of the exchange: 26.4 for a real URL deflated in batches of 100, and about 20 for anchor, depth and source. */
  link: 46,
  /** Of a batch, beside its links: subject, headers, acknowledgement. */
  message: 250,
  /** Per known URL in a peer's memory: bench/growth.ts. */
  memory: 43,
  /** Of a ledger per visited page (20 links each) and per known one, and what zstd leaves of both: bench/growth.ts --keep. */
  ledgerPage: 1750,
  ledgerKnown: 66,
  snapshotPart: 0.36,
  /** Getting an object, from one peer: 33 to 45 MB/s. */
  get: 33e6,
  /** Applying a changeset, per page. */
  apply: 14e-6,
  /** Claim, first record of the new epoch, opening files: per partition. */
  claim: 0.05,
} as const;

/** What three servers of the engine with two shared cores bore; more cores bear more. */
const LIMIT = {
  /** Messages a second, three copies. */
  messages: 12_000,
  /** Bytes a second into the engine. */
  bytes: 100e6,
  /** Disk of each server. */
  disk: 1e12,
  /** Core heartbeats that a peer hears a second: 6 µs each, so that it is 3% of a core. */
  heard: 5000,
  /** Memory of a peer. */
  memory: 32e9,
  /** Seconds until a lost machine's servers are visited again. */
  absorbed: 120,
} as const;

/** A page has about three links to other servers. */
const FOREIGN_LINKS = 3;
/** URLs that become known per page visited. */
const KNOWN_PER_PAGE = 4;
/** A batch leaves with so many links, or after so many seconds. */
const BATCH_LINKS = 200;
const BATCH_SECONDS = 20;
/** A snapshot is taken when the log since the last one is half as long as it, or after --snapshot-hours. */
const SNAPSHOT_PART = 0.5;
const HOUR = 3600;
const STEP = 60;
const SERVERS = 200_000;

const { values } = parseArgs({
  options: {
    urls: { type: 'string', default: '1e9' },
    peers: { type: 'string', default: '100' },
    partitions: { type: 'string', default: '1024' },
    rate: { type: 'string', default: '100' },
    'snapshot-hours': { type: 'string', default: '1' },
    scales: { type: 'boolean', default: process.argv.length === 2 },
  },
});
const snapshotHours = Number(values['snapshot-hours']);

interface Cluster {
  readonly urls: number;
  readonly peers: number;
  readonly partitions: number;
  /** Pages a second of one peer: what it fetches at its best. */
  readonly rate: number;
}

const members = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `peer-${i}`, capacity: 1 }));

/** Share of all URLs in each partition: few servers are large, most are small. */
function sharesOf(partitions: number): Float64Array {
  const shares = new Float64Array(partitions);
  let sum = 0;
  for (let i = 0; i < SERVERS; i++) {
    // The largest are cut off, as `per-server` does it.
    const size = Math.min(1 / (i + 50), 1 / 1000);
    shares[partitionOf(`host-${i}.example`, partitions)]! += size;
    sum += size;
  }
  return shares.map(share => share / sum);
}

interface Grown {
  readonly seconds: number;
  readonly pages: Float64Array;
  readonly snapshots: Float64Array;
  /** Bytes of log since the snapshot, by partition. */
  readonly log: Float64Array;
  /** Most bytes that the changelog streams held at once, low-water marks considered. */
  readonly mostLog: number;
  readonly snapshotBytes: number;
}

/** Crawls until so many URLs are known. */
function grow({ urls, peers, partitions, rate }: Cluster, shares: Float64Array): Grown {
  const owners = assign(partitions, members(peers));
  const load = new Map<string, number>();
  for (const [p, owner] of owners.entries()) load.set(owner!, (load.get(owner!) ?? 0) + shares[p]!);
  const layout = layoutOf(partitions);
  const [pages, snapshots, log, since] = [0, 0, 0, 0].map(() => new Float64Array(partitions));
  const target = urls / KNOWN_PER_PAGE;
  let [seconds, visited, mostLog, snapshotBytes] = [0, 0, 0, 0];
  while (visited < target) {
    seconds += STEP;
    for (let p = 0; p < partitions; p++) {
      // A peer spreads its speed over what it has.
      const more = (STEP * rate * shares[p]!) / load.get(owners[p]!)!;
      visited += more;
      pages![p]! += more;
      log![p]! += more * COST.changelogPage;
      since![p]! += STEP;
      if (log![p]! < SNAPSHOT_PART * snapshots![p]! && since![p]! < snapshotHours * HOUR) continue;
      snapshots![p] = ledgerOf(pages![p]!) * COST.snapshotPart;
      snapshotBytes += snapshots![p]!;
      log![p] = since![p] = 0;
    }
    mostLog = Math.max(mostLog, retained(layout, since!, pages!, seconds));
  }
  return { seconds, pages: pages!, snapshots: snapshots!, log: log!, mostLog, snapshotBytes };
}

const ledgerOf = (pages: number): number => pages * COST.ledgerPage + pages * KNOWN_PER_PAGE * COST.ledgerKnown;

/** A stream is purged up to the oldest snapshot of its partitions: the slowest of them keeps the log of all. */
function retained(
  layout: ReturnType<typeof layoutOf>,
  since: Float64Array,
  pages: Float64Array,
  seconds: number,
): number {
  const oldest = new Float64Array(layout.shards);
  const speed = new Float64Array(layout.shards);
  for (let p = 0; p < layout.partitions; p++) {
    const shard = shardOf(layout, p);
    oldest[shard] = Math.max(oldest[shard]!, since[p]!);
    speed[shard]! += (pages[p]! / seconds) * COST.changelogPage;
  }
  return oldest.reduce((sum, age, shard) => sum + age * speed[shard]!, 0);
}

interface Traffic {
  /** Batches of links a second in the whole cluster, collected by peer, and collected by partition. */
  readonly messages: number;
  readonly messagesByPartition: number;
  /** Bytes a second of one peer, out and in. */
  readonly exchange: number;
  readonly changelog: number;
  readonly snapshots: number;
  readonly heartbeats: number;
}

function trafficOf({ peers, partitions, rate }: Cluster, { seconds, snapshotBytes }: Grown): Traffic {
  const links = rate * FOREIGN_LINKS * (1 - 1 / peers);
  // From each sender to each partition that is not its own: full batches, or one every so often, or one for each link.
  const batches = (perSender: number, senders: number) =>
    senders *
    partitions *
    Math.min(perSender / partitions, Math.max(perSender / partitions / BATCH_LINKS, 1 / BATCH_SECONDS));
  const messages = batches(links, peers);
  const beat = encodeHeartbeat({
    ...{ ...idle, name: 'peer-00', session: '0123456789abcdef', beat: 100_000, protocol: 1, skein: '0.1.0' },
    phase: 'working',
  }).length;
  const full = peers * '["peer-00",100000,100000],'.length;
  return {
    messages,
    messagesByPartition: batches((links * peers) / partitions, partitions),
    exchange: links * COST.link + (messages / peers) * COST.message,
    changelog: rate * COST.changelogPage,
    snapshots: snapshotBytes / seconds / peers,
    heartbeats: ((1000 / BEAT) * peers * (beat * FULL_BEAT_EVERY + full)) / FULL_BEAT_EVERY,
  };
}

interface Loss {
  readonly partitions: number;
  /** Partitions that move between peers that live, because of the load bound. */
  readonly between: number;
  /** Seconds until a partition is visited again: the median, and the last one. */
  readonly median: number;
  readonly last: number;
  readonly bytes: number;
}

/** One machine dies; those whom the ring names get snapshots and logs, one partition after the other. */
function lose({ peers, partitions }: Cluster, { snapshots, log }: Grown): Loss {
  const before = assign(partitions, members(peers));
  const lost = before[0]!;
  const after = assign(
    partitions,
    members(peers).filter(({ name }) => name !== lost),
  );
  const busy = new Map<string, number>();
  const times: number[] = [];
  let bytes = 0;
  let between = 0;
  for (const [p, owner] of before.entries()) {
    if (owner === after[p]) continue;
    if (owner !== lost) {
      between++;
      continue;
    }
    const fetched = snapshots[p]! + log[p]!;
    bytes += fetched;
    const seconds = COST.claim + fetched / COST.get + (log[p]! / COST.changelogPage) * COST.apply;
    const done = (busy.get(after[p]!) ?? DEAD / 1000) + seconds;
    busy.set(after[p]!, done);
    times.push(done);
  }
  times.sort((a, b) => a - b);
  return { partitions: times.length, between, median: times[times.length >> 1] ?? 0, last: times.at(-1) ?? 0, bytes };
}

interface Figures extends Traffic, Loss {
  readonly cluster: Cluster;
  readonly grown: Grown;
  readonly memory: number;
  readonly peerDisk: number;
  readonly engineDisk: number;
  readonly engineBytes: number;
}

function simulate(cluster: Cluster): Figures {
  const shares = sharesOf(cluster.partitions);
  const grown = grow(cluster, shares);
  const traffic = trafficOf(cluster, grown);
  const owners = assign(cluster.partitions, members(cluster.peers));
  const held = new Map<string, number>();
  for (const [p, owner] of owners.entries()) held.set(owner!, (held.get(owner!) ?? 0) + grown.pages[p]!);
  const most = Math.max(...held.values());
  const snapshots = grown.snapshots.reduce((sum, bytes) => sum + bytes, 0);
  const { exchange, changelog } = traffic;
  return {
    ...traffic,
    ...lose(cluster, grown),
    cluster,
    grown,
    memory: most * KNOWN_PER_PAGE * COST.memory,
    peerDisk: ledgerOf(most),
    // Two snapshots of each partition are kept; links stay for an hour at most, until all owners have taken them.
    engineDisk: 2 * snapshots + grown.mostLog + cluster.peers * exchange * HOUR,
    engineBytes: cluster.peers * (exchange + changelog + traffic.snapshots),
  };
}

/** How much of each limit is used; the first beyond 1 is what breaks. */
function strains(figures: Figures): [string, number][] {
  const { messages, engineBytes, engineDisk, memory, last, cluster } = figures;
  const all: [string, number][] = [
    ['messages of the engine', messages / LIMIT.messages],
    ['bytes into the engine', engineBytes / LIMIT.bytes],
    ["the engine's disk", engineDisk / LIMIT.disk],
    ['heartbeats', cluster.peers / LIMIT.heard],
    ['memory of a peer', memory / LIMIT.memory],
    ['absorbing a loss', last / LIMIT.absorbed],
  ];
  return all.toSorted((a, b) => b[1] - a[1]);
}

const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 2 : 0)} MB`;
const giga = (bytes: number): string => `${(bytes / 1e9).toFixed(bytes < 1e10 ? 2 : 0)} GB`;
const kilo = (bytes: number): string => `${(bytes / 1e3).toFixed(1)} kB`;

function report(figures: Figures): void {
  const { cluster, grown } = figures;
  const { urls, peers, partitions, rate } = cluster;
  console.log(
    `${urls.toExponential(0)} URLs, ${peers} peers of ${rate} pages/s, ${partitions} partitions; crawled in ${(grown.seconds / 3600).toFixed(1)} h of virtual time`,
  );
  console.log(
    grid([
      ['of one peer', ''],
      ['  links out, and as many in, per second', kilo(figures.exchange)],
      ['  changelog out per second', kilo(figures.changelog)],
      ['  snapshots out per second', kilo(figures.snapshots)],
      ['  heartbeats in per second', kilo(figures.heartbeats)],
      ['  memory for known URLs, the fullest peer', giga(figures.memory)],
      ['  disk for ledgers, the fullest peer', giga(figures.peerDisk)],
      ['of the engine', ''],
      ['  batches of links per second, collected by peer', figures.messages.toFixed(0)],
      ['  the same, were they collected by partition', figures.messagesByPartition.toFixed(0)],
      ['  bytes in per second', mega(figures.engineBytes)],
      ['  disk of each server', giga(figures.engineDisk)],
      ['of a lost machine', ''],
      ['  partitions, and those that move between others', `${figures.partitions}, ${figures.between}`],
      ['  bytes fetched from the engine', mega(figures.bytes)],
      ['  until visited again, with 10 s of silence: median', `${figures.median.toFixed(1)} s`],
      ['  and the last', `${figures.last.toFixed(1)} s`],
    ]),
  );
}

const asked = Object.fromEntries(
  (['urls', 'peers', 'partitions', 'rate'] as const).map(name => [name, Number(values[name])]),
) as unknown as Cluster;
report(simulate(asked));
if (values.scales) {
  const rows = [
    { urls: 1e6, peers: 3, partitions: 64 },
    { urls: 1e8, peers: 10, partitions: 64 },
    { urls: 1e8, peers: 10, partitions: 1024 },
    { urls: 1e9, peers: 30, partitions: 1024 },
    { urls: 1e9, peers: 100, partitions: 64 },
    { urls: 1e9, peers: 100, partitions: 1024 },
    { urls: 1e9, peers: 100, partitions: 4096 },
    { urls: 3e9, peers: 300, partitions: 1024 },
    { urls: 1e10, peers: 1000, partitions: 1024 },
  ].map(scale => {
    const figures = simulate({ ...scale, rate: asked.rate });
    const [[what, part], [second, next]] = strains(figures) as [[string, number], [string, number]];
    return [
      ...[scale.urls.toExponential(0), `${scale.peers}`, `${scale.partitions}`, figures.messages.toFixed(0)],
      ...[mega(figures.engineBytes), giga(figures.engineDisk), giga(figures.memory), `${figures.last.toFixed(0)} s`],
      `${what} ${(100 * part).toFixed(0)}%, then ${second} ${(100 * next).toFixed(0)}%`,
    ];
  });
  console.log('\nThe limits that are nearest, in percent of what three servers on two shared cores each bore:');
  const head = [
    'URLs',
    'peers',
    'partitions',
    'messages/s',
    'engine in/s',
    'engine disk',
    'peer memory',
    'absorbed',
    'nearest limit',
  ];
  console.log(grid([head, ...rows]));
}
