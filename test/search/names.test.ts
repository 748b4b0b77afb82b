import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Search } from '../../src/search/index.ts';
import { terms } from '../../src/search/terms/words.ts';
import { document, found, indexOf, NOW, pagesOf } from './documents.ts';

const filler = 'Much is said here about other things, and more about others still.';

const manual = [
  document(1, { title: 'HashMap', headings: 'get\ncomputeIfAbsent', text: `Maps keys. ${filler}` }),
  document(2, {
    title: 'Uses of Class HashMap',
    text: `HashMap.computeIfAbsent and HashMap.get. ${filler}`,
  }),
  document(3, { title: 'Thread', headings: 'sleep', text: `Runs. Thread.sleep waits. ${filler}` }),
  document(4, { title: 'StringBuilder', text: `Appends. ${filler}` }),
  document(5, { title: 'std::string::find_first_of', text: `Finds characters. ${filler}` }),
  document(6, { title: 'std::vector::operator[]', text: `Elements. ${filler}` }),
  document(7, { title: 'std::vector::operator==, !=, <', text: `Elements. ${filler}` }),
  document(8, { title: 'C++20', text: `What is new. ${filler}` }),
  document(9, { title: 'C# for beginners', text: `Sharp. ${filler}` }),
  document(10, { title: 'Mock functions', headings: 'jest.fn()', text: `Mocks. ${filler}` }),
  document(11, { title: '全文検索エンジンの使い方', text: '全文検索エンジンは文書を単語に分けて索引を作ります。' }),
  document(12, { title: 'The string and the builder', text: `A builder takes a string in hand. ${filler}` }),
];

const first = (search: Search, query: string) => search.query(query, { now: NOW }).hits[0]?.page;

const answers: readonly (readonly [string, number])[] = [
  ['HashMap.computeIfAbsent', 1],
  ['HashMap#computeIfAbsent()', 1],
  ['hash map compute if absent', 1],
  ['Thread.sleep', 3],
  ['string builder', 4],
  ['stringbuilder', 4],
  ['StringBuilder', 4],
  ['string_builder', 4],
  ['std::string::find_first_of', 5],
  ['find_first_of', 5],
  ['findFirstOf', 5],
  ['findfirstof', 5],
  ['vector operator[]', 6],
  ['operator[]', 6],
  ['operator==', 7],
  ['operator!=', 7],
  ['C++20', 8],
  ['C++', 8],
  ['C#', 9],
  ['jest.fn()', 10],
  ['全文検索', 11],
  ['検索エンジン使い方', 11],
  ['索引を作る', 11],
];

test('names are found whole, by their parts, and with their signs', async context => {
  const search = indexOf(context, manual);
  for (const [query, page] of answers) await context.test(query, () => assert.equal(first(search, query), page));
});

test('neither small words, types nor other names with the same words come before the name that is asked for', context => {
  const search = indexOf(context, [
    document(1, { title: 'Thread', headings: 'sleep\njoin', text: `Runs. ${filler}` }),
    document(2, { title: 'std::this_thread::sleep_for', text: `Waits in a thread. ${filler}` }),
    document(3, { title: 'std::vector::at', text: `Elements, with a check. ${filler}` }),
    document(4, { title: 'std::vector::front', text: `The first T of a vector at hand. ${filler}` }),
    document(5, { title: 'std::mutex', text: `A lock. ${filler}` }),
    document(6, { title: 'What is what', text: `What a mutex is, is not said here. ${filler}` }),
    document(7, { title: 'C++ reference', text: `How to find a vector in C++. ${filler}` }),
    document(8, { title: 'Sorting a vector', text: `To sort one in C++, use sort. ${filler}` }),
    document(9, { title: 'std::unordered_map::emplace', text: `Of unordered_map and unordered_map. ${filler}` }),
    document(10, { title: 'std::unordered_map', text: `Keys and values. ${filler}` }),
  ]);
  for (const [query, page] of [
    ['Thread.sleep', 1],
    ['std::vector::at', 3],
    ['std::vector<T>::at', 3],
    ['what is a mutex', 5],
    ['how to sort a vector in c++', 8],
    ['C++', 7],
    ['unordered_m', 10],
    ['unorderedmap', 10],
  ] as const)
    assert.equal(first(search, query), page, query);
});

test('the last word may be typed only half', context => {
  const search = indexOf(context, manual);
  for (const [query, page] of [
    ['string build', 4],
    ['StringBui', 4],
    ['mock func', 10],
    ['std::vector::opera', 6],
  ] as const)
    assert.equal(first(search, query), page, query);
  assert.deepEqual(found(search, '"mock func"'), [], 'but not in quotation marks');
});

