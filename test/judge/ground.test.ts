/** Ground that varies: what two looks have shown to come and go says nothing, and what stands beside it still does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';
import { isFirm, vary } from '../../src/judge/ground.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { stands } from '../../src/judge/looks.ts';
import { follow, heldBy, Places, remember } from '../../src/judge/places.ts';
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
  assert.equal(told(200), 'news', 'until the same pages have others again');
});

test('a row that comes where a block comes and goes is news, however noisy the place is', () => {
  const shown = (rows: number, block: boolean) => {
    const cells = Array.from({ length: rows }, (_, row) => `<tr><td>${title(row * 7919)}</td><td>${row}</td></tr>`);
    return `<table>${cells.join('')}</table>${block ? '<p>Have you tried our soup of the day?</p>' : ''}<p>The end of it.</p>`;
  };
  const places = new Places();
  const knowledge = new ServerKnowledge();
  const [goes, comes] = [edits(shown(4, true), shown(4, false)), edits(shown(4, false), shown(4, true))];
  for (const again of [comes, goes]) {
    remember(places, goes);
    vary(places.grounds, again);
    for (const [i, edit] of goes.entries()) knowledge.looked(1, edit, places.get(edit.place)!, again[i]);
  }
  const verdictOn = (before: string, after: string) =>
    knowledge.verdictOn(edits(before, after).find(({ list }) => list === 'text')!, places);
  assert.equal(verdictOn(shown(4, true), shown(4, false)), 'looks');
  assert.equal(verdictOn(shown(4, true), shown(5, false)), 'news');
  assert.equal(verdictOn(shown(4, false), shown(5, false)), 'news');
  assert.equal(verdictOn(shown(4, false), shown(5, true)), 'news');
});

test('rows that come beside a quotation by lot are news, though the quotation is another, too', () => {
  const quotations = ['Soup is never late.', 'Tea comes after all of it.', 'Nobody asks a goose.'];
  const shown = (rows: number, quotation: number) => {
    const cells = Array.from({ length: rows }, (_, row) => `<tr><td>${title(row * 7919)}</td><td>${row}</td></tr>`);
    return `<table>${cells.join('')}</table><blockquote>${quotations[quotation]}</blockquote><p>The end of it.</p>`;
  };
  const places = new Places();
  const knowledge = new ServerKnowledge();
  const [first, again] = [edits(shown(4, 0), shown(4, 1)), edits(shown(4, 1), shown(4, 2))];
  for (let look = 0; look < 2; look++) {
    remember(places, first);
    vary(places.grounds, again);
    knowledge.looked(1, first[0]!, places.get(first[0]!.place)!, again[0]);
  }
  const verdictOn = (after: string) => {
    const found = edits(shown(4, 1), after);
    follow(places, found);
    return knowledge.verdictOn(found.find(({ list }) => list === 'text')!, places);
  };
  assert.equal(verdictOn(shown(4, 0)), 'looks');
  assert.equal(verdictOn(shown(5, 0)), 'news');
  places.grounds.length = 0;
  assert.equal(verdictOn(shown(5, 0)), 'news', 'the place alone says how much varies');
});

test('a notice that goes beside a block that comes and goes is news until a look has seen it move', () => {
  const shown = (notice: boolean, block: boolean) =>
    `<h1>Shop</h1>${notice ? '<p>Closed on the second of May.</p>' : ''}${block ? '<p>Have you tried our soup of the day?</p>' : ''}<p>The end of it.</p>`;
  const places = new Places();
  for (const [was, is] of [
    [true, false],
    [false, true],
    [true, false],
  ] as const)
    vary(places.grounds, edits(shown(true, was), shown(true, is)));
  assert.equal(verdict(places, shown(true, true), shown(true, false)), 'looks');
  assert.equal(verdict(places, shown(true, false), shown(false, false)), 'news');
  assert.equal(verdict(places, shown(true, false), shown(false, true)), 'news', 'in its place');
});

test('a block that stood in the place of another and is gone at the next look says nothing of the other', () => {
  const shown = (...blocks: string[]) =>
    `<h1>Shop</h1>${blocks.map(block => `<p>${block}</p>`).join('')}<p>The end of it.</p>`;
  const [notice, soup, tea] = [
    'Closed on the second of May.',
    'Have you tried our soup?',
    'There is tea for all of you.',
  ];
  const text = (before: string, after: string) => edits(before, after).filter(({ list }) => list === 'text')[0]!;
  assert.ok(stands(text(shown(notice), shown(soup)), text(shown(soup), shown())));
  assert.ok(!stands(text(shown(notice), shown(soup)), text(shown(soup), shown(tea))), 'they take turns');
});

function invitationOf(page: number, day: string): string {
  const token = `${day}${(page * 7919 + day.charCodeAt(0) * 104_729).toString(36)}x9k4`;
  return `<p><a href="http://chat.test/room-${page}/${token}/join">Join us</a></p><p>The page of number ${page * 31}.</p>`;
}

test('lines in an order by lot have not come to stay where they stand by chance', () => {
  const [one, other, third] = [
    [1, 2, 3, 4, 5, 6],
    [4, 1, 6, 2, 5, 3],
    [2, 5, 1, 3, 6, 4],
  ];
  const places = looked(one!, other!, one!, third!, other!);
  const held = (found: readonly Edit[]) => {
    remember(places, found);
    return found.map(edit => heldBy(places.get(edit.place)!, edit, places.grounds)).filter(value => value !== 0);
  };
  const inText = (some: readonly Edit[]) => some.filter(({ list }) => list === 'text');
  assert.deepEqual(held(inText(edits(page(other!), page([3, 1, 2, 6, 4, 5])))), []);
  assert.notDeepEqual(held(inText(edits(page(one!), page([1, 2, 3, 4, 5, 99])))), [], 'what is new may stay');
});

test('two long values between which looks at other pages went are noise after one look here, short ones are not', () => {
  const told = (before: string, after: string) => {
    const shown = (own: number, value: string) => `<p>${title(own * 7919)}</p><p>${value}</p>`;
    const knowledge = new ServerKnowledge();
    const look = (own: number, agreed: number) => {
      const places = new Places();
      const found = edits(shown(own, before), shown(own, after));
      remember(places, found);
      const place = places.get(found[0]!.place)!;
      knowledge.looked(own, found[0]!, place, edits(shown(own, after), shown(own, before))[0]);
      for (let i = 0; i < agreed; i++) knowledge.looked(own, found[0]!, place, undefined);
      return knowledge.verdictOn(found[0]!, places);
    };
    for (const own of [1, 2, 3]) look(own, 0);
    return look(4, 3);
  };
  assert.equal(told('Subscribe to our letter of the week', 'Get all the news by mail on Sundays'), 'swing');
  assert.equal(told('open', 'closed'), 'news');
});
