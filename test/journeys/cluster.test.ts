/**
 * Several machines crawl as one, with a real nats-server: processes on loopback that join, die, freeze and lose the engine.
 * The collection as a whole is that of one machine, whatever happened.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { openEngine } from '../../src/cluster/engine.ts';
import { natsSnapshots } from '../../src/cluster/snapshots/nats-snapshots.ts';
import { noNats } from '../cluster/nats.ts';
import { openWeb, type Web } from '../web/web.ts';
import { pause } from './kills.ts';
import {
  type Cluster,
  checkAllBooks,
  Observer,
  openCluster,
  type RunningPeer,
  requests,
  type Spacing,
  tooEarly,
  visited,
} from './peers.ts';
import type { Ran } from './skein.ts';

/** Seconds between two requests to a server. */
const PACE = 0.2;
const skip = noNats() || false;

const webOptions = { servers: 12, pagesPerServer: 25, latency: 10, addresses: true } as const;

const crawlOf = (web: Web) => [
  ...web.seeds,
  ...['--allow-private', '--pace', String(PACE), '--scope', '*', '--set', 'partitions=12', '--set', 'threads=1'],
];

/** What must be found is there once, and nothing but it. */
function checkWhole(web: Web, peers: readonly RunningPeer[], told: string): void {
  const found = visited(peers);
  const pages = [...found.values()].filter(({ outcome }) => outcome === 'fetched' || outcome === 'same');
  const sitemaps = (url: string) => /\/sitemap[^/]*$/.test(url);
  assert.deepEqual(
    pages
      .map(({ url }) => url)
      .filter(url => !sitemaps(url))
      .sort(),
    web.mustFind(),
    told,
  );
  const twice = [...found.values()].filter(({ places }) => places.length > 1);
  assert.deepEqual(twice, [], `each page is one peer's (${told})`);
}

/** Milliseconds by which a machine that is busy may shift a request between the moment it is due and the server's log. */
const SHIFT = 25;

/** The pace that was asked for was kept, by the logs of the servers. */
function checkPace(web: Web, observer: Observer, t: TestContext, spacing: Partial<Spacing> = {}): void {
  const early = tooEarly(web, { pace: PACE * 1000, of: 'origin', ...spacing });
  const told = `asked too early by ${early.toFixed(0)} ms at most; this process was held up for ${observer.heldUp.toFixed(0)} ms`;
  t.diagnostic(told);
  assert.ok(early <= observer.heldUp + SHIFT, told);
}

/** Pages that a peer may have had under way, or not yet in the changelog: about two seconds of its servers. */
const UNDER_WAY = 40;

/** Only what went with the disk of a machine, or was under way there, was fetched again. */
function checkAgain(web: Web, ran: readonly Ran[], t: TestContext): void {
  const said = ran.flatMap(({ stderr }) => [...stderr.matchAll(/(\d+) stored pages were on a machine that is gone/g)]);
  const lost = said.reduce((sum, [, count]) => sum + Number(count), 0);
  t.diagnostic(`asked for twice: ${again(web)}; copies that went with a machine: ${lost}`);
  assert.ok(again(web) <= lost + UNDER_WAY, `${again(web)} asked for twice, ${lost} copies were lost`);
}

/** Resolves when a peer has so many visits in its ledgers. */
async function hasVisited(peer: RunningPeer, count: number): Promise<void> {
  while (visited([peer]).size < count) await pause(50);
}

/** Pages that were asked for more than once. */
const again = (web: Web): number => web.mustFind().filter(url => web.requests(url) > 1).length;

async function twoAndAThird(cluster: Cluster, web: Web): Promise<RunningPeer[]> {
  const first = await cluster.join('ann', crawlOf(web));
  return [first, await cluster.join('bob'), await cluster.join('eve')];
}

/** Resolves when the engine has a snapshot of every partition. */
async function allSnapshots({ nats }: Cluster): Promise<void> {
  await using engine = await openEngine({ address: nats.address, name: 'test', looks: true });
  const { newest } = natsSnapshots(engine);
  for (let partition = 0; partition < engine.layout.partitions; partition++)
    while (!(await newest(partition))) await pause(50);
}

