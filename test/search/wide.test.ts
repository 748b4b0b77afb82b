/** Several indexes asked together answer as one index that has all their pages. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { openSearch, type Results, type Search, type SearchDocument } from '../../src/search/index.ts';
import { joinedCounts, joinedFound, joinedLanguages, joinedNearest, joinedWords } from '../../src/search/wide/join.ts';
import { phrasesOf } from '../../src/search/wide/phrases.ts';
import { summedStatistics } from '../../src/search/wide/scorer.ts';
import { type WideIndex, wideQuery } from '../../src/search/wide/wide-search.ts';
import { randomly } from '../random.ts';
import { document, indexOf, NOW, put, removePages } from './documents.ts';

const common = 'the page says that many people look for words in pages of the web'.split(' ');
const rare = (
  'geese migrate skein river mountain crawler database install configure StringBuilder HashMap network ' +
  'freshness archive ledger frontier politeness robots sitemap estimator schedule budget harvest lantern copper'
).split(' ');
const german = 'Häuser Straße Gänse wandern Fluss Berge Netz Seite Wörter Suche'.split(' ');

/** Pages of a few servers, of different lengths, some in German, some that nearly say the same. */
function pages(count: number): SearchDocument[] {
  const { below } = randomly(7);
  const random = () => below(1_000_000) / 1_000_000;
  const pick = (list: readonly string[]) => list[Math.floor(random() * list.length)]!;
  const words = (n: number, list: readonly string[], share: number) =>
    Array.from({ length: n }, () => (random() < share ? pick(list) : pick(common))).join(' ');
  return Array.from({ length: count }, (_, i) => {
    const isGerman = i % 23 === 0;
    const own = isGerman ? german : rare.slice((i % 5) * 3, (i % 5) * 3 + 12);
    const text = i % 41 === 7 ? 'The same few words of a notice that stands on many pages of the web.' : '';
    return document(i + 1, {
      url: `https://s${i % 7}.example.org/docs/${pick(own).toLowerCase()}/${i}`,
      title: `${pick(own)} ${pick(common)}`,
      headings: `${pick(own)}\n${words(3, own, 0.5)}`,
      anchors: i % 3 === 0 ? pick(own) : '',
      text: text || words(20 + Math.floor(random() * 200), own, 0.15),
      language: isGerman ? 'de' : 'en',
      mediaType: i % 17 === 0 ? 'application/pdf' : 'text/html',
      importance: random(),
      changed: NOW - Math.floor(random() * 300) * DAY,
    });
  });
}

/** Indexes of which each has the pages of some servers. */
function wideOf(indexes: readonly Search[]): WideIndex {
  const parts = indexes.map(index => index.part);
  const owner = (page: number) => ((page - 1) % 7) % indexes.length;
  return {
    languages: async () => joinedLanguages(parts.map(part => part.languages())),
    words: async asked => joinedWords(parts.map(part => part.words(asked))),
    counts: async (expressions, most) => joinedCounts(parts.map(part => part.counts(expressions, most))),
    nearest: async words => joinedNearest(parts.map(part => part.nearest(words))),
    statistics: async match =>
      summedStatistics(
        parts.map(part => part.statistics(match)),
        phrasesOf(match).length,
      ),
    find: async asked => joinedFound(parts.map(part => part.find(asked))),
    near: async (wanted, plan) => new Map(wanted.map(page => [page.id, parts[owner(page.id)]!.near([page], plan)[0]!])),
    show: async (wanted, plan) =>
      wanted.flatMap(page =>
        parts[owner(page)]!.show([page], plan).map(hit => ({ ...hit, changedProbability: undefined })),
      ),
  };
}

function split(context: TestContext, documents: readonly SearchDocument[], count: number): WideIndex {
  const parts = Array.from({ length: count }, (_, i) => documents.filter(({ page }) => ((page - 1) % 7) % count === i));
  return wideOf(parts.map(part => indexOf(context, part)));
}

const told = ({ hits, ...results }: Results) => {
  const { took: _, cached: __, ...rest } = results;
  return { ...rest, hits: hits.map(({ score, ...hit }) => ({ ...hit, score: Number(score.toPrecision(9)) })) };
};

const queries: readonly string[] = [
  ...[
    'geese',
    'geese river',
    'the page',
    'mountain crawler install',
    '"geese migrate"',
    'string builder',
    'StringBuilder',
  ],
  ...['hash map', 'crawl*', 'title:geese', 'url:river', 'geese -river', 'geese OR copper', '+ledger archive'],
  ...['site:s3.example.org', 'site:s3.example.org geese', 'type:pdf river', 'lang:de Gänse', 'Häuser', 'gänse wandern'],
  ...['changed:<60d', 'changed:<60d geese', 'gese', 'mountin crawler', 'geese zebra', 'lantern copper harvest budget'],
  ...[
    'what is the schedule',
    'what is geese',
    'geeses',
    'mountainn river',
    'geese mount',
    'nothingatall',
    'geesemigrate',
    'mountin geesee',
    '(geese OR river) web',
    'site:s1.example.org/docs/geese',
  ],
];

test('one index asked as a part gives what it gives by itself', async context => {
  const documents = pages(400);
  const one = indexOf(context, documents);
  const wide = split(context, documents, 1);
  for (const query of queries) {
    const options = { now: NOW, limit: 30, language: 'en' };
    assert.deepEqual(told(await wideQuery(wide, query, options)), told(one.query(query, options)), query);
  }
});

test('four indexes give what one with all pages gives: pages, order, scores, snippets, corrections', async context => {
  const documents = pages(400);
  const one = indexOf(context, documents);
  const wide = split(context, documents, 4);
  for (const query of queries) {
    for (const options of [
      { now: NOW, limit: 30 },
      { now: NOW, limit: 5, offset: 5, unfold: true },
    ])
      assert.deepEqual(told(await wideQuery(wide, query, options)), told(one.query(query, options)), query);
  }
});

test('pages that were replaced and removed count no more', async context => {
  const documents = pages(120);
  const [one, ...parts] = [0, 1, 2].map(() => openSearch(':memory:'));
  context.after(() => [one!, ...parts].forEach(each => void each.close()));
  for (const page of documents) {
    const own = parts[((page.page - 1) % 7) % 2]!;
    for (const index of [one!, own]) {
      put(index, [{ ...page, text: 'something else about geese entirely' }]);
      put(index, [page]);
      if (page.page % 5 === 0) removePages(index, [page.page]);
    }
  }
  const wide = wideOf(parts);
  for (const query of ['geese', 'geese river', 'the page'])
    assert.deepEqual(told(await wideQuery(wide, query, { now: NOW })), told(one!.query(query, { now: NOW })), query);
});

test('an empty index, and a query without a word', async context => {
  const wide = split(context, [], 3);
  assert.equal((await wideQuery(wide, 'geese', { now: NOW })).total, 0);
  await assert.rejects(wideQuery(wide, '""', { now: NOW }), { code: 'bad-query' });
});

test('phrases of an expression: with their columns, without marks and without what is unwanted', () => {
  const expression =
    '((("a" OR "b c" *) AND title : "d") NOT ("e" OR "f")) AND {title text} : ("g" AND "h") AND marks : "x"';
  assert.deepEqual(phrasesOf(expression), [
    '"a"',
    '"b c" *',
    'title : "d"',
    '{title text} : "g"',
    '{title text} : "h"',
  ]);
  assert.deepEqual(phrasesOf('(marks : "s" AND address : ^ "docs geese") AND ("a")'), [
    'address : ^ "docs geese"',
    '"a"',
  ]);
});
