/** Edits that many pages share: when they are the server's, and that none of them goes untold. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { templateEdits } from '../../src/home/answers/template-edits.ts';
import type { Edit } from '../../src/judge/edits.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { Places, remember } from '../../src/judge/places.ts';
import { review, verdictOf } from '../../src/judge/review.ts';
import { visitedLedger } from '../ledger/visited.ts';

const edit: Edit = {
  ...{
    list: 'text',
    place: 11,
    around: [3, 4, 0, 0],
    before: 5,
    after: 6,
    whole: [5, 6],
    items: [[5], [6]],
    stem: 0,
    frame: 0,
    pieces: 0,
    stars: 0,
    turns: [],
    long: [false, false],
    moved: [],
    picture: false,
    within: false,
    spots: [],
    told: 'a → b',
  },
};

function verdict(edited: number, pages: number): string {
  const knowledge = new ServerKnowledge();
  const round = Array.from({ length: edited }, (_, page) => ({ page, edits: [edit], time: DAY, before: 0 }));
  return verdictOf(
    knowledge,
    { edits: [edit], before: 0 },
    new Places(),
    review(knowledge, round, { pages, visited: pages }),
  );
}

test('an edit is the server’s when five pages show it, and one in a hundred of a large server', () => {
  assert.deepEqual(
    [4, 5].map(edited => verdict(edited, 20)),
    ['news', 'shared'],
  );
  assert.deepEqual(
    [9, 10].map(edited => verdict(edited, 1000)),
    ['news', 'shared'],
  );
});

test('an edit of the server comes to a page once: what it brought to all may later come to one alone', () => {
  const knowledge = new ServerKnowledge();
  review(
    knowledge,
    Array.from({ length: 6 }, (_, page) => ({ page, edits: [edit], time: 9 * DAY, before: 8 * DAY })),
    { pages: 20, visited: 20 },
  );
  const seenLast = (before: number, places: Places = new Places()) =>
    verdictOf(knowledge, { edits: [edit], before }, places);
  assert.equal(seenLast(3 * DAY), 'shared', 'of a page that was not seen since');
  assert.equal(seenLast(9 * DAY), 'shared', 'a moment after it was looked at');
  assert.equal(seenLast(10 * DAY), 'news', 'seen since');
  const had: Places = new Places();
  remember(had, [edit]);
  remember(had, [{ ...edit, before: edit.after, after: edit.before }]);
  assert.equal(seenLast(9 * DAY, had), 'news', 'it had come and gone');
});

test('what was called the server’s is told, also when pages were found since, so that it is on few of them', t => {
  const looks = Array.from(
    { length: 6 },
    (_, at) => ({ page: 2 * at + 1, time: 1000, outcome: 'same', stage: 'template' }) as const,
  );
  const ledger = visitedLedger(t, 1400, 1, looks);
  assert.deepEqual(
    templateEdits(ledger, 0).map(({ origin, pages }) => [origin, pages]),
    [['http://s1.test', 6]],
  );
});
