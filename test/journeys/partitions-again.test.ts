/** Sixteen partitions through kill -9, and through rounds of refresh: the end is that of a collection of one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { randomly } from '../random.ts';
import { openWeb } from '../web/web.ts';
import { type Told, toldBy } from './all-partitions.ts';
import { makeCollection } from './collection.ts';
import { killAt } from './kills.ts';
import { crawlHere, fast, skein, workplace } from './skein.ts';

function ends(all: ReadonlyMap<string, Told>): [string, Partial<Told>][] {
  return [...all].map(([url, { outcome, reason, refused, role, linked, moved }]) => [
    url,
    { outcome, reason, refused, role, linked, moved },
  ]);
}

test('a crawl with sixteen partitions that is killed again and again ends like one that is not', async () => {
  await using web = await openWeb({ seed: 31, servers: 6, pagesPerServer: 25, latency: 40, features: ['redirects'] });
  using place = workplace();
  const random = randomly(31);
  const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast, '--scope', '*', '--set', 'partitions=16'];
  for (let kill = 0; kill < 5; kill++) {
    await killAt(web.hold(5 + random.below(30)), crawl);
    web.release();
  }
  const { code, stderr } = await skein([...crawl, '--json']);
  assert.equal(code, 0, stderr);
  using other = workplace();
  await crawlHere({ data: other.path, scope: '*' }, web.seeds);
  assert.deepEqual(ends(toldBy(place.path)), ends(toldBy(other.path)));
  const twice = [...toldBy(place.path)].filter(([, { visits }]) => visits > 1).map(([url]) => url);
  assert.deepEqual(twice, [], 'what was committed is not visited again');
});

test('rounds of refresh find the same changes', async () => {
  const found: unknown[] = [];
  for (const partitions of [1, 16]) {
    using collection = makeCollection();
    await using web = await openWeb({
      seed: 32,
      servers: 5,
      pagesPerServer: 8,
      clock: collection.clock,
      rates: [0, 5],
    });
    await collection.crawl(web.seeds, { scope: ['*'], partitions });
    const start = collection.clock.now();
    collection.pass(3);
    const summary = await collection.refresh({ budget: '100%' });
    const changed = web
      .mustFind()
      .filter(url => web.page(url)!.content!.changes(start, start + 3 * DAY).length > 0).length;
    assert.equal(summary.changed, changed, `with ${partitions}`);
    assert.equal(summary.pages, web.mustFind().length);
    found.push([summary.pages, summary.new, summary.failed, summary.known]);
  }
  assert.deepEqual(found[1], found[0]);
});
