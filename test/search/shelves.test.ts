import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openSearch, type Search } from '../../src/search/index.ts';
import { directory, document, found, indexOf, NOW, pagesOf, put, removePages } from './documents.ts';

const ROOM = 10;

/** Pages 1 to 95 on ten shelves; every tenth is a heron's, and page 73 alone has a kingfisher. */
function tenShelves(context: TestContext): Search {
  const text = (page: number) => `pond${page % 10 === 0 ? ' heron' : ''}${page === 73 ? ' kingfisher by night' : ''}`;
  const pages = Array.from({ length: 95 }, (_, at) =>
    document(at + 1, { text: text(at + 1), importance: at / 95, changed: NOW - (at + 1) * DAY }),
  );
  return indexOf(context, pages, ROOM);
}

test('pages are found on whichever shelf they stand', context => {
  const search = tenShelves(context);
  assert.deepEqual(found(search, 'kingfisher'), [73]);
  assert.deepEqual(found(search, '"by night" pond'), [73]);
  assert.deepEqual(found(search, 'heron'), [10, 20, 30, 40, 50, 60, 70, 80, 90]);
  assert.deepEqual(found(search, 'heron kingfisher'), [10, 20, 30, 40, 50, 60, 70, 73, 80, 90]);
  const { total, exact } = search.query('pond');
  assert.deepEqual([total, exact], [95, true]);
});

test('a batch is written in one piece, whatever the order of its pages', context => {
  const file = join(directory(context), 'search.db');
  const search = openSearch(file);
  const pages = Array.from({ length: 40 }, (_, at) => document(100 - at, { text: `pond ${at}` }));
  const pieces = () => {
    const database = new DatabaseSync(file);
    const { n } = database.prepare('SELECT count(DISTINCT segid) AS n FROM terms0_idx').get() as { n: number };
    database.close();
    return n;
  };
  put(search, pages);
  assert.equal(pieces(), 1);
  put(search, pages.slice(20));
  assert.equal(pieces(), 2);
  assert.equal(search.query('pond').total, 40);
  search.close();
});

test('order is the same over all shelves', context => {
  const search = tenShelves(context);
  assert.deepEqual(pagesOf(search.query('site:example.org', { limit: 3 })), [95, 94, 93]);
  assert.deepEqual(found(search, 'changed:>50d heron'), [50, 60, 70, 80, 90]);
  assert.deepEqual(pagesOf(search.query('changed:<4d', { now: NOW })), [1, 2, 3, 4]);
  put(search, [document(91, { title: 'Heron', text: 'heron heron' })]);
  assert.equal(search.query('heron').hits[0]!.page, 91);
});

test('a page keeps its shelf, one that goes makes room, and a kept result hears of both', context => {
  const search = tenShelves(context);
  assert.equal(search.query('heron').total, 9);
  put(search, [document(5, { text: 'heron' })]);
  removePages(search, [10, 90]);
  assert.deepEqual(found(search, 'heron'), [5, 20, 30, 40, 50, 60, 70, 80]);
  put(search, [document(200, { text: 'heron' }), document(201, { text: 'coot' }), document(10, { text: 'heron' })]);
  assert.deepEqual(found(search, 'heron'), [5, 10, 20, 30, 40, 50, 60, 70, 80, 200]);
  assert.deepEqual([found(search, 'coot'), search.counts().documents], [[201], 96]);
  while (search.updates.settle());
  assert.deepEqual(found(search, 'coot'), [201]);
});

test('what changed lately comes first also where more pages changed than are scored', context => {
  const pages = Array.from({ length: 10_100 }, (_, at) => document(at + 1, { changed: NOW - (10_100 - at) * 1000 }));
  const { hits, total, exact } = indexOf(context, pages).query('changed:<30d', { now: NOW, limit: 2 });
  assert.deepEqual(
    hits.map(hit => hit.page),
    [10_100, 10_099],
  );
  assert.deepEqual([total, exact], [10_000, false]);
});

test('some of the words are looked for whatever the number of pages', t => {
  const pages = Array.from({ length: 4003 }, (_, at) => document(at + 1, { text: at === 0 ? 'heron' : 'reeds' }));
  const search = indexOf(t, [...pages, document(4004, { text: 'bittern' })]);
  for (let more = 4005; more < 4009; more++) {
    assert.deepEqual(found(search, 'heron bittern'), [1, 4004], `${more - 1} pages`);
    put(search, [document(more, { text: 'reeds' })]);
  }
});
