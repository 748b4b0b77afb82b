/** A thread that dies takes nothing with it: its errands are issued again, and another takes its place. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collected, crawlHere, pagesOf, skeinJson, workplace } from './skein.ts';

const module = new URL('dying-fetcher.ts', import.meta.url).href;
const web = { servers: 5, pagesPerServer: 80, sentences: 4 };

interface More {
  readonly deadly?: readonly string[];
  readonly after?: number;
  readonly seeds?: readonly string[];
}

async function crawlWith(data: string, deaths: number, threads: number, more: More = {}) {
  const { deadly = [], after = 30, seeds = ['http://s0.test/'] } = more;
  const shared = new SharedArrayBuffer(4);
  new Int32Array(shared)[0] = deaths;
  const fetcher = { module, options: { ...web, deaths: shared, after, deadly } };
  const summary = await crawlHere({ data, threads, scope: '*' }, seeds, { fetcher });
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

for (const threads of [1, 2]) {
  test(`pages that kill their thread each time are named, and the crawl goes on (${threads} threads)`, async () => {
    using place = workplace();
    const all = web.servers * web.pagesPerServer;
    const deadly = ['http://s0.test/p/30', 'http://s0.test/p/31', 'http://s3.test/p/5'];
    const { summary } = await crawlWith(place.path, 0, threads, { deadly });
    assert.equal(summary.reasons['killed'], 3);
    const found = await pagesOf(place.path);
    const got = collected(found).length;
    for (const url of deadly) assert.equal(found.get(url)?.reason, 'killed', url);
    // What only they link to is not found.
    assert.ok(got >= all - 20 && got <= all - 3, `${got} pages`);
    assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
    const shown = await skeinJson<{ state: string }>('show', deadly[0]!, '--data', place.path);
    assert.match(shown.state, /it crashed the thread every time/);
  });
}

test('where every page is deadly the crawl ends and says why, and can go on later', async () => {
  using place = workplace();
  const seeds = [0, 1, 2, 3, 4].map(server => `http://s${server}.test/`);
  const ended = crawlWith(place.path, 1000, 1, { after: 0, seeds });
  await assert.rejects(ended, /Threads keep crashing, the last was [a-z0-9-]+: Error: this thread was meant to die/);
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
  await crawlWith(place.path, 0, 1, { seeds });
  assert.ok(collected(await pagesOf(place.path)).length > 200);
});
