/**
 * A test of your own that needs no internet: a shop lowers a price, and the next refresh says so.
 *
 *   node --test own-test.ts
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, testClock, testCollection, testWeb } from 'skein/testing';

test('a price that fell is told', async () => {
  const clock = testClock();
  const sale = clock.now() + DAY;
  const lamp = (time: number) => `<title>Lamp</title><h1>Lamp</h1><p>A lamp for <b>${time < sale ? 20 : 15} €</b>.</p>`;
  const pages = {
    '/': '<title>Shop</title><a href="/lamp">Lamp</a>',
    '/lamp': ({ time }: { time: number }) => lamp(time),
  };
  const web = await testWeb(pages, { clock });
  const collection = testCollection({ clock });
  try {
    await collection.skein.crawl(web.seeds).summary();
    clock.advance(2 * DAY);
    await collection.skein.refresh({ budget: { share: 1 } }).summary();
    const changed = collection.skein.changes().filter(({ kind }) => kind === 'changed');
    assert.deepEqual(
      changed.map(({ url }) => url),
      [web.url('/lamp')],
    );
  } finally {
    await collection.close();
    await web.close();
  }
});
