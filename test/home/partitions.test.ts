/** Partitions that come to a running home and leave it: nothing is lost, and nothing is fetched twice. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openEngine } from '../../src/engine/engine.ts';
import { adoptAll } from '../../src/engine/partitions.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { partitionsUsed, toldBy } from '../journeys/all-partitions.ts';
import { workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

test('partitions leave and come back while a crawl goes on, and it ends as if they had not', async () => {
  await using web = await openWeb({ seed: 21, servers: 6, pagesPerServer: 15, latency: 5 });
  using place = workplace();
  const options = { data: place.path, partitions: 4, pace: 0, allowPrivate: true, scope: ['*'], threads: 1 };
  const engine = await openEngine(options, web.seeds);
  try {
    const running = engine.run({
      ...crawlSupply(engine, 0),
      worthWaiting: () => moving || engine.pool.wake < Infinity,
    });
    let moving = true;
    for (const id of [0, 1, 2, 3, 1, 0]) {
      await engine.home.release(id);
      assert.equal(engine.home.partitions.of(id), undefined);
      await engine.collection.close(id);
      adoptAll(engine.home, [engine.collection.open(id)]);
    }
    moving = false;
    await running;
  } finally {
    await engine.close();
  }
  const told = toldBy(place.path);
  const fetched = [...told].filter(([, { outcome, role }]) => outcome === 'fetched' && role === 0);
  assert.deepEqual(
    fetched.map(([url]) => url),
    [...web.mustFind()].sort(),
  );
  assert.deepEqual(
    fetched.filter(([, { visits }]) => visits !== 1).map(([url]) => url),
    [],
    'each has one visit in the ledger',
  );
  assert.ok(partitionsUsed(place.path) > 1);
});

test('a batch is taken once, and never before the one that it follows', async () => {
  await using web = await openWeb({ seed: 22, servers: 4, pagesPerServer: 4 });
  using place = workplace();
  const options = { data: place.path, partitions: 16, pace: 0, allowPrivate: true, scope: ['*'], threads: 1 };
  const engine = await openEngine(options, web.seeds);
  try {
    const [first, second] = [...engine.home.partitions];
    first!.ledger.begin();
    const { high, low } = { high: 1, low: 2 };
    const said = { kind: 'unlink', high, low, url: '', source: '', seed: '', flags: 0, relevance: 0 } as const;
    first!.ledger.outbox.border.send(second!.id, { ...said, depth: 0, hops: 0, lastmod: 0, time: 1 });
    first!.ledger.commit();
    const [batch] = first!.ledger.outbox.border.batches(first!.id, second!.id, 0);
    assert.equal(second!.take({ ...batch!, number: 2 }), 0, 'its time comes later');
    assert.equal(second!.take({ ...batch!, to: 7 }), 0, 'it is for another');
    assert.equal(second!.take(batch!), 1);
    assert.equal(second!.take(batch!), 1);
    await engine.run(crawlSupply(engine, 0));
  } finally {
    await engine.close();
  }
});
