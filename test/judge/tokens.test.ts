/** What machines make up in references: tokens of six characters, invitations, mail addresses in disguise. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { piecesOf } from '../../src/crawler/analysis/analyse.ts';
import { type Edit, editsBetween } from '../../src/judge/edits.ts';
import { ServerKnowledge } from '../../src/judge/knowledge.ts';
import { Places, remember } from '../../src/judge/places.ts';
import { review, verdictOf } from '../../src/judge/review.ts';
import { frameOf, stemOf } from '../../src/judge/stems.ts';

function edits(before: string, after: string): readonly Edit[] {
  const pieces = (body: string) =>
    piecesOf({
      headers: new Map([['content-type', 'text/html']]),
      body: Buffer.from(`<p>Some text</p>${body}<p>More</p>`),
    })!;
  return editsBetween(pieces(before), pieces(after)).edits.filter(({ list }) => list !== 'tags');
}

const seen = (found: readonly Edit[]) => ({ edits: found, before: 0 });

test('an invitation has a stem, a word in its place has none', () => {
  assert.equal(stemOf('https://chat.test/i/aB3dE9x', 'https://chat.test/i/Zk8Qw2m'), 'https://chat.test/i/*');
  assert.equal(stemOf('https://chat.test/i/spring', 'https://chat.test/i/summer'), undefined);
  assert.equal(frameOf('https://chat.test/i/spring', 'https://chat.test/i/summer'), 'https://chat.test/i/*');
});

test('an invitation that is another at second looks at three pages is noise on a fourth after one look there', () => {
  const invite = (token: string) => `<a href="https://chat.test/i/${token}">Join</a>`;
  const knowledge = new ServerKnowledge();
  const found = edits(invite('aB3dE9x'), invite('Zk8Qw2m'));
  assert.equal(verdictOf(knowledge, seen(found), new Places()), 'news', 'without evidence');
  for (const page of [1, 2, 3]) {
    const places: Places = new Places();
    remember(places, found);
    knowledge.looked(page, found[0]!, places.get(found[0]!.place)!, edits(invite('Zk8Qw2m'), invite('pL4nT7s'))[0]);
  }
  const places: Places = new Places();
  const fourth = edits(invite('q1W2e3r'), invite('t5Y6u7i'));
  assert.equal(
    verdictOf(knowledge, seen(fourth), places),
    'news',
    'a story of the day may have a link of the same kind',
  );
  remember(places, fourth);
  const { place } = fourth[0]!;
  knowledge.looked(4, fourth[0]!, places.get(place)!, edits(invite('t5Y6u7i'), invite('m3N4b5v'))[0]);
  places.get(place)!.passed = 9;
  assert.equal(verdictOf(knowledge, seen(edits(invite('m3N4b5v'), invite('k9J8h7g'))), places), 'token');
});

test('a hash of a bundler is one token, though hyphens may be signs of it', () => {
  const name = (hash: string) => `/assets/logo-${hash}.png`;
  for (const [one, other] of [
    ['Bx3_kQ9-', 'a8Kd02Lm'],
    ['-F5KNYoi', 'rHqBDjEL'],
    ['wch-Nq3S', '__QLIiph'],
  ])
    assert.equal(stemOf(name(one!), name(other!)), name('*'), `${one} → ${other}`);
  for (const [one, other] of [
    ['my-story', 'new-post'],
    ['v1-2-30', 'v1-12-4'],
    ['May-2026', 'June-026'],
  ])
    assert.equal(stemOf(name(one!), name(other!)), undefined, `${one} → ${other}`);
});

test('of a link that is signed anew what stands before the query has to stay', () => {
  const link = (file: string, a: string, b: string) =>
    `<a href="https://files.test/${file}.pdf?a=${a}&amp;b=${b}&amp;c=${b}${a}&amp;d=${a}${a}">The report</a>`;
  const places: Places = new Places();
  const knowledge = new ServerKnowledge();
  const first = edits(link('may', 'x1', 'y2%2B3'), link('may', 'z8', 'w7'));
  const again = edits(link('may', 'z8', 'w7'), link('may', 'q5', 'r%2F9'))[0];
  for (let look = 0; look < 2; look++) {
    remember(places, first);
    knowledge.looked(1, first[0]!, places.get(first[0]!.place)!, again);
  }
  assert.equal(verdictOf(knowledge, seen(edits(link('may', 'q5', 'r9'), link('may', 't6', 'u4%2B'))), places), 'looks');
  assert.equal(verdictOf(knowledge, seen(edits(link('may', 'q5', 'r9'), link('june', 't6', 'u4%2B'))), places), 'news');
});

test('a token that goes back and forth on one page is told three times, a new one and a word each time', () => {
  const told = (first: string, second: string, third: string) => {
    const link = (token: string) => `<a href="https://cdn.test/${token}/notes">Notes</a>`;
    const places = new Places();
    const knowledge = new ServerKnowledge();
    const values = [first, second, first, second, first, second, first, third];
    return values.slice(1).map((value, i) => {
      const found = edits(link(values[i]!), link(value));
      const before = verdictOf(knowledge, seen(found), places);
      remember(places, found);
      assert.equal(verdictOf(knowledge, seen(found), places), before, 'the same when it is remembered');
      return before;
    });
  };
  const [news, back] = ['news', 'returned'];
  assert.deepEqual(told('a1b2c3', 'd4e5f6', 'g7h8i9'), [news, news, news, back, back, back, news]);
  assert.deepEqual(new Set(told('open', 'closed', 'sold')), new Set([news]));
});

test('an asset of six characters that flips between two machines is noise from the first round on', () => {
  const logo = (token: string) => `<img src="/assets/${token}/logo.png" alt="Logo">`;
  const [there, back] = [edits(logo('a1b2c3'), logo('d4e5f6')), edits(logo('d4e5f6'), logo('a1b2c3'))];
  const knowledge = new ServerKnowledge();
  const round = [1, 2, 3, 4, 5, 6].map(page => ({ page, time: 1, ...seen(page % 2 === 0 ? there : back) }));
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

/** A round in which each page has one edit, or none, and what is made of them. */
function roundOf(all: readonly (readonly Edit[])[], knowledge = new ServerKnowledge(), time = 1): string[] {
  const round = all.map((found, page) => ({ page, time, ...seen(found) })).filter(({ edits }) => edits.length > 0);
  const common = review(knowledge, round, { pages: 60, visited: 60 });
  return round.map(each => verdictOf(knowledge, each, new Places(), common));
}

