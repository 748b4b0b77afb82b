/** Peers of a crawl decide about pages by the same code, which each machine has from its own user. Real nats-server. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withDecider } from '../../src/engine/cluster/joining.ts';
import { noNats } from '../cluster/nats.ts';
import { wasm } from '../outpost/wasm-module.ts';
import { openWeb } from '../web/web.ts';
import { openCluster, visited } from './peers.ts';
import { skein, workplace } from './skein.ts';

const skip = noNats() || false;
/** Follow, and keep nothing; and, of another digest, keep everything. */
const keepsNothing = wasm([0x41, 0x80, 0x04]);
const another = wasm([0x41, 0x80, 0x06]);

test('all peers decide by the same code, or are refused', { skip }, async () => {
  using place = workplace();
  const [file, other] = ['nothing.wasm', 'other.wasm'].map(name => join(place.path, name)) as [string, string];
  writeFileSync(file, keepsNothing);
  writeFileSync(other, another);
  await using web = await openWeb({ servers: 6, pagesPerServer: 12, seed: 15, addresses: true });
  await using cluster = await openCluster();
  const crawl = ['--allow-private', '--pace', '0.3', '--scope', '*', '--set', 'partitions=6', '--set', 'threads=1'];
  await cluster.join('ann', [...web.seeds, ...crawl, '--decider', file]);
  const asEve = ['crawl', '--engine', cluster.nats.url, '--peer', 'eve', '--data', join(place.path, 'eve')];
  const [without, wrong] = await Promise.all([
    skein(asEve),
    skein([...asEve.slice(0, 4), 'joe', '--data', join(place.path, 'joe'), '--decider', other]),
  ]);
  assert.equal(without.code, 2, without.stderr);
  assert.match(without.stderr, /decided about by a --decider \(SHA-256 \w{12}…\), and none is named here\./);
  assert.equal(wrong.code, 2, wrong.stderr);
  assert.match(wrong.stderr, /The peers that work have another --decider \(SHA-256 \w{12}…\)\./);
  await cluster.join('bob', ['--decider', file]);
  await cluster.ended();
  const found = visited(cluster.peers);
  assert.deepEqual(
    web.mustFind().filter(url => !found.has(url)),
    [],
  );
  // The other machine has ended, and each tells of itself.
  for (const { data } of cluster.peers) {
    const status = await skein(['status', '--json', '--data', data]);
    const { stored, outcomes } = JSON.parse(status.stdout.toString());
    assert.equal(stored, 0);
    assert.ok(
      outcomes.some(({ outcome, pages }: { outcome: string; pages: number }) => outcome === 'fetched' && pages > 0),
    );
  }
});

test('whoever starts first says which code it is', () => {
  const crawl = { seeds: [], values: { pace: 1 } };
  const first = withDecider(crawl, { given: 'aa', othersWork: false });
  assert.deepEqual(first.values, { pace: 1, decider: 'aa' });
  assert.deepEqual(withDecider(first, { given: 'bb', othersWork: false }).values, { pace: 1, decider: 'bb' });
  assert.deepEqual(withDecider(first, { given: '', othersWork: false }), crawl);
  assert.throws(() => withDecider(first, { given: '', othersWork: true }), /another --decider \(SHA-256 aa…\)/);
  assert.throws(() => withDecider(crawl, { given: 'aa', othersWork: true }), /have no --decider/);
  assert.equal(withDecider(crawl, { given: undefined, othersWork: true }), crawl);
  assert.equal(withDecider(first, { given: 'aa', othersWork: true }), first);
});