describe('a cluster', { skip }, () => {
  test('peers that join share the work, and find what one would', async t => {
    await using web = await openWeb({ ...webOptions, seed: 5, features: ['redirects', 'sitemaps', 'duplicates'] });
    await using cluster = await openCluster();
    const observer = new Observer();
    const peers = await twoAndAThird(cluster, web);
    const ran = await cluster.ended();
    checkPace(web, observer, t);
    checkWhole(web, peers, 'three peers');
    await checkAllBooks(peers, 'at the end');
    const pages = ran.map(({ stdout }) => JSON.parse(stdout.toString()).pages as number);
    t.diagnostic(`pages by peer: ${pages}; asked for twice: ${again(web)}`);
    // Ports are by lot, and with them partitions: in one of eight runs the ring leaves one of the three without a server.
    assert.ok(pages.filter(count => count > 0).length >= 2, `peers have shared the work: ${pages}`);
    assert.equal(again(web), 0, 'nothing is fetched twice because it moved');
  });

  test('a peer that is killed is taken over, and nothing is missing', async t => {
    await using web = await openWeb({ ...webOptions, seed: 6, features: ['redirects'] });
    await using cluster = await openCluster();
    const observer = new Observer();
    const [ann, bob, eve] = (await twoAndAThird(cluster, web)) as [RunningPeer, RunningPeer, RunningPeer];
    await hasVisited(eve, 20);
    eve.running.child.kill('SIGKILL');
    const ran = await cluster.ended([eve]);
    checkPace(web, observer, t);
    checkWhole(web, [ann, bob], 'after a kill');
    await checkAllBooks([ann, bob], 'after a kill');
    checkAgain(web, ran, t);
  });

  test('a peer that sleeps and wakes up again has lost its partitions, and asks nobody before it knows', async t => {
    await using web = await openWeb({ ...webOptions, seed: 7 });
    await using cluster = await openCluster();
    const observer = new Observer();
    const [ann, bob, eve] = (await twoAndAThird(cluster, web)) as [RunningPeer, RunningPeer, RunningPeer];
    await hasVisited(eve, 20);
    eve.running.child.kill('SIGSTOP');
    await Promise.race([ann.running.says('on a machine that is gone'), bob.running.says('on a machine that is gone')]);
    eve.running.child.kill('SIGCONT');
    const ran = await cluster.ended();
    checkPace(web, observer, t);
    checkWhole(web, [ann, bob, eve], 'after a sleep');
    await checkAllBooks([ann, bob, eve], 'after a sleep');
    checkAgain(web, ran, t);
  });

  test('a peer whose line to the engine is cut soon asks nobody any more, and goes on when the line is back', async () => {
    await using web = await openWeb({ ...webOptions, servers: 6, seed: 8 });
    await using cluster = await openCluster({ lines: true });
    const ann = await cluster.join('ann', crawlOf(web));
    await requests(web, 30);
    ann.line!.cut();
    // Two seconds after the last answer, and what was under way.
    await pause(4000);
    const asked = web.requests();
    await pause(2000);
    assert.equal(web.requests(), asked);
    ann.line!.mend();
    await cluster.ended();
    checkWhole(web, [ann], 'after a cut');
    assert.equal(again(web), 0, 'what it had fetched stays');
  });

  test('over slow lines a crawl takes longer, and ends', async t => {
    await using web = await openWeb({ ...webOptions, servers: 4, pagesPerServer: 5, seed: 9 });
    await using cluster = await openCluster({ lines: true });
    const ann = await cluster.join('ann', crawlOf(web));
    const bob = await cluster.join('bob');
    // From one peer to the other and back is more than a second.
    for (const { line } of cluster.peers) line!.slow(300);
    await cluster.ended();
    checkWhole(web, [ann, bob], 'over slow lines');
    t.diagnostic(`asked for twice: ${again(web)}`);
  });

  test('an address that servers of several peers share is asked by one peer at a time, at its own pace', async t => {
    await using web = await openWeb({ ...webOptions, servers: 8, pagesPerServer: 8, addresses: false, seed: 9 });
    await using cluster = await openCluster();
    const observer = new Observer();
    const peers = [await cluster.join('ann', crawlOf(web)), await cluster.join('bob')];
    const ran = await cluster.ended();
    checkPace(web, observer, t);
    // Servers of one address are a quarter of the pace apart.
    checkPace(web, observer, t, { pace: (PACE * 1000) / 4, of: 'hostname' });
    checkWhole(web, peers, 'two peers at one address');
    const pages = ran.map(({ stdout }) => JSON.parse(stdout.toString()).pages as number);
    t.diagnostic(`pages by peer: ${pages}`);
    assert.ok(
      pages.every(count => count > 0),
      `every peer has fetched: ${pages}`,
    );
    assert.ok(Math.max(...web.log.map(({ open }) => open)) <= 4, 'four connections to the address at most');
  });

  test('without the engine nothing is lost: it is killed, and started again', async t => {
    await using web = await openWeb({ ...webOptions, seed: 8 });
    await using cluster = await openCluster();
    const observer = new Observer();
    const ann = await cluster.join('ann', crawlOf(web));
    const bob = await cluster.join('bob');
    await requests(web, 100);
    await cluster.nats.servers[0]!.kill();
    await Promise.all([ann, bob].map(({ running }) => running.says('The engine does not answer')));
    await cluster.nats.servers[0]!.start();
    await cluster.ended();
    checkPace(web, observer, t);
    checkWhole(web, [ann, bob], 'after the engine was away');
    await checkAllBooks([ann, bob], 'after the engine was away');
    t.diagnostic(`asked for twice: ${again(web)}`);
    assert.equal(again(web), 0);
  });

  test('an engine that is wiped while partitions move gets everything again, and a peer that dies after it is taken over', async t => {
    await using web = await openWeb({ ...webOptions, pagesPerServer: 50, servers: 8, seed: 10 });
    await using cluster = await openCluster();
    const observer = new Observer();
    const ann = await cluster.join('ann', crawlOf(web));
    const bob = await cluster.join('bob');
    await hasVisited(bob, 1); // others are on their way to it
    const [server] = cluster.nats.servers;
    await server!.kill();
    server!.wipe();
    await server!.start();
    await Promise.all([ann, bob].map(({ running }) => running.says('The engine has lost')));
    await allSnapshots(cluster);
    // A machine that is slow enough may have done everything by now: then there is nothing to take over.
    const lost = bob.running.child.exitCode === null ? [bob] : [];
    for (const { running } of lost) running.child.kill('SIGKILL');
    const ran = await cluster.ended(lost);
    const left = [ann, bob].filter(peer => !lost.includes(peer));
    checkPace(web, observer, t);
    checkWhole(web, left, 'after the engine was wiped');
    await checkAllBooks(left, 'after the engine was wiped');
    checkAgain(web, ran, t);
  });
});
