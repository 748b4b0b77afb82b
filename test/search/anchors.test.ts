import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Search } from '../../src/search/index.ts';
import { document, found, indexOf, put, removePages } from './documents.ts';

const pages = [1, 2, 3].map(page =>
  document(page, { title: `Page ${page}`, headings: 'Reeds', text: 'water and wind' }),
);

function say(search: Search, source: number, ...links: readonly (readonly [number, string])[]): void {
  search.updates.apply({
    changed: [],
    gone: [],
    said: [{ source, links: links.map(([target, text]) => ({ target, text })) }],
  });
  while (search.updates.settle());
}

test('a page is found by what links say of it, whichever was written first', context => {
  const search = indexOf(context, pages);
  say(search, 1, [2, 'Wild  Geese'], [4, 'a heron']);
  assert.deepEqual(found(search, 'geese'), [2]);
  assert.deepEqual(found(search, 'heron'), []);
  put(search, [document(4, { text: 'nothing of the kind' })]);
  assert.deepEqual(found(search, 'heron'), [4]);
  assert.deepEqual(found(search, 'reeds'), [1, 2, 3], 'what was written again has all it had');
  assert.equal(search.query('geese water').hits[0]!.page, 2);
});

test('what a page no longer says is forgotten, what it says still is not', context => {
  const search = indexOf(context, pages);
  say(search, 1, [2, 'geese'], [3, 'ducks']);
  say(search, 1, [2, 'geese'], [3, 'drakes']);
  assert.deepEqual([found(search, 'geese'), found(search, 'ducks'), found(search, 'drakes')], [[2], [], [3]]);
  say(search, 1);
  assert.deepEqual([found(search, 'geese'), found(search, 'drakes')], [[], []]);
});

test('a text that went and comes back is there again', context => {
  const search = indexOf(context, pages);
  say(search, 1, [2, 'geese']);
  say(search, 1);
  say(search, 3, [2, 'geese']);
  assert.deepEqual(found(search, 'geese'), [2]);
});

test('links to an alias speak of the page it leads to', context => {
  const search = indexOf(context, pages);
  say(search, 1, [9, 'geese']);
  search.updates.apply({ changed: [], gone: [9], aliases: [{ page: 9, target: 2 }] });
  while (search.updates.settle());
  assert.deepEqual(found(search, 'geese'), [2]);
  say(search, 3, [9, 'swans']);
  assert.deepEqual(found(search, 'swans'), [2]);
  put(search, [document(9, { text: 'a page of its own now' }), pages[1]!]);
  assert.deepEqual(found(search, 'swans'), [9]);
});

test('a page is not described by itself, and by twenty texts at most', context => {
  const search = indexOf(context, pages);
  say(search, 2, [2, 'praise']);
  for (let source = 100; source < 200; source++) say(search, source, [2, `word${source}`]);
  assert.deepEqual(found(search, 'praise'), []);
  const known = Array.from({ length: 100 }, (_, i) => found(search, `word${100 + i}`).length);
  assert.equal(
    known.reduce((sum, one) => sum + one, 0),
    20,
  );
});

test('a batch that fails takes nothing for granted', context => {
  const search = indexOf(context, pages);
  const bad = { ...pages[0]!, fetched: Number.NaN };
  const said = [{ source: 1, links: [{ target: 2, text: 'geese' }] }];
  assert.throws(() => search.updates.apply({ changed: [bad], gone: [], said }));
  say(search, 1, [2, 'geese']);
  assert.deepEqual(found(search, 'geese'), [2]);
});

test('a rebuild begins with empty hands', context => {
  const search = indexOf(context, pages);
  say(search, 1, [2, 'geese']);
  search.updates.rebuild();
  put(search, pages);
  search.updates.settle();
  assert.deepEqual(found(search, 'geese'), []);
  say(search, 1, [2, 'geese']);
  assert.deepEqual(found(search, 'geese'), [2]);
});

test('of pages that say the same one is shown', context => {
  const text = 'the flock rests on the marsh until the wind turns and then goes on to the south as it does each year';
  const search = indexOf(context, [
    document(1, { title: 'Rest', text, importance: 0.1 }),
    document(2, { title: 'Rest', text: `${text} `, importance: 0.9 }),
    document(3, { title: 'Rest', text: `${text} again` }),
  ]);
  assert.deepEqual(found(search, 'flock marsh'), [2, 3]);
  assert.deepEqual(found(search, 'site:example.org'), [2, 3]);
  removePages(search, [2]);
  assert.deepEqual(found(search, 'flock marsh'), [1, 3]);
});

test('importance can be given anew to all pages', context => {
  const search = indexOf(context, pages);
  search.updates.weigh({ key: 'now', of: page => page / 10 });
  assert.equal(search.updates.weighed(), 'now');
  assert.deepEqual(
    search.query('site:example.org').hits.map(hit => hit.page),
    [3, 2, 1],
  );
});