const ownPicture = (page: number, token: string) => `<img src="/static/${token}/story-${page}.png" alt="Chart">`;
const pages = Array.from({ length: 40 }, (_, page) => page);

test('the token of a machine is noise in pictures that each page has for itself', () => {
  const flips = pages.map(page =>
    page % 2 === 0
      ? edits(ownPicture(page, 'a1b2c3'), ownPicture(page, 'd4e5f6'))
      : edits(ownPicture(page, 'd4e5f6'), ownPicture(page, 'a1b2c3')),
  );
  assert.deepEqual(new Set(roundOf(flips)), new Set(['swing']));
  const named = (page: number, token: string) => `<img src="/i/story-${page}-${token}.png" alt="Chart">`;
  const other = pages.map(page =>
    page % 2 === 0
      ? edits(named(page, 'a1b2c3'), named(page, 'd4e5f6'))
      : edits(named(page, 'd4e5f6'), named(page, 'a1b2c3')),
  );
  assert.deepEqual(new Set(roundOf(other)), new Set(['swing']));
});

test('the token of a build in pictures that each page has for itself is one edit of the server', () => {
  const built = pages.map(page => edits(ownPicture(page, 'a1b2c3'), ownPicture(page, 'd4e5f6')));
  assert.deepEqual(new Set(roundOf(built)), new Set(['shared']));
  assert.deepEqual(roundOf(built.slice(0, 3)), ['news', 'news', 'news'], 'on few pages it is their own');
});

test('a token that each page has for itself, in a picture of its own, is noise where many change at once', () => {
  const most = Array.from({ length: 35 }, (_, page) => page);
  assert.deepEqual(new Set(roundOf(built(most, 1))), new Set(['everywhere']));
});

