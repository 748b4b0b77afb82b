import assert from 'node:assert/strict';
import { test } from 'node:test';
import { highlightsOf } from '../../src/search/ask/match.ts';
import { snippet } from '../../src/search/ask/snippet.ts';
import { randomly } from '../random.ts';
import { document, indexOf } from './documents.ts';

const said = (fragments: readonly { text: string }[]) => fragments.map(({ text }) => text).join('');

test('a snippet shows sentences rather than the title or a menu, and begins where they do', context => {
  const menu = 'Heron\nHome\nHeron watching\nNews\nContact\n';
  const prose =
    'The marsh is wide. A heron stands in the shallow water for hours and waits for what the tide may bring along.';
  const search = indexOf(context, [
    document(1, { title: 'Heron', text: `${menu}${prose}\nImprint\nHeron` }),
    document(2, { title: 'Bittern', text: `Bittern\nHome\nNews\n${prose.replace('heron', 'stork')}\nImprint` }),
    document(3, { title: 'Crane', text: `Crane\nHome\nCranes of the world\nNews` }),
  ]);
  const shown = (query: string) => said(search.query(query).hits[0]!.snippet);
  assert.equal(shown('heron'), `… ${prose} Imprint · Heron`);
  assert.equal(shown('bittern'), `… ${prose.replace('heron', 'stork')} Imprint`);
  assert.equal(shown('title:bittern marsh'), `… ${prose.replace('heron', 'stork')} Imprint`);
  assert.equal(shown('crane'), '… Cranes of the world · News');
});

test('a snippet cuts no word and no character', () => {
  const random = randomly(11);
  const pieces = [
    'goose',
    'a',
    '𠮷野家',
    '👩‍🚀',
    'مكتبة',
    '搜索引擎',
    'ภาษาไทย',
    '.',
    '\n',
    'Straßenbahn',
    'x'.repeat(300),
  ];
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: 80 }, () => pieces[random.below(pieces.length)]).join(random.below(4) ? ' ' : '');
    const search = snippet(text, 'en', highlightsOf(new Set(['goos']), []));
    const whole = said(search).replace(/^… | …$/g, '');
    assert.ok(whole.isWellFormed());
    assert.ok(whole.length <= 300, `${whole.length}`);
    const flat = text.replace(/\s+/g, ' ');
    assert.ok(flat.includes(whole.replace(/ · |\s+/g, ' ').trim()), whole);
  }
});