test('half a word is found where words are written without spaces', context => {
  const search = indexOf(context, [
    document(1, { title: '東京タワーの歴史', text: '東京タワーは電波塔です。', language: 'ja' }),
    document(2, { title: '仕組み', text: 'クローラーがページを収集し、インデックスを作成します。', language: 'ja' }),
    document(3, { title: '搜索引擎', text: '搜索引擎把网页切成词语。', language: 'zh' }),
  ]);
  const queries = ['東京タ', '東京タワ', 'クロー', 'インデック', '搜索引', 'ページ クロー'];
  assert.deepEqual(
    queries.map(query => first(search, query)),
    [1, 1, 2, 2, 3, 2],
  );
});

test('a name that is typed half comes before its parts anywhere', context => {
  const search = indexOf(context, [
    document(1, { title: 'Hosts', text: `A server generates pages, and serves them. ${filler}` }),
    document(2, { title: 'Functions', text: `There is generate_series(start, stop). ${filler}` }),
    ...Array.from({ length: 30 }, (_, i) => document(10 + i, { title: `Other ${i}`, text: filler })),
  ]);
  assert.equal(first(search, 'generate_ser'), 2);
});

test('misspelt words are those that are nearest as they are written, in names, too', context => {
  const search = indexOf(context, [
    ...manual,
    document(20, { title: 'Foreign keys', text: 'A foreign key. For all keys: for, for, for.' }),
    document(21, { title: 'Jacinda Ardern', text: 'Jacinda Ardern was prime minister, and spoke.' }),
    document(22, { title: 'std::auto_ptr', text: 'A pointer.' }),
  ]);
  const meant = (query: string) => search.query(query, { now: NOW }).corrected;
  assert.equal(meant('foriegn key'), 'foreign key');
  assert.equal(meant('Jacinda Arden'), 'Jacinda ardern');
  assert.equal(meant('atuo_ptr'), 'auto_ptr');
  assert.equal(meant('find_frist_of'), 'find_first_of');
  assert.equal(meant('stringbiulder'), 'stringbuilder');
  assert.equal(meant('page7'), undefined, 'numbers are not misspelt');
});

test('words that stand together come before words that stand anywhere', context => {
  const far = (a: string, b: string) => `${a} ${filler.repeat(20)} ${b}`;
  const search = indexOf(context, [
    document(1, { text: `${far('barnacle', 'goose')} goose ${filler} barnacle` }),
    document(2, { text: `${filler.repeat(20)} The barnacle goose breeds in the north. ${filler.repeat(20)}` }),
    document(3, { text: far('goose', 'barnacle') }),
  ]);
  assert.equal(first(search, 'barnacle goose'), 2);
});

test('pages with most of the words follow those with all of them', context => {
  const search = indexOf(context, [
    document(1, { text: `wind water and everything else: ${filler.repeat(30)} reed` }),
    document(2, { title: 'Wind and water', text: 'Wind over water.' }),
    document(3, { text: filler }),
  ]);
  const results = search.query('wind water reed', { now: NOW });
  assert.deepEqual([results.total, results.relaxed, pagesOf(results).sort()], [1, false, [1, 2]]);
});

test('what all titles of a server share does not count for one of them', context => {
  const others = Array.from({ length: 20 }, (_, at) =>
    document(100 + at, { url: `https://docs.test/p${at}`, title: `Part ${at} – Python Docs`, text: filler }),
  );
  const search = indexOf(context, [
    document(1, { url: 'https://docs.test/install', title: 'Install – Python Docs', text: 'install' }),
    document(2, { url: 'https://docs.test/x', title: 'Python install without Docs at hand – Python Docs', text: 'x' }),
    ...others,
  ]);
  assert.equal(first(search, 'install'), 1);
});

test('a page is read by the rules of the language that it is in, whatever it says of itself', context => {
  const german = 'Die Häuser stehen am See, und der Wind ist nicht mit den Vögeln, die sich auch von dem Wald trennen.';
  const english =
    'The databases are in the houses that you have seen, and not from this world; they are for the people.';
  const search = indexOf(context, [
    document(1, { language: 'en', text: german }),
    document(2, { language: 'fi', text: english }),
    document(3, { language: 'en', text: '搜索引擎是根据一定的策略从互联网上采集信息的系统，它为用户提供检索服务。' }),
  ]);
  assert.deepEqual(found(search, 'haus'), [1]);
  assert.deepEqual(found(search, 'database'), [2]);
  const languages = [1, 2, 3].map(page => search.query(['häuser', 'database', '搜索'][page - 1]!).hits[0]!.language);
  assert.deepEqual(languages, ['de', 'en', 'zh']);
});

