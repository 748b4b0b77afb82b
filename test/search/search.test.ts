import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { SkeinError } from '../../src/base/errors.ts';
import { openSearch, type SearchDocument } from '../../src/search/index.ts';
import { randomly } from '../random.ts';
import { directory, document, found, indexOf, NOW, pagesOf, put, removePages } from './documents.ts';

const shelf: readonly SearchDocument[] = [
  document(1, { title: 'Wild geese', text: 'Geese migrate in a skein. They fly south.', changed: NOW - 2 * DAY }),
  document(2, {
    url: 'https://docs.example.com/guide/install?page=2',
    title: 'Installing the crawler',
    headings: 'Running it\nStopping it',
    text: 'The crawler runs on one machine. Databases are small.',
    mediaType: 'application/pdf',
  }),
  document(3, {
    url: 'http://müller.de:8080/über',
    title: 'Über uns',
    language: 'de',
    text: 'Die Häuser an der Straße',
  }),
  document(4, { title: '搜索引擎', language: 'zh', text: '搜索引擎是根据一定的策略从互联网上采集信息' }),
  document(5, { title: 'คู่มือ', language: 'th', text: 'ภาษาไทยไม่มีการเว้นวรรคระหว่างคำ' }),
  document(6, { title: 'Kitaplar', language: 'tr', text: 'İstanbul’da kitaplarımızdan ışık' }),
  document(7, { title: 'المكتبة', language: 'ar', text: 'يقرأ الناس الكتب في المكتبات' }),
  document(8, { title: '학교', language: 'ko', text: '학교에서 공부를 합니다' }),
];

const finds: readonly (readonly [string, readonly number[]])[] = [
  ['geese', [1]],
  ['migrating flies', [1]],
  ['GOOSE OR skein', [1]],
  ['fly migrating', [1]],
  ['geese crawler', [1, 2]], // no page has both: those with one
  ['+geese', [1]],
  ['"in a skein"', [1]],
  ['"a skein in"', []],
  ['"geese fly"', []],
  ['geese -south', []],
  ['crawl*', [2]],
  ['computi* OR databasi*', [2]],
  ['title:installing', [2]],
  ['title:machine', []],
  ['url:install', [2]],
  ['site:example.com', [2]],
  ['site:docs.example.com', [2]],
  ['site:ocs.example.com', []],
  ['site:com', [2]],
  ['site:example.com/guide', [2]],
  ['site:example.com/install', []],
  ['site:docs.example.com/guide/install', [2]],
  ['site:müller.de', [3]],
  ['site:müller.de:8080', [3]],
  ['site:müller.de:81', []],
  ['type:pdf', [2]],
  ['type:application/pdf', [2]],
  ['type:application', [2]],
  ['type:html -site:org', [3]],
  ['lang:de', [3]],
  ['lang:de haus', [3]],
  ['haus', [3]],
  ['uber', [3]],
  ['strasse', [3]],
  ['changed:<7d', [1]],
  ['changed:>7d site:example.com', [2]],
  ['-changed:<7d lang:de', [3]],
  ['(geese OR haus) lang:de', [3]],
  ['geese OR lang:de', [1, 3]],
  ['lang:de OR (lang:tr -kitap)', [3]],
  ['搜索', [4]],
  ['引擎', [4]],
  ['互联网', [4]],
  ['"搜索引擎"', [4]],
  ['ภาษาไทย', [5]],
  ['วรรค', [5]],
  ['istanbul', [6]],
  ['İSTANBUL', [6]],
  ['kitap', [6]],
  ['ışık', [6]],
  ['isik', [6]],
  ['مكتبة', [7]],
  ['المَكتبات', [7]],
  ['학교', [8]],
  ['공부', [8]],
  ['nothinglikeit', []],
  ['geese NOT (south OR north)', []],
];

test('queries find what they should', async context => {
  const search = indexOf(context, shelf);
  for (const [query, pages] of finds) await context.test(query, () => assert.deepEqual(found(search, query), pages));
});

