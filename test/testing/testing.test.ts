/** What `skein/testing` promises to users' tests: pages as written, time as moved, a directory that goes away. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { DAY, madePages, testClock, testCollection, testWeb } from '../../src/testing/testing.ts';

test('a made web is crawled whole, and a refresh after days finds what changed and nothing else', async () => {
  const clock = testClock();
  const made = madePages({ pages: 20, start: clock.now(), rates: [0, 1] });
  await using web = await testWeb(made.pages, { clock });
  await using collection = testCollection({ clock });
  const { skein } = collection;
  const found: string[] = [];
  for await (const page of skein.crawl(web.seeds)) if (page.outcome === 'fetched') found.push(page.url);
  assert.deepEqual(found.sort(), made.paths.map(web.url).sort());

  const before = clock.now();
  clock.advance(2.5 * DAY);
  await skein.refresh({ budget: { share: 1 } }).summary();
  const changed = skein.changes({ since: before }).filter(({ kind }) => kind === 'changed');
  const truth = made.paths.filter(path => made.version(path, clock.now()) > 0);
  assert.equal(truth.length, 10);
  assert.deepEqual(changed.map(({ url }) => url).sort(), truth.map(web.url).sort());
  assert.ok(
    changed.every(({ time }) => time >= before + 2 * DAY),
    'times are those of the clock',
  );
  assert.ok(web.log.some(({ status }) => status === 304));
});

test('the same seed makes the same pages, another one others', () => {
  const say = (seed: number) => {
    const page = madePages({ pages: 3, seed, start: 0 }).pages['/']!;
    return typeof page === 'function' ? page({ path: '/', time: 0, count: 0, headers: {} }) : page;
  };
  assert.equal(say(1), say(1));
  assert.notEqual(say(1), say(2));
});

test('pages are texts, answers or functions; they come, go, and may fail', async () => {
  const web = await testWeb({
    '/': 'plain',
    '/moved': { status: 301, headers: { location: '/' } },
    '/many/*': ({ path, count }) => `${path} ${count}`,
    '/many/deep/*': 'deeper',
    '/broken': () => {
      throw new Error('no');
    },
  });
  const ask = async (path: string) => {
    const answer = await fetch(web.url(path), { redirect: 'manual' });
    return `${answer.status} ${(await answer.text()).slice(0, 12)}`;
  };
  assert.equal(await ask('/'), '200 plain');
  assert.match(await ask('/moved'), /^301/);
  assert.equal(await ask('/many/a'), '200 /many/a 0');
  assert.equal(await ask('/many/a'), '200 /many/a 1');
  assert.equal(await ask('/many/deep/a'), '200 deeper');
  assert.match(await ask('/none'), /^404/);
  assert.match(await ask('/broken'), /^500/);
  assert.match(String(web.log.at(-1)!.error), /no/);
  web.set('/', undefined);
  assert.match(await ask('/'), /^404/);
  assert.throws(() => web.set('relative', ''), { code: 'bad-option' });
  await web.close();
  await web.close();
});

test('a collection leaves nothing behind, and its clock never goes back', async () => {
  const collection = testCollection();
  assert.ok(existsSync(collection.data));
  await collection.close();
  assert.ok(!existsSync(collection.data));
  assert.throws(() => testClock().advance(-1), { code: 'bad-option' });
});