const ownToken = (page: number, build: number) => ((page + 1) * 7919 + build * 104_729).toString(36).padStart(6, 'k7');

/** Of these pages the token became another with a build; of the others none did. */
function built(some: readonly number[], build: number): (readonly Edit[])[] {
  const last = Math.max(...some);
  return Array.from({ length: last + 1 }, (_, page) => {
    if (!some.includes(page)) return [];
    return edits(ownPicture(page, ownToken(page, build)), ownPicture(page, ownToken(page, build + 1)));
  });
}

test('where some of the pages have a token for themselves, it is noise once the same pages have another one again', () => {
  const knowledge = new ServerKnowledge();
  const some = pages.filter(page => page % 2 === 0);
  assert.deepEqual(new Set(roundOf(built(some, 1), knowledge, 1)), new Set(['news']));
  assert.deepEqual(new Set(roundOf(built(some, 2), knowledge, 2)), new Set(['everywhere']));
  const saved = new ServerKnowledge(JSON.parse(JSON.stringify(knowledge.save())));
  assert.deepEqual(new Set(roundOf(built(some, 3), saved, 3)), new Set(['everywhere']), 'also after a restart');
});

test('where other pages each day have another token of their own, it is news, and stays news when all have', () => {
  const knowledge = new ServerKnowledge();
  for (let day = 0; day < 6; day++) {
    const some = pages.filter(page => page % 3 === day % 3);
    assert.deepEqual(new Set(roundOf(built(some, day), knowledge, day + 1)), new Set(['news']), `day ${day}`);
  }
  assert.deepEqual(new Set(roundOf(built(pages, 9), knowledge, 9)), new Set(['news']), 'all at once');
});

test('words that pages exchange are states of theirs, however many do', () => {
  const hall = (page: number, state: string) => `<a href="/hall-${page}/${state}/">Hall ${page}</a>`;
  for (const [one, other] of [
    ['open', 'closed'],
    ['in-stock', 'sold-out'],
    ['3', '4'],
  ] as const) {
    const round = pages.map(page =>
      page % 2 === 0 ? edits(hall(page, one), hall(page, other)) : edits(hall(page, other), hall(page, one)),
    );
    assert.deepEqual(new Set(roundOf(round)), new Set(['news']), one);
  }
});

test('a video of the day is news where many pages have other tokens elsewhere at the same time', () => {
  const token = (page: number, day: number) => `k${((page + 1) * 7919 + day * 104_729).toString(36)}x9`;
  const shown = (page: number, day: number, server: string) =>
    server === 'video'
      ? `<a href="http://video.test/s/${token(page, day)}">Open</a>`
      : `<a href="http://chat.test/room-${page}/${token(page, day)}/notes">Open</a>`;
  const round = pages.map(page => {
    const server = page === 0 ? 'video' : 'chat';
    return edits(shown(page, 1, server), shown(page, 2, server));
  });
  assert.deepEqual(roundOf(round), ['news', ...pages.slice(1).map(() => 'everywhere')]);
});

const embedded = (token: string) => `<iframe src="https://video.test/embed/${token}"></iframe>`;
const watched = (token: string) => `<a href="https://video.test/watch?v=${token}">Watch</a>`;
const filed = (token: string) => `<a href="/files/${token}.pdf">Menu of the day</a>`;
const photo = (token: string) => `<img src="/u/${token}.jpg" alt="Photo of the day">`;
const things = [embedded, watched, filed, photo];
const pool = ['k3v9qx2m', 'a1b2c3d4', '9z8y7x6w', 'p0o9i8u7', 'q1w2e3r4'];

test('where more than four values take turns at one place of all pages, they are no machines', () => {
  const thumb = (token: string) => `<img src="/vi/${token}/large.jpg" alt="">`;
  const round = pages.map(page => {
    return edits(thumb(pool[page % 5]!), thumb(pool[(page + (page % 2 === 0 ? 1 : 4)) % 5]!));
  });
  const knowledge = new ServerKnowledge();
  for (let day = 1; day < 5; day++) assert.ok(!roundOf(round, knowledge, day).includes('swing'), `day ${day}`);
});

