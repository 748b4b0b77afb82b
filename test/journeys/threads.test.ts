/** A thread that dies takes nothing with it: its errands are issued again, and another takes its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collected, crawlHere, pagesOf, skeinJson, workplace } from './skein.ts';

const module = new URL('dying-fetcher.ts', import.meta.url).href;
const web = { servers: 5, pagesPerServer: 80, sentences: 4 };

async function crawlWith(data: string, deaths: number, threads: number) {
  const shared = new SharedArrayBuffer(4);
  new Int32Array(shared)[0] = deaths;
  const fetcher = { module, options: { ...web, deaths: shared, after: 30 } };
  const summary = await crawlHere({ data, threads, scope: '*' }, ['http://s0.test/'], { fetcher });
  return { summary, left: new Int32Array(shared)[0]! };
}

for (const threads of [1, 2]) {
  test(`${threads === 1 ? 'the only thread dies' : 'two threads die'}, and the crawl is complete`, async () => {
    using place = workplace();
    const { summary, left } = await crawlWith(place.path, 2, threads);
    assert.ok(left <= 0, 'they did die');
    assert.equal(collected(await pagesOf(place.path)).length, web.servers * web.pagesPerServer);
    assert.equal(summary.failed, 0);
    assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
  });
}

test('threads that die again and again end the crawl with what it had, and it can go on', async () => {
  using place = workplace();
  await assert.rejects(crawlWith(place.path, 1000, 1), /The last outpost \(thread-1\) is lost: Error: this thread was/);
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
  await crawlWith(place.path, 0, 1);
  assert.equal(collected(await pagesOf(place.path)).length, web.servers * web.pagesPerServer);
});
