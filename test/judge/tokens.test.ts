/** What machines make up in references: tokens of six characters, invitations, mail addresses in disguise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { Places, remember } from '../../src/judge/places.ts';
import { review, verdictOf } from '../../src/judge/review.ts';
import { frameOf, plainAddress, stemOf } from '../../src/judge/stems.ts';

function edits(before: string, after: string): readonly Edit[] {
  const pieces = (body: string) =>
    piecesOf({
      headers: new Map([['content-type', 'text/html']]),
      body: Buffer.from(`<p>Some text</p>${body}<p>More</p>`),
    })!;
  return editsBetween(pieces(before), pieces(after)).edits.filter(({ list }) => list !== 'tags');
}

const seen = (found: readonly Edit[]) => ({ edits: found, before: 0 });

test('a mail address is the same however it is written', () => {
  assert.equal(plainAddress('mailto:%41nn@Example.TEST'), 'mailto:ann@example.test');
  assert.equal(plainAddress('mailto:%2541nn@example.test'), 'mailto:ann@example.test', 'twice');
  const disguised = '<a href="&#109;ailto:&#97;%6e&#x6e;@example.test">Write</a>';
  assert.deepEqual(edits('<a href="mailto:ann@example.test">Write</a>', disguised), []);
  assert.equal(
    edits('<a href="mailto:ann@example.test">Write</a>', '<a href="mailto:bob@example.test">Write</a>').length,
    1,
  );
  const covered = (key: number, address: string) =>
    `<a href="/x/email-protection#${Buffer.from([key, ...[...Buffer.from(address)].map(sign => sign ^ key)]).toString('hex')}">Mail</a>`;
  assert.deepEqual(edits(covered(7, 'ann@example.test'), covered(99, 'ann@example.test')), [], 'under another key');
  assert.equal(edits(covered(7, 'ann@example.test'), covered(7, 'bob@example.test')).length, 1);
});

test('an invitation has a stem, a word in its place has none', () => {
  assert.equal(stemOf('https://chat.test/i/aB3dE9x', 'https://chat.test/i/Zk8Qw2m'), 'https://chat.test/i/*');
  assert.equal(stemOf('https://chat.test/i/spring', 'https://chat.test/i/summer'), undefined);
  assert.equal(frameOf('https://chat.test/i/spring', 'https://chat.test/i/summer'), 'https://chat.test/i/*');
});

test('an invitation that is another at second looks at three pages is noise on all', () => {
  const invite = (token: string) => `<a href="https://chat.test/i/${token}">Join</a>`;
  const knowledge = new ServerKnowledge();
  const found = edits(invite('aB3dE9x'), invite('Zk8Qw2m'));
  assert.equal(verdictOf(knowledge, seen(found), new Places()), 'news', 'without evidence');
  for (const page of [1, 2, 3]) {
    const places: Places = new Places();
    remember(places, found);
    knowledge.looked(page, found[0]!, places.get(found[0]!.place)!, edits(invite('Zk8Qw2m'), invite('pL4nT7s'))[0]);
  }
  assert.equal(verdictOf(knowledge, seen(edits(invite('q1W2e3r'), invite('t5Y6u7i'))), new Places()), 'token');
});

test('an asset of six characters that flips between two machines is noise from the first round on', () => {
  const logo = (token: string) => `<img src="/assets/${token}/logo.png" alt="Logo">`;
  const [there, back] = [edits(logo('a1b2c3'), logo('d4e5f6')), edits(logo('d4e5f6'), logo('a1b2c3'))];
  const knowledge = new ServerKnowledge();
  const round = [
    { page: 1, time: 1, ...seen(there) },
    { page: 2, time: 1, ...seen(back) },
  ];
  const common = review(knowledge, round, { pages: 50, visited: 50 });
  for (const each of [there, back]) assert.equal(verdictOf(knowledge, seen(each), new Places(), common), 'swing');
  assert.equal(
    verdictOf(knowledge, seen(edits(logo('a1b2c3'), logo('9z8y7x'))), new Places(), common),
    'news',
    'another one',
  );
});

test('what differs beyond what two looks differed in is news', () => {
  const picture = (token: string, name: string) => `<img src="/i/${token}/${name}.png" alt="Map">`;
  const knowledge = new ServerKnowledge();
  const places: Places = new Places();
  const first = edits(picture('abcdk5', 'north'), picture('efghk6', 'north'));
  remember(places, first);
  for (let look = 0; look < 2; look++)
    knowledge.looked(
      1,
      first[0]!,
      places.get(first[0]!.place)!,
      edits(picture('efghk6', 'north'), picture('abcdk5', 'north'))[0],
    );
  assert.equal(verdictOf(knowledge, seen(first), places), 'looks');
  assert.equal(
    verdictOf(knowledge, seen(edits(picture('abcdk5', 'north'), picture('efghk6', 'south'))), places),
    'news',
  );
});