test('on all pages at once another one is news where it stands before the same words, as it is the token that names it', () => {
  const story = (token: string) => `<a href="/story/${token}/read">Read on</a>`;
  const round = pages.map(page => edits(story(ownToken(page, 1)), story(ownToken(page, 2))));
  assert.deepEqual(new Set(roundOf(round)), new Set(['news']));
});

test('things that are named by a token alone are news where pages exchange them', () => {
  for (const thing of things) {
    const round = pages.slice(0, 12).map(page => {
      return edits(thing(pool[page % 5]!), thing(pool[(page % 5) ^ 1] ?? pool[0]!));
    });
    assert.deepEqual(new Set(roundOf(round)), new Set(['news']), thing('TOKEN'));
    const knowledge = new ServerKnowledge();
    for (let day = 0; day < 4; day++) {
      const turns = pages.slice(0, 4).map(page => {
        return edits(thing(pool[(page + day) % 2]!), thing(pool[(page + day + 1) % 2]!));
      });
      assert.deepEqual(new Set(roundOf(turns, knowledge, day + 1)), new Set(['news']), `${thing('TOKEN')}, in turns`);
    }
  }
});

test('what many pages have in one of a few ways by a token alone is one of machines', () => {
  const round = pages.map(page =>
    page % 2 === 0 ? edits(photo(pool[0]!), photo(pool[1]!)) : edits(photo(pool[1]!), photo(pool[0]!)),
  );
  assert.deepEqual(new Set(roundOf(round)), new Set(['swing']));
});

test('on all pages at once another video, story or file of its own is news, as nothing else names it', () => {
  for (const thing of things.slice(0, 3)) {
    const round = pages.map(page => edits(thing(ownToken(page, 1)), thing(ownToken(page, 2))));
    assert.deepEqual(new Set(roundOf(round)), new Set(['news']), thing('TOKEN'));
  }
});

test('on all pages at once another long token in a link is a signature or a session, which names nothing', () => {
  const login = (page: number, day: number) => `<a href="/login?key=${ownToken(page, day).repeat(3)}">Log in</a>`;
  const round = pages.map(page => edits(login(page, 1), login(page, 2)));
  assert.deepEqual(new Set(roundOf(round)), new Set(['everywhere']));
});

test('machines that answer in turns on three pages are known when each has turned back', () => {
  const knowledge = new ServerKnowledge();
  const turn = (from: string, to: string) => [1, 2, 3].map(page => edits(ownPicture(page, from), ownPicture(page, to)));
  assert.deepEqual(roundOf(turn('a1b2c3', 'd4e5f6'), knowledge), ['news', 'news', 'news']);
  assert.deepEqual(roundOf(turn('d4e5f6', 'a1b2c3'), knowledge), ['swing', 'swing', 'swing']);
  const alone = new ServerKnowledge();
  for (const [from, to] of [
    ['a1b2c3', 'd4e5f6'],
    ['d4e5f6', 'a1b2c3'],
    ['a1b2c3', 'd4e5f6'],
  ] as const)
    assert.deepEqual(
      roundOf([edits(ownPicture(1, from), ownPicture(1, to))], alone),
      ['news'],
      'one picture may change so',
    );
});

test('another picture behind machines that are known is news', () => {
  const knowledge = new ServerKnowledge();
  const turn = (from: string, to: string) => [1, 2, 3].map(page => edits(ownPicture(page, from), ownPicture(page, to)));
  roundOf(turn('a1b2c3', 'd4e5f6'), knowledge);
  roundOf(turn('d4e5f6', 'a1b2c3'), knowledge);
  assert.deepEqual(roundOf([edits(ownPicture(1, 'a1b2c3'), ownPicture(2, 'd4e5f6'))], knowledge), ['news']);
});