test('a query inside OR or parentheses cannot hold changed:, and says so', context => {
  const search = indexOf(context, shelf);
  assert.throws(() => search.query('geese OR changed:<7d'), { code: 'bad-query', message: /changed:/ });
});

test('title beats headings beat text; importance and freshness decide between equals', context => {
  const filler = 'one two three four five six seven eight nine ten';
  const search = indexOf(context, [
    document(1, { text: `${filler} walrus ${filler}` }),
    document(2, { headings: 'walrus', text: filler }),
    document(3, { title: 'walrus', text: filler }),
    document(4, { title: 'Otter one', text: filler }),
    document(5, { title: 'Otter one', text: filler, importance: 0.9 }),
    document(6, { title: 'Heron one', text: filler }),
    document(7, { title: 'Heron one', text: filler, changed: NOW - DAY }),
    document(8, { title: 'Walking in the rain', text: filler }),
    document(9, { title: 'The rain in walking', text: filler }),
  ]);
  const order = (query: string) => pagesOf(search.query(query, { now: NOW }));
  assert.deepEqual(order('walrus'), [3, 2, 1]);
  assert.deepEqual(order('otter'), [5, 4]);
  assert.deepEqual(order('heron'), [7, 6]);
  assert.deepEqual(order('walking in the rain'), [8, 9]);
});

test('filters alone: the most important first, or what changed last', context => {
  const search = indexOf(
    context,
    Array.from({ length: 1500 }, (_, page) =>
      document(page + 1, { importance: page / 1500, changed: NOW - (page + 1) * 1000 }),
    ),
  );
  assert.deepEqual(pagesOf(search.query('site:example.org', { limit: 3 })), [1500, 1499, 1498]);
  assert.deepEqual(pagesOf(search.query('site:example.org changed:<1d', { limit: 3, now: NOW })), [1, 2, 3]);
});

test('a page with all rare words comes before one with a common word often', context => {
  const common = Array.from({ length: 30 }, (_, page) => document(page + 10, { text: 'goose goose goose goose pond' }));
  const search = indexOf(context, [document(1, { text: 'a barnacle goose by the pond' }), ...common]);
  assert.equal(search.query('barnacle goose pond').hits[0]!.page, 1);
});

test('a changed page is found by its new words only, a gone one not at all', context => {
  const search = indexOf(context, [document(1, { text: 'apricot' }), document(2, { text: 'apricot plum' })]);
  put(search, [document(1, { text: 'cherry' })]);
  assert.deepEqual([found(search, 'apricot'), found(search, 'cherry')], [[2], [1]]);
  removePages(search, [2, 99]);
  assert.deepEqual([found(search, 'apricot'), found(search, 'plum'), search.counts().documents], [[], [], 1]);
  put(search, [document(2, { text: 'apricot again' })]);
  assert.deepEqual(found(search, 'apricot'), [2]);
});

test('within one batch the last word on a page counts', context => {
  const search = indexOf(context, []);
  search.updates.apply({ changed: [document(1, { text: 'first' }), document(1, { text: 'second' })], gone: [] });
  assert.deepEqual([found(search, 'first'), found(search, 'second')], [[], [1]]);
});

test('noindex is never shown, and a page that turns noindex goes', context => {
  const search = indexOf(context, [document(1, { text: 'secret', noindex: true }), document(2, { text: 'open' })]);
  assert.deepEqual(found(search, 'secret'), []);
  put(search, [document(2, { text: 'open', noindex: true })]);
  assert.deepEqual(found(search, 'open'), []);
});

test('noarchive is found, without text or copy', context => {
  const search = indexOf(context, [document(1, { title: 'Paper', text: 'private words' })]);
  put(search, [document(1, { title: 'Paper', text: 'private words', noarchive: true })]);
  const [hit] = search.query('private').hits;
  assert.deepEqual([hit!.copy, hit!.snippet], [false, []]);
});

