import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openSearch } from '../../src/search/index.ts';
import { directory, document, indexOf, NOW, pagesOf, put, removePages } from './documents.ts';

const ponds = [
  document(1, { title: 'Goose pond', text: 'goose pond reeds' }),
  document(2, { title: 'Duck pond', text: 'duck pond reeds' }),
  document(3, { title: 'Heron', text: 'heron alone' }),
];
const ask = (search: ReturnType<typeof indexOf>, query: string) => search.query(query, { now: NOW });

test('a query asked again is answered from memory, with the moment it is asked at', context => {
  const search = indexOf(context, ponds);
  const first = ask(search, 'pond');
  const second = search.query('  pond ', {
    now: NOW + 5000,
    freshness: () => ({ seen: NOW, changedProbability: 0.5 }),
  });
  assert.deepEqual([first.cached, second.cached], [false, true]);
  assert.deepEqual(pagesOf(second), pagesOf(first));
  assert.deepEqual([second.hits[0]!.age, second.hits[0]!.changedProbability], [5000, 0.5]);
  assert.deepEqual(search.counts().cache, { entries: 1, hits: 1, misses: 1, dropped: 0 });
});

test('a change drops the results that it concerns, and no others', context => {
  const search = indexOf(context, ponds);
  for (const query of ['pond', 'heron', 'duck', 'reeds -duck']) ask(search, query);

  put(search, [document(4, { text: 'a new pond' })]); // matches `pond` now
  assert.deepEqual(
    ['pond', 'heron', 'duck', 'reeds -duck'].map(query => ask(search, query).cached),
    [false, true, true, true],
  );

  put(search, [document(2, { title: 'Swan', text: 'swan' })]); // was in `pond` and `duck`
  const after = ['pond', 'heron', 'duck', 'reeds -duck'].map(query => ask(search, query));
  assert.deepEqual(
    after.map(results => results.cached),
    [false, true, false, true],
  );
  assert.deepEqual(
    after.map(results => results.total),
    [2, 1, 0, 1],
  );

  removePages(search, [3]);
  assert.deepEqual([ask(search, 'heron').total, ask(search, 'swan').total], [0, 1]);
});

test('a change by another connection counts as well', context => {
  const path = directory(context);
  const one = openSearch(join(path, 'search.db'));
  const other = openSearch(join(path, 'search.db'));
  put(one, ponds);
  ask(one, 'pond');
  ask(one, 'heron');
  removePages(other, [1]);
  assert.deepEqual([ask(one, 'pond').cached, ask(one, 'heron').cached], [false, true]);
  assert.equal(ask(one, 'pond').total, 1);
  other.close();
  one.close();
});

test('an empty answer ends when a page comes that matches, also in a language that is new', context => {
  const search = indexOf(context, ponds);
  assert.equal(ask(search, 'haus').total, 0);
  put(search, [document(5, { text: 'Viele Häuser', language: 'de' })]);
  assert.equal(ask(search, 'haus').total, 1);
});

test('an answer with only some of the words ends when a page has all of them', context => {
  const search = indexOf(context, ponds);
  assert.equal(ask(search, 'goose heron').relaxed, true);
  put(search, [document(6, { text: 'goose and heron' })]);
  const now = ask(search, 'goose heron');
  assert.deepEqual([now.relaxed, pagesOf(now)[0]], [false, 6]);
});

test('results that depend on the time are kept for a minute only', context => {
  const search = indexOf(context, [document(1, { text: 'pond', changed: NOW - DAY })]);
  assert.equal(search.query('pond changed:<25h', { now: NOW }).total, 1);
  assert.equal(search.query('pond changed:<25h', { now: NOW + 30_000 }).cached, true);
  assert.equal(search.query('pond changed:<25h', { now: NOW + 2 * DAY }).total, 0);
});

test('after more changes than are worth checking, everything is asked anew', context => {
  const search = indexOf(context, ponds);
  ask(search, 'heron');
  put(
    search,
    Array.from({ length: 600 }, (_, index) => document(100 + index, { text: 'filler' })),
  );
  assert.equal(ask(search, 'heron').cached, false);
});

test('the cache keeps a bounded number of queries, the recent ones', context => {
  const search = indexOf(context, ponds);
  ask(search, 'pond');
  for (let i = 0; i < 300; i++) {
    ask(search, `pond OR filler${i}`);
    ask(search, 'pond');
  }
  assert.equal(search.counts().cache.entries, 256);
  assert.equal(ask(search, 'pond').cached, true);
  assert.equal(ask(search, 'pond OR filler1').cached, false);
});

test('what is shown and opened raises interest, which is kept and shared', context => {
  const path = directory(context);
  const one = openSearch(join(path, 'search.db'));
  put(one, ponds);
  assert.equal(one.interest.of(1), 0);
  one.query('goose');
  const shown = one.interest.of(1);
  one.interest.opened(1);
  const opened = one.interest.of(1);
  for (let i = 0; i < 50; i++) one.interest.opened(1);
  assert.ok(shown > 0 && opened > shown + 0.3 && one.interest.of(1) > opened && one.interest.of(1) <= 1);
  assert.equal(one.interest.of(3), 0);
  one.close();
  const other = openSearch(join(path, 'search.db'));
  assert.ok(other.interest.of(1) > opened);
  other.close();
});