test('words of addresses that many pages exchange are machines, those of few are news', () => {
  const icon = (page: number, name: string) => `<img src="/i/${name}/story-${page}.png" alt="">`;
  const flips = (some: readonly number[]) =>
    some.map(page =>
      page % 2 === 0
        ? edits(icon(page, 'qllmydt'), icon(page, 'orange'))
        : edits(icon(page, 'orange'), icon(page, 'qllmydt')),
    );
  assert.deepEqual(new Set(roundOf(flips(pages))), new Set(['swing']));
  assert.deepEqual(new Set(roundOf(flips(pages.slice(0, 8)))), new Set(['news']));
});

test('a token that goes back and forth while second looks agree is the news of its page', () => {
  const link = (token: string) => `<a href="https://video.test/${token}">Video of the day</a>`;
  const places = new Places();
  const knowledge = new ServerKnowledge();
  for (let day = 0; day < 12; day++) {
    const found = edits(link(day % 2 ? 'a1b2c3' : 'd4e5f6'), link(day % 2 ? 'd4e5f6' : 'a1b2c3'));
    assert.equal(verdictOf(knowledge, seen(found), places), 'news', `day ${day}`);
    remember(places, found);
    if (day < 4) knowledge.looked(1, found[0]!, places.get(found[0]!.place)!, undefined);
  }
});

test('capitals where no name has them make a token', () => {
  assert.equal(stemOf('/i/IAzDCxd/a.png', '/i/qllmydt/a.png'), '/i/*/a.png');
  for (const [one, other] of [
    ['GitHub', 'GitLab'],
    ['YouTube', 'OpenLDA'],
    ['JavaScript', 'TypeScript'],
  ] as const)
    assert.equal(stemOf(`/i/${one}.png`, `/i/${other}.png`), undefined);
});

test('what many pages share is one edit of the server, though two others go the other way with pages of their own', () => {
  const line = (status: string, own: number) => `<p>Status: ${status}</p><p>Words of the page number ${own}</p>`;
  const moved = (page: number, from: string, to: string) => {
    return { page, time: 2, before: 1, edits: edits(line(from, page), line(to, page)) };
  };
  const told = (back: number) => {
    const knowledge = new ServerKnowledge();
    const some = Array.from({ length: 20 }, (_, page) => moved(page, 'open', 'closed'));
    const others = Array.from({ length: back }, (_, page) => moved(page + 20, 'closed', 'open'));
    const round = [...some, ...others];
    const common = review(knowledge, round, { pages: 60, visited: 60 });
    return round.map(each => verdictOf(knowledge, each, new Places(), common));
  };
  assert.deepEqual(told(2), [...Array(20).fill('shared'), 'news', 'news']);
  assert.deepEqual(new Set(told(10)), new Set(['news']), 'machines behind one name go both ways');
});

test('a short edit beside a long one that many pages share is its own, unless the two go together elsewhere', () => {
  const long = ['The ferry leaves at seven from the old pier.', 'The ferry leaves at nine from the new pier now.'];
  const html = (at: 0 | 1, status: string, page: number) =>
    `<p>${long[at]}</p><p>${status}</p><p>Words of the page number ${page}</p>`;
  const both = (page: number) => edits(html(0, 'in stock', page), html(1, 'sold out', page));
  const alone = (page: number) => edits(html(0, 'in stock', page), html(1, 'in stock', page));
  const elsewhere = (page: number) =>
    edits(`<p>Goods ${page}</p><p>in stock</p>`, `<p>Goods ${page}</p><p>sold out</p>`);
  const told = (together: number) => {
    const knowledge = new ServerKnowledge();
    const all = [
      ...Array.from({ length: together }, (_, page) => both(page)),
      ...Array.from({ length: 20 }, (_, page) => alone(page + 20)),
      ...Array.from({ length: 12 }, (_, page) => elsewhere(page + 40)),
    ].map((found, page) => ({ page, time: 2, before: 1, edits: found }));
    const common = review(knowledge, all, { pages: 100, visited: 100 });
    return verdictOf(knowledge, all[0]!, new Places(), common);
  };
  assert.equal(told(2), 'news', 'two are sold out, and the ferry is another matter');
  assert.equal(told(12), 'shared', 'both changed side by side on many pages');
});