test('a result says how old it is and what it is asked to pass on', context => {
  const search = indexOf(context, [document(1, { title: 'Wild geese', text: 'x' })]);
  const freshness = (page: number) => ({ seen: NOW - 5000, changedProbability: page / 4 });
  assert.equal(search.query('geese', { now: NOW }).hits[0]!.age, DAY);
  const [hit] = search.query('geese', { now: NOW, freshness }).hits;
  assert.deepEqual([hit!.age, hit!.changedProbability, hit!.copy], [5000, 0.25, true]);
  assert.deepEqual(hit!.title, [
    { text: 'Wild ', hit: false },
    { text: 'geese', hit: true },
  ]);
});

test('a snippet shows the place with most of the words, marked by their stems', context => {
  const noise = 'Lorem ipsum dolor sit amet. '.repeat(400);
  const search = indexOf(context, [document(1, { text: `geese ${noise} The geese are migrating again. ${noise}` })]);
  const { snippet } = search.query('goose OR geese migrate').hits[0]!;
  assert.deepEqual(
    snippet.filter(part => part.hit).map(part => part.text),
    ['geese', 'migrating'],
  );
  assert.ok(snippet.reduce((sum, part) => sum + part.text.length, 0) <= 260);
});

test('no query, however strange, meets an error of the database', context => {
  const search = indexOf(context, shelf);
  const random = randomly(23);
  const bits = [
    'goose',
    '"',
    '(',
    ')',
    ' OR ',
    ' AND ',
    ' NOT ',
    '-',
    '*',
    'site:',
    'type:',
    'lang:',
    'title:',
    'changed:<',
  ];
  bits.push(
    'url:',
    '7d',
    ' ',
    '^',
    '{',
    '}',
    ':',
    '+',
    "'",
    '\\',
    '\0',
    ';',
    'NEAR(',
    '搜索',
    'ไทย',
    '\ud800',
    '\ue000every',
    'de',
  );
  let understood = 0;
  for (let round = 0; round < 10_000; round++) {
    const made = Array.from({ length: 1 + random.below(8) }, () => bits[random.below(bits.length)]).join('');
    const text = round % 4 === 0 ? random.garbage(40) : made;
    try {
      search.query(text);
      understood++;
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'bad-query', `${JSON.stringify(text)}: ${error}`);
    }
  }
  assert.ok(understood > 1000, `${understood} were understood`);
});

test('hostile text is data: it changes no meaning and no layout', context => {
  const nasty = '<script>alert(1)</script> "x" OR terms MATCH \'*\' \u202egnirts\u202c \0\x07 \ud800 needle &amp; ';
  const search = indexOf(context, [
    document(1, { title: nasty, headings: nasty, anchors: nasty, text: nasty.repeat(50) }),
  ]);
  const [hit] = search.query('needle').hits;
  const text = [...hit!.snippet, ...hit!.title].map(part => part.text).join('');
  assert.match(text, /<script>/);
  assert.doesNotMatch(text, /[\u202a-\u202e\0-\x1f]/);
  assert.ok(text.isWellFormed());
  assert.deepEqual(found(search, '"script alert"'), [1]);
});

test('a page of nothing but one endless word, or of nothing, does no harm', context => {
  const search = indexOf(context, [
    document(1, { text: 'ab'.repeat(1_000_000) }),
    document(2, {}),
    document(3, { url: 'not a url', text: 'lost' }),
    document(4, { text: '漢字'.repeat(5000) }),
    document(5, { title: 'x '.repeat(100_000), text: 'titled' }),
  ]);
  assert.deepEqual([found(search, 'lost'), found(search, 'titled'), found(search, '漢字')], [[3], [5], [4]]);
  assert.equal(search.counts().documents, 5);
});

test('pages of results follow on, up to the window', context => {
  const many = Array.from({ length: 1200 }, (_, index) => document(index + 1, { text: `pebble ${index}` }));
  const search = indexOf(context, many);
  const first = search.query('pebble', { limit: 100 });
  const second = search.query('pebble', { limit: 100, offset: 100 });
  assert.deepEqual([first.total, first.exact, first.cached, second.cached], [1200, true, false, true]);
  assert.equal(new Set([...pagesOf(first), ...pagesOf(second)]).size, 200);
  assert.equal(search.query('pebble', { offset: 1000 }).hits.length, 0);
});

