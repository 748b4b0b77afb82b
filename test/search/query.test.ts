import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { HOUR } from '../../src/base/clock.ts';
import { SkeinError } from '../../src/base/errors.ts';
import { parseQuery, type Query } from '../../src/search/ask/query.ts';
import { randomly } from '../random.ts';

/** A tree as text, with every grouping shown. */
function shown(query: Query): string {
  switch (query.kind) {
    case 'all':
    case 'any':
      return `(${query.parts.map(shown).join(query.kind === 'all' ? ' & ' : ' | ')})`;
    case 'not':
      return `!${shown(query.part)}`;
    case 'words':
      return `${query.column ? `${query.column}=` : ''}${query.phrase ? `"${query.text}"` : query.text}${query.beginning ? '*' : ''}`;
    case 'site':
      return `site=${query.host}${query.path}`;
    case 'type':
      return `type=${query.name}`;
    case 'language':
      return `language=${query.tag}`;
    case 'changed':
      return `changed${query.within ? '<' : '>'}${query.age / HOUR}h`;
  }
}

const grammar: readonly (readonly [string, string])[] = [
  ['goose', 'goose'],
  ['  wild   goose ', '(wild & goose)'],
  ['wild AND goose', '(wild & goose)'],
  ['wild and goose', '(wild & and & goose)'],
  ['wild OR goose', '(wild | goose)'],
  ['wild | goose', '(wild | goose)'],
  ['a b OR c d', '((a & b) | (c & d))'],
  ['a (b OR c) d', '(a & (b | c) & d)'],
  ['NOT goose', '!goose'],
  ['-goose', '-goose'],
  ['-Wall=error', '-Wall=error'],
  ['wild -goose', '(wild & !goose)'],
  ['wild NOT goose', '(wild & !goose)'],
  ['wild NOT (goose OR duck)', '(wild & !(goose | duck))'],
  ['NOT NOT goose', 'goose'],
  ['- goose', 'goose'],
  ['well-known', 'well-known'],
  ['"wild goose" chase', '("wild goose" & chase)'],
  ['“wild goose”', '"wild goose"'],
  ['migrat*', 'migrat*'],
  ['鳥*', '鳥*'],
  ['title:goose', 'title=goose'],
  ['title:"wild goose"', 'title="wild goose"'],
  ['Title:goose', 'title=goose'],
  ['url:docs', 'address=docs'],
  ['site:Example.org', 'site=example.org'],
  ['site:https://example.org/docs/', 'site=example.org/docs/'],
  ['site:.example.org', 'site=example.org'],
  ['site:example.org/@x', 'site=example.org/@x'],
  ['site:example.org/path@x', 'site=example.org/path@x'],
  ['site:127.0.0.1:8080', 'site=127.0.0.1:8080'],
  ['site:müller.de', 'site=xn--mller-kva.de'],
  ['type:PDF', 'type=pdf'],
  ['type:image/*', 'type=image/*'],
  ['lang:de-AT', 'language=de'],
  ['changed:<7d', 'changed<168h'],
  ['changed:7d', 'changed<168h'],
  ['changed:>2w', 'changed>336h'],
  ['http://example.org/x', 'http://example.org/x'],
  ['note: this', '(note: & this)'],
  ['& goose !', 'goose'],
  ['wild "grey goose', '(wild & "grey goose")'],
  ['jest.fn()', 'jest.fn()'],
  ['jest.fn() mock', '(jest.fn() & mock)'],
  ['operator==(std::bitset)', 'operator==(std::bitset)'],
  ['operator||', 'operator||'],
  ['a|b', '(a | b)'],
  ['NOT(a OR b)', '!(a | b)'],
  ['operator*', 'operator*'],
  ['a*b', 'a*b'],
  ['**kwargs', '**kwargs'],
  ['->>', '->>'],
  ['C++ C#', '(C++ & C#)'],
];

for (const [text, tree] of grammar) {
  test(`reads ${text}`, () => assert.equal(shown(parseQuery(text)), tree));
}

const refusals: readonly (readonly [string, RegExp])[] = [
  ['', /no search term/],
  ['. ... ,', /no search term/],
  ['""', /no search term/],
  ['(a', /is not closed/],
  ['a)', /no opening one/],
  ['()', /parentheses are empty/],
  ['a OR', /OR needs/],
  ['OR a', /OR needs/],
  ['a OR OR b', /OR needs/],
  ['(a OR)', /OR needs/],
  ['a AND', /AND needs/],
  ['AND a', /AND needs/],
  ['(AND a)', /AND needs/],
  ['a AND OR b', /AND needs/],
  ['a NOT', /NOT needs/],
  ['(a NOT)', /NOT needs/],
  ['a*', /too short/],
  ['site:', /needs a value/],
  ['title:""', /needs a value/],
  ['site:a@b', /not a site/],
  ['site:a@b/c', /not a site/],
  ['site:[', /not a site/],
  ['type:!', /not a media type/],
  ['lang:12', /not a language/],
  ['changed:soon', /not a time span/],
  ['changed:<7x', /not a time span/],
  ['x'.repeat(1001), /longer than 1000/],
  ['a '.repeat(65), /more than 64 parts/],
  [`${'('.repeat(17)}a${')'.repeat(17)}`, /nested/],
  [`${'NOT '.repeat(17)}a`, /nested/],
];

for (const [text, sentence] of refusals) {
  test(`refuses ${text.slice(0, 20)}`, () => {
    assert.throws(
      () => parseQuery(text),
      (error: unknown) =>
        error instanceof SkeinError &&
        error.code === 'bad-query' &&
        sentence.test(error.message) &&
        error.message.endsWith('.'),
    );
  });
}

test('whatever is typed is either read or refused with a sentence', () => {
  const random = randomly(7);
  for (let round = 0; round < 5000; round++) {
    const text = random.garbage(60);
    try {
      parseQuery(text);
    } catch (error) {
      assert.ok(error instanceof SkeinError && error.code === 'bad-query', `${JSON.stringify(text)}: ${error}`);
    }
  }
});

test('every query that the guide shows can be asked', () => {
  const guide = readFileSync(new URL('../../docs/guides/search.md', import.meta.url), 'utf8');
  // Rows that begin with a path are about `skein serve`.
  const rows = guide.split('\n').filter(line => /^\| `[^/]/.test(line));
  const queries = rows.flatMap(row =>
    [...row.split(/(?<!\\)\|/)[1]!.matchAll(/`([^`]+)`/g)].map(([, query]) => query!),
  );
  assert.ok(queries.length > 12);
  for (const query of queries) parseQuery(query.replaceAll('\\|', '|'));
});
