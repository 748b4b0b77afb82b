import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageOf } from '../../src/search/terms/language.ts';
import { eachWord, Initials, terms, words } from '../../src/search/terms/words.ts';
import { randomly } from '../random.ts';

const same: readonly (readonly [language: string, one: string, other: string])[] = [
  ['en', 'Running', 'runs'],
  ['en', 'databases', 'DATABASE'],
  ['en', 'indices', 'indexes'],
  ['de', 'Häuser', 'haus'],
  ['de', 'Straße', 'STRASSE'],
  ['de', 'Müller', 'Muller'],
  ['fr', 'bibliothèques', 'bibliotheque'],
  ['tr', 'İSTANBUL', 'istanbul'],
  ['tr', 'ISPARTA', 'ısparta'],
  ['tr', 'kitaplar', 'kitap'],
  ['ar', 'كِتَاب', 'كتاب'],
  ['ar', 'أحمد', 'احمد'],
  ['ru', 'книгами', 'книга'],
  ['ko', '학교에서', '학교를'],
  ['', 'Ångström', 'angstrom'],
  ['', 'ＦＵＬＬ', 'full'],
  ['', 'ﬁne', 'fine'],
  ['', 'Ł\u00f3d\u017a', 'lodz'],
  ['', 'e\u0301tude', '\u00e9tude'],
];

for (const [language, one, other] of same) {
  test(`${one} and ${other} are one term (${language || 'no language'})`, () => {
    assert.equal(terms(one.normalize('NFC'), language), terms(other.normalize('NFC'), language));
    assert.notEqual(terms(one, language), '');
  });
}

test('words that English rules would cut to another one keep their own term', () => {
  for (const [one, other] of ['herring her', 'news new', 'inning in', 'atlas atla'].map(pair => pair.split(' ')))
    assert.notEqual(terms(one!, 'en'), terms(other!, 'en'));
});

test('words are cut at punctuation, and digits belong to them', () => {
  assert.equal(terms("node.js v26, don't_panic (x86-64)", ''), 'node js v26 don t panic x86 64');
});

test('scripts without spaces are cut into words', () => {
  assert.deepEqual(terms('搜索引擎', 'zh').split(' '), ['搜索', '引擎']);
  assert.ok(terms('検索エンジンの仕組み', 'ja').split(' ').includes('検索'));
  assert.ok(terms('ภาษาไทยไม่มีการเว้นวรรค', 'th').split(' ').includes('ภาษา'));
  assert.deepEqual(terms('用SQLite搜索', 'zh').split(' '), ['用', 'sqlite', '搜索']);
});

test('terms hold nothing that FTS5 could cut at or mistake', () => {
  const random = randomly(11);
  for (let round = 0; round < 3000; round++) {
    const text = random.garbage(80).normalize('NFC');
    for (const { term, start, end } of words(text, random.pick(['', 'en', 'tr', 'ar', 'zh', 'id']))) {
      assert.match(term, /^[^\0-/:-@[-`{-\x7f\s\ue000-\uf8ff]+$/u);
      assert.ok(term.isWellFormed() && start < end && end <= text.length);
    }
  }
});

test('ruling words out by their first letter misses no wanted term', () => {
  const text = 'Running runners ran; Überlauf über Ufer, école Écoles. mengambil diambil İzmir';
  for (const language of ['en', 'de', 'fr', 'id', 'tr', '']) {
    for (const { term } of words(text, language)) {
      const seen: string[] = [];
      eachWord(text, language, one => seen.push(one), new Initials([term]));
      const expected = words(text, language).filter(word => word.term === term).length;
      assert.equal(seen.filter(one => one === term).length, expected, `${language} ${term}`);
    }
  }
});

test('a hostile word is cut short', () => {
  assert.equal(terms('a'.repeat(100_000), 'en').length, 64);
});

const guesses: readonly (readonly [string, string])[] = [
  [
    'en',
    'The geese fly in a skein, and the wind that follows them is not the wind of the sea. You have seen this before.',
  ],
  [
    'de',
    'Die Gänse fliegen und der Wind ist mit den Vögeln, die sich nicht von dem Meer trennen und auch werden sie müde.',
  ],
  [
    'fr',
    'Les oies volent dans le ciel et la mer est une amie pour les oiseaux qui ne sont pas avec vous sur la terre des hommes.',
  ],
  ['ru', 'Гуси летят на юг и не знают, что это не так, как было в прошлом году, но для них из всех дорог эта по душе.'],
  ['zh', '大雁在天空中飞翔，它们每年都会迁徙到温暖的南方。'],
  ['ja', '雁は空を飛びます。毎年、暖かい南へ渡ります。'],
  ['th', 'ห่านบินบนท้องฟ้า ทุกปีพวกมันอพยพไปทางใต้'],
  ['ar', 'يطير الإوز في السماء ويهاجر كل عام إلى الجنوب الدافئ'],
  ['', 'x1 y2 z3 0x00ff lorem 12 13 14'],
  ['', ''],
];

for (const [language, text] of guesses) {
  test(`guesses ${language || 'nothing'} for ${text.slice(0, 12)}`, () => assert.equal(languageOf(text), language));
}

test('a language without rules of its own is indexed like any other without', () => {
  for (const language of ['xx', 'zz', 'qqq']) assert.equal(terms('Running Häuser', language), 'running hauser');
});
