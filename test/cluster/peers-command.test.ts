/** `skein peers` as a process, looking at peers that live, are silent, and have died. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { schemas } from '../../src/cli/print/schemas.ts';
import { Claims } from '../../src/cluster/claims.ts';
import { openEngine } from '../../src/cluster/engine.ts';
import { idle } from '../../src/cluster/members/heartbeat.ts';
import { PeerMembers } from '../../src/cluster/members/members.ts';
import { WatchedBucket } from '../../src/cluster/watched-bucket.ts';
import { Runs } from '../../src/engine/cluster/runs.ts';
import { rememberCluster } from '../../src/ledger/collection/cluster-file.ts';
import { skein, workplace } from '../journeys/skein.ts';
import { type Nats, noNats, openNats } from './nats.ts';

const skip = noNats() || false;

async function joined(nats: Nats, name: string, exchanged: [string, number, number][]) {
  const engine = await openEngine({ address: nats.address, name, collection: { id: 'c', partitions: 8 } });
  const leaving = Promise.withResolvers<void>();
  const members = await PeerMembers.join({
    engine,
    name,
    clock: systemClock,
    load: () => ({ ...idle, pages: 1234, servers: 7, rate: 2.5, exchanged }),
    answerers: {
      leave: () => {
        leaving.resolve();
        return true;
      },
    },
  });
  const claims = await Claims.open(engine.buckets.owner, members, 8);
  members.start();
  let closed: Promise<void> | undefined;
  const end = async () => {
    await members.leave();
    await claims[Symbol.asyncDispose]();
    await engine.close();
  };
  const close = () => (closed ??= end());
  return { engine, members, claims, leaving: leaving.promise, close, [Symbol.asyncDispose]: close };
}

test('a machine that is refused leaves nothing behind', { skip }, async () => {
  await using nats = await openNats();
  await using a = await joined(nats, 'a', []);
  const meta = await WatchedBucket.open(a.engine.buckets.meta);
  await new Runs(meta).begin('crawl', Date.now(), false);
  meta.close();
  using place = workplace();
  const data = join(place.path, 'data');
  for (const [words, says] of [
    [['crawl', '--peer', 'a'], /A peer named a is already in this cluster/],
    [['refresh', '--peer', 'b'], /The peers of this cluster run a crawl; this would be a refresh/],
  ] as const) {
    const { code, stderr } = await skein([...words, '--engine', nats.url, '--data', data]);
    assert.equal(code, 4, stderr);
    assert.match(stderr, says);
    assert.equal(existsSync(data), false, words[0]);
  }
});

test('peers are listed with what they hold, and one leaves when it is asked to', { skip }, async () => {
  await using nats = await openNats();
  await using a = await joined(nats, 'a', [['b', 10, 5]]);
  await using b = await joined(nats, 'b', [['a', 5, 9]]);
  await using c = await joined(nats, 'c', []);
  for (const partition of [0, 1, 2]) await a.claims.take(partition);
  for (const partition of [3, 4]) await b.claims.take(partition);
  await c.claims.take(5);
  // As kill -9 does it: no goodbye.
  await c.engine.connection.close();
  await c.members.leave();
  await c.claims[Symbol.asyncDispose]();
  const list = await skein(['peers', '--engine', nats.url, '--json']);
  assert.equal(list.code, 0, list.stderr);
  const seen = JSON.parse(list.stdout.toString());
  assert.ok(schemas['peers']!.safeParse(seen).success, list.stdout.toString());
  const short = seen.peers.map((peer: Record<string, unknown>) => [peer['peer'], peer['state'], peer['partitions']]);
  assert.deepEqual(short, [
    ['a', 'working', 3],
    ['b', 'working', 2],
    ['c', 'dead', 1],
  ]);
  assert.deepEqual(seen.peers[0].exchanged, [{ peer: 'b', sent: 10, received: 5 }]);
  assert.equal(seen.partitions.filter(({ peer }: { peer: string | null }) => peer === null).length, 2);
  const plain = await skein(['peers', '--engine', nats.url]);
  const text = plain.stdout.toString();
  assert.match(text, /2 peers at nats:/);
  assert.match(text, /\ba +working .*38%/);
  assert.match(text, /8 partitions: 2 held by no peer/);
  assert.match(text, /\ba +b +10 +9/);
  assert.match(text, /c: It is not in the cluster\./);

  // On a machine of the cluster nothing has to be named.
  using place = workplace();
  rememberCluster(place.path, { engine: nats.url, peer: 'b' });
  assert.equal(
    (await skein(['peers', '--data', place.path])).stdout.toString().split('\n').length,
    text.split('\n').length,
  );
  void b.leaving.then(() => {
    b.members.startLeaving();
    return b.close();
  });
  const left = await skein(['peers', 'leave', '--data', place.path, '--json']);
  assert.equal(left.code, 0, left.stderr);
  assert.ok(schemas['peers leave']!.safeParse(JSON.parse(left.stdout.toString())).success);
  assert.equal(JSON.parse(left.stdout.toString()).peer, 'b');
  // It said goodbye, and has its claims still, as after a run; c died.
  const after = (await skein(['peers', '--engine', nats.url])).stdout.toString();
  assert.match(after, /\bb +ended .*25%/);
  assert.match(after, /\bc +dead /);
  assert.match(after, /b: It has ended, and has its partitions until it starts again\./);
  const nobody = await skein(['peers', 'leave', 'nobody', '--engine', nats.url]);
  assert.equal(nobody.code, 3);
  assert.match(nobody.stderr, /nobody was not asked to leave: It is not in the cluster\./);
  // It is asked, and dies before it has handed over.
  const asked = skein(['peers', 'leave', 'a', '--engine', nats.url]);
  await a.leaving;
  await a.engine.connection.close();
  assert.match((await asked).stderr, /The peer a was asked to leave, and has not been heard for 10 s\./);
  await a.close();
});

test('what is wrong with the engine is one sentence', { skip }, async () => {
  await using nats = await openNats();
  const empty = await skein(['peers', '--engine', nats.url]);
  assert.equal(empty.code, 3);
  assert.match(empty.stderr, /The engine holds no crawl yet\./);
  const cases: [string[], RegExp][] = [
    [[], /Which cluster\?/],
    [['--engine', 'http://a'], /cannot be read/],
    [['--engine', 'nats://127.0.0.1:1'], /No engine answers at nats:\/\/127\.0\.0\.1:1/],
  ];
  for (const [words, sentence] of cases) {
    const { code, stderr } = await skein(['peers', ...words]);
    assert.notEqual(code, 0);
    assert.match(stderr, sentence);
    assert.doesNotMatch(stderr, /should not happen|at .*\.ts/);
  }
});

test('a crawl that begins with a mistake says so and ends, and the engine knows nothing of it', { skip }, async () => {
  await using nats = await openNats();
  using place = workplace();
  const words = ['crawl', 'http://127.0.0.1:1/', '--engine', nats.url, '--data', place.path];
  const { code, stderr } = await skein([...words, '--scope', '127.0.*.1']);
  assert.equal(code, 2, stderr);
  assert.match(stderr, /"127\.0\.\*\.1" is not a domain or host\./);
  assert.match((await skein(['peers', '--engine', nats.url])).stderr, /The engine holds no crawl yet\./);
});

test('one that would do something else than its peers is refused, and ends', { skip }, async () => {
  await using nats = await openNats();
  using place = workplace();
  await using a = await joined(nats, 'a', []);
  await a.engine.buckets.meta.create('crawl', JSON.stringify({ seeds: ['http://127.0.0.1:1/'], values: {} }));
  await a.engine.buckets.meta.create('run', JSON.stringify({ number: 1, over: false, kind: 'crawl' }));
  const { code, stderr } = await skein(['refresh', '--engine', nats.url, '--data', place.path, '--peer', 'b']);
  assert.notEqual(code, 0);
  assert.match(stderr, /The peers of this cluster run a crawl; this would be a refresh\./);
  await a.close();
});