test('a word that a language has no rule for does not stop its page', () => {
  assert.equal(terms('изображения', 'bg'), 'изображения');
});

test('feeds and data come behind pages, and pages in the language of who asks first', context => {
  const same =
    'Heron news of the marsh, with water and reeds for all the birds that you have seen in the marsh this year.';
  const german =
    'Heron: die Vögel und das Wasser, der Wald und die Häuser, nicht mit dem Wind, auch für sich von den Seen.';
  const search = indexOf(context, [
    document(1, { title: 'Heron', mediaType: 'application/rss+xml', text: same, importance: 0.5 }),
    document(2, { title: 'Heron', mediaType: 'text/html', text: `${same} More.` }),
    document(3, { title: 'Heron', mediaType: 'text/html', text: german, language: 'de' }),
  ]);
  const order = (language: string) => pagesOf(search.query('heron', { now: NOW, language }));
  assert.equal(order('en-GB')[0], 2);
  assert.equal(order('de')[0], 3);
  assert.equal(order('en').at(-1), 1);
});

test('results with equal titles show a heading, and versions of one page are one', context => {
  const guide = (page: number, path: string, heading: string) =>
    document(page, {
      url: `https://docs.test/${path}/install.html`,
      title: 'Guide',
      headings: `Guide\n${heading}`,
      text: `heron number ${page} ${filler.repeat(page)}`,
    });
  const search = indexOf(context, [
    guide(1, 'v1.2', 'Installing'),
    guide(2, 'v1.3', 'Installing'),
    guide(3, 'latest', 'Installing'),
    guide(4, 'other/2020', 'Flying'),
  ]);
  const { hits } = search.query('heron', { now: NOW });
  assert.deepEqual(hits.map(hit => hit.alike).sort(), [0, 2]);
  assert.equal(hits.find(hit => hit.alike === 2)?.page, 3, 'the latest stands for all');
  const titles = hits.map(({ title }) => title.map(({ text }) => text).join(''));
  assert.deepEqual(titles.sort(), ['Guide – Flying', 'Guide – Installing']);
});

test('a question says at its end where, and that is no part of what it is about', context => {
  const search = indexOf(context, [
    document(1, { title: 'Java and other languages', text: `Java has lists, and you may sort a list. ${filler}` }),
    document(2, { title: 'Sorting', text: `How to sort a list: call sort of the list in Java. ${filler}` }),
  ]);
  assert.equal(first(search, 'how do I sort a list in java'), 2);
});

test('what a manual defines comes before what speaks of it, whatever the title has of the name', context => {
  const text = `Call prefetch_related of a QuerySet for speed, for prefetch_related saves queries. ${filler}`;
  const search = indexOf(context, [
    document(1, { title: 'Optimization with a QuerySet', headings: 'Use prefetch_related and others', text }),
    document(2, {
      title: 'QuerySet reference',
      headings: 'filter()\nprefetch_related(*lookups)',
      text: text.repeat(2),
    }),
  ]);
  assert.equal(first(search, 'QuerySet.prefetch_related'), 2);
});

test('one letter is enough behind the rest of a name', context => {
  const search = indexOf(context, [
    document(1, { title: 'std::priority_queue::top', text: `The top. ${filler}` }),
    document(2, { title: 'std::priority_queue', text: `The whole. ${filler}` }),
    document(3, { title: 'Thread', headings: 'Thread.join', text: `Waits. ${filler}` }),
  ]);
  assert.equal(first(search, 'std::priority_queue::t'), 1);
  assert.equal(first(search, 'Thread.j'), 3);
});

test('Japanese names are found by their parts, with the mark of a long vowel at their end or without', context => {
  const search = indexOf(context, [
    document(1, { title: '東京タワー', text: '高い塔です。' }),
    document(2, { title: 'データー変換', text: 'サーバーの設定です。' }),
  ]);
  assert.equal(first(search, 'タワー'), 1);
  assert.equal(first(search, '東京'), 1);
  assert.equal(first(search, 'データ変換'), 2);
  assert.equal(first(search, 'サーバ'), 2);
  assert.equal(first(search, 'サーバー'), 2);
});
