/** Ground that varies: what two looks have shown to come and go says nothing, and what stands beside it still does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';
import { isFirm, vary } from '../../src/judge/ground.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { Places } from '../../src/judge/places.ts';
import { review, verdictOf } from '../../src/judge/review.ts';
import { title } from '../web/words.ts';

const headers = new Map([['content-type', 'text/html']]);

/** Links to stories of these numbers, between a heading and a price. */
function page(stories: readonly number[], price = 5, heading = 'See also'): string {
  const links = stories.map(story => `<li><a href="/to/${story}-x">${title(story * 7919)}</a></li>`);
  return `<h1>Shop</h1><h3>${heading}</h3><ul>${links.join('')}</ul><p>It costs ${price} euros.</p><p>The end of it.</p>`;
}

function edits(before: string, after: string): readonly Edit[] {
  const [old, now] = [before, after].map(body => piecesOf({ headers, body: Buffer.from(body) })!);
  return editsBetween(old!, now!).edits;
}

/** After looks a moment apart that met these links. */
function looked(...looks: (readonly number[])[]): Places {
  const places = new Places();
  for (const [i, now] of looks.entries()) if (i > 0) vary(places.grounds, edits(page(looks[i - 1]!), page(now)));
  return places;
}

const verdict = (places: Places, before: string, after: string) =>
  verdictOf(new ServerKnowledge(), { edits: edits(before, after), before: 0 }, places);

test('links by lot are noise once looks have shown them, in any order', () => {
  const places = looked([1, 2, 3], [4, 5, 6], [2, 6, 1], [3, 5, 4]);
  assert.ok(places.grounds.some(isFirm));
  assert.equal(verdict(places, page([1, 2, 3]), page([5, 3, 6])), 'looks');
  assert.equal(verdict(places, page([1, 2, 3]), page([4, 1, 2])), 'looks');
  assert.equal(verdict(places, page([1, 2, 3]), page([3, 4])), 'news', 'their number stood at every look');
});

test('a story that nobody has seen there, and a price behind the list, are news', () => {
  const places = looked([1, 2, 3], [4, 5, 6], [2, 6, 1], [3, 5, 4]);
  assert.equal(verdict(places, page([1, 2, 3]), page([5, 99, 6])), 'news');
  assert.equal(verdict(places, page([1, 2, 3]), page([5, 3, 6], 7)), 'news');
  assert.equal(verdict(places, page([1, 2, 3]), page([5, 3, 6], 5, 'Closed today')), 'news');
});

test('one look is no evidence: it may have met a change by chance', () => {
  assert.equal(verdict(looked([1, 2, 3], [4, 5, 6]), page([4, 5, 6]), page([1, 2, 3])), 'news');
});

test('a token that is another on most pages at once, on each its own, is noise; on few pages it is news', () => {
  const told = (visited: number) => {
    const knowledge = new ServerKnowledge();
    const some = Array.from({ length: 40 }, (_, page) => {
      return { page, time: DAY, before: 0, edits: edits(invitationOf(page, 'a'), invitationOf(page, 'b')) };
    });
    const common = review(knowledge, some, { pages: visited, visited });
    return verdictOf(knowledge, some[3]!, new Places(), common);
  };
  assert.equal(told(60), 'everywhere');
  assert.equal(told(200), 'news');
});

function invitationOf(page: number, day: string): string {
  const token = `${day}${(page * 7919 + day.charCodeAt(0) * 104_729).toString(36)}x9k4`;
  return `<p><a href="http://chat.test/join/${token}">Join us</a></p><p>The page of number ${page * 31}.</p>`;
}
