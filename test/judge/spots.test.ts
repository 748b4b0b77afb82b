/** Which of the blocks of a spot became which, when something beside them comes or goes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';

function edits(before: string, after: string, list: Edit['list'] = 'text'): readonly Edit[] {
  const pieces = (body: string) =>
    piecesOf({
      headers: new Map([['content-type', 'text/html']]),
      body: Buffer.from(`<p>Some text</p>${body}<p>More</p>`),
    })!;
  return editsBetween(pieces(before), pieces(after)).edits.filter(edit => edit.list === list);
}

test('a block that goes beside a clock is an edit of its own', () => {
  const clock = (time: string) => `<p>The time at the harbour is ${time} now</p>`;
  const found = edits(`<p>Closed on Sunday</p>${clock('three')}`, clock('four'));
  assert.deepEqual(
    found.map(({ within, told }) => [within, told]),
    [
      [false, 'Closed on Sunday → '],
      [true, 'three → four'],
    ],
  );
});

test('a block that goes has the same place, whatever the clock beside it says', () => {
  const clock = (time: string) => `<p>The time at the harbour is ${time} now</p>`;
  const [gone] = edits(`<p>Closed on Sunday</p>${clock('three')}`, clock('four'));
  const [come] = edits(clock('five'), `<p>Closed on Sunday</p>${clock('six')}`);
  assert.equal(gone!.place, come!.place);
});

test('what has nothing in common is replaced as a whole where more or less of it comes', () => {
  const found = edits('<p>One thing</p><p>Another one</p>', '<p>Something else entirely here</p>');
  assert.deepEqual(
    found.map(({ items }) => items.map(list => list.length)),
    [[2, 1]],
  );
});

test('a link that comes beside one whose token differs is an edit of its own', () => {
  const link = (href: string) => `<a href="${href}">Here</a>`;
  const found = edits(
    link('http://a.test/x1b2c3d4'),
    link('http://b.test/news') + link('http://a.test/z9y8x7w6'),
    'reference',
  );
  assert.deepEqual(
    found.map(({ told }) => told),
    [' → http://b.test/news', 'http://a.test/*'],
  );
});
