/** Machines whose clocks are minutes apart crawl as one: what is due and since when is told by the engine's time; real nats-server. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { describe, type TestContext, test } from 'node:test';
import { noNats } from '../cluster/nats.ts';
import { openPages, type Pages } from './pages.ts';
import { type Cluster, openCluster, type RunningPeer, visited } from './peers.ts';
import type { Ran } from './skein.ts';

const [library] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');
const skip = noNats() || (library === undefined ? 'no libfaketime: scripts/install-debian.sh libfaketime' : false);

const SERVERS = 6;
const options = ['--allow-private', '--pace', '0.1', '--scope', '*', '--set', 'partitions=8', '--set', 'threads=1'];

/** A command that runs a machine whose clock is so many minutes wrong. */
const clockWrong = (minutes: number) => [
  ...['env', `LD_PRELOAD=${library}`, `FAKETIME=${minutes < 0 ? '' : '+'}${minutes}m`],
  'FAKETIME_DONT_FAKE_MONOTONIC=1',
];

const page = (server: number, path: string) => ({
  body: `<html><title>${path} of ${server}</title><body><p>${`words of ${server} and ${path} `.repeat(20)}</p>
    ${path === '/' ? '<a href="/1">1</a> <a href="/2">2</a>' : ''}</body></html>`,
});

async function openServers(stack: AsyncDisposableStack): Promise<Pages[]> {
  return Promise.all(
    Array.from({ length: SERVERS }, async (_, server) => {
      const pages = stack.use(await openPages(`127.0.${60 + server}.1`));
      for (const path of ['/', '/1', '/2']) pages.set(path, page(server, path));
      return pages;
    }),
  );
}

const seedsOf = (servers: readonly Pages[]) => servers.map(({ origin }) => `${origin}/`);

const pagesOf = (ran: readonly Ran[]) =>
  ran.reduce((sum, { stdout }) => sum + (JSON.parse(stdout.toString()).pages as number), 0);

/** Seconds for which a server asks to be left alone. */
const REST = 30;

/** A peer has had a refusal when it dies; whoever inherits it keeps to what it was told, no longer and no shorter. */
async function inheritRefusal(t: TestContext, dies: number, inherits: number): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const servers = await openServers(stack);
  const asked: number[][] = servers.map(() => []);
  for (const [i, server] of servers.entries())
    server.set('/1', count => {
      asked[i]!.push(performance.now());
      return count === 0 ? { status: 503, headers: { 'retry-after': String(REST) } } : page(i, '/1');
    });
  await using cluster: Cluster = await openCluster();
  const ann = await cluster.join('ann', [...seedsOf(servers), ...options], 'crawl', clockWrong(dies));
  const bob: RunningPeer = await cluster.join('bob', [], 'crawl', clockWrong(inherits));
  while (asked.some(times => times.length === 0)) await new Promise(resolve => setTimeout(resolve, 50));
  // What was refused has reached the engine.
  await new Promise(resolve => setTimeout(resolve, 2000));
  ann.running.child.kill('SIGKILL');
  await cluster.ended([ann]);
  const waits = asked.map(([first, second]) => ((second ?? Number.NaN) - first!) / 1000);
  t.diagnostic(`asked again after ${waits.map(wait => wait.toFixed(1))} s`);
  for (const wait of waits) assert.ok(wait > REST - 1, `asked again after ${wait} s, and not before ${REST}`);
  const found = [...visited([bob]).values()].filter(({ outcome }) => outcome === 'fetched');
  assert.equal(found.length, 3 * SERVERS, 'nothing is missing');
}

describe('machines whose clocks are minutes apart', { skip, concurrency: 2 }, () => {
  for (const [ann, bob] of [
    [9, -9],
    [-9, 9],
  ] as const)
    test(`a round looks at each page once, whoever has it (${ann} and ${bob} minutes)`, async () => {
      await using stack = new AsyncDisposableStack();
      const servers = await openServers(stack);
      await using cluster = await openCluster();
      await cluster.join('ann', [...seedsOf(servers), ...options], 'crawl', clockWrong(ann));
      await cluster.join('bob', [], 'crawl', clockWrong(bob));
      await cluster.ended();
      cluster.peers.length = 0;
      const before = servers.map(({ asked }) => asked.length);
      const round = ['--budget', '100%', '--set', 'second-look=0', '--set', 'notices=off'];
      await Promise.all([
        cluster.join('ann', round, 'refresh', clockWrong(ann)),
        cluster.join('bob', round, 'refresh', clockWrong(bob)),
      ]);
      assert.equal(pagesOf(await cluster.ended()), 3 * SERVERS);
      const looks = servers.map(({ asked }, i) => asked.slice(before[i]).toSorted());
      for (const each of looks) assert.deepEqual(each, ['/', '/1', '/2']);
    });

  test('Retry-After holds for an heir whose clock is behind', t => inheritRefusal(t, 9, -9));
  test('Retry-After holds for an heir whose clock is ahead', t => inheritRefusal(t, -9, 9));
});
