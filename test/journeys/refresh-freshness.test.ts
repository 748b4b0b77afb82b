/** A freshness to be kept: what it takes is learned while the first round goes on, not guessed for all pages. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makeCollection } from './collection.ts';
import { html, openPages, prose } from './pages.ts';

const PAGES = 1000;

test('a first round for a freshness asks for some pages of a quiet site and leaves the rest alone', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const paths = Array.from({ length: PAGES }, (_, n) => `/${n}.html`);
  pages.set('/', { body: html('Front', [prose(1)], paths), tagged: true });
  for (const [n, path] of paths.entries())
    pages.set(path, { body: html(`Page ${n}`, [`${prose(n)} ${n}`]), tagged: true });
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  pages.asked.length = 0;
  const first = await collection.refresh({ freshness: 0.9 });
  const looked = new Set(pages.asked).size;
  assert.ok(looked > 100, `${looked} pages are enough to learn from`);
  assert.ok(looked < PAGES * 0.8, `${looked} pages were asked for`);
  assert.ok(first.freshness.expected >= 0.9, `${first.freshness.expected} expected`);
  collection.pass(1);
  pages.asked.length = 0;
  await collection.refresh();
  assert.ok(pages.asked.length < PAGES / 4, `${pages.asked.length} requests on the second day`);
});