test('of too many matches the first found are ranked, and those that say it in their title', context => {
  const search = indexOf(context, []);
  const make = (page: number) => document(page, { text: 'gravel', title: page === 10_400 ? 'Gravel' : '' });
  for (let first = 1; first <= 10_500; first += 1500) {
    put(
      search,
      Array.from({ length: 1500 }, (_, index) => make(first + index)),
    );
  }
  const results = search.query('gravel');
  assert.deepEqual(
    [results.total, results.exact, results.hits[0]!.page, results.hits[1]!.page],
    [10_000, false, 10_400, 1],
  );
});

test('two thousand queries of nonsense and half-sense: an answer or a sentence, never an SQL error', context => {
  const search = indexOf(context, shelf);
  const random = randomly(3);
  const pieces = [
    'geese',
    'skein',
    ' ',
    ' ',
    ' OR ',
    ' AND ',
    ' NOT ',
    '-',
    '(',
    ')',
    '"',
    '*',
    ':',
    '^',
    '+',
    '{',
    '}',
    "'",
    ';',
    '--',
    '搜索',
    'ภาษา',
  ];
  pieces.push(
    'site:',
    'lang:',
    'type:',
    'changed:<',
    '7d',
    'title:',
    'url:',
    'NEAR(',
    'marks : ',
    '\ue000every',
    '\0',
    'é',
    '%',
    '/',
    '.',
    'de',
  );
  let answers = 0;
  for (let round = 0; round < 2000; round++) {
    const text = round % 4 === 0 ? random.garbage(40) : random.text(pieces, 1 + random.below(14));
    try {
      search.query(text);
      answers++;
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'bad-query', `${JSON.stringify(text)}: ${error}`);
    }
  }
  assert.ok(answers > 300, `only ${answers} were answered`);
  assert.deepEqual(found(search, '\ue000every geese'), [1]);
});

test('a file that is no index is named as damaged, with what to do', context => {
  const file = join(directory(context), 'search.db');
  writeFileSync(file, 'this is not a database, and it is long enough to be looked at '.repeat(100));
  assert.throws(() => openSearch(file), { code: 'damaged', hint: /rebuild/ });
});

test('what nearly equals a better result is folded, unless it is asked for or has another title', context => {
  const text = 'Reeds and water, water and reeds, and a heron that waits for the evening to come over the marsh.';
  const heron = (page: number, title: string, more: string, simhash: bigint) =>
    document(page, { title, text: `${text} ${more}`, simhash, importance: 1 / page });
  const search = indexOf(context, [
    heron(1, 'Marsh', 'Seen in May.', 0xff00ff00ff00ff00n),
    heron(2, 'Marsh', 'Seen in June.', 0xff00ff00ff00ff07n),
    heron(3, 'Marsh', 'Seen in May.', 0xff00ff00ff00ff00n),
    heron(4, 'Marsh', 'Another story altogether.', 0xff00ff00ff00ff0fn),
    heron(5, 'Pond', 'Seen in July.', 0xff00ff00ff00ff00n),
    document(6, { title: 'Marsh', text: 'heron' }),
    document(7, { title: 'Marsh', text: 'heron' }),
  ]);
  const shown = search.query('heron', { now: NOW }).hits.map(({ page, alike }) => [page, alike]);
  assert.deepEqual(
    shown.sort((a, b) => a[0]! - b[0]!),
    [...[[1, 2]], ...[4, 5, 6, 7].map(page => [page, 0])],
  );
  const all = search.query('heron', { now: NOW, unfold: true }).hits;
  assert.deepEqual(all.map(({ page }) => page).sort(), [1, 2, 3, 4, 5, 6, 7]);
  assert.ok(all.every(({ alike }) => alike === 0));
});
