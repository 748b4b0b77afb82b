import assert from 'node:assert/strict';
import { test } from 'node:test';
import { makePage, mutators } from '../../bench/mutators.ts';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { type Beside, compare, detectorNames } from '../../src/crawler/detect/compare.ts';
import { imageFacts } from '../../src/crawler/detect/image.ts';
import { bareFacts, type Facts, packFacts, unpackFacts } from '../../src/errand/facts.ts';
import { randomly } from '../random.ts';

const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
const factsOf = (html: string): Facts =>
  unpackFacts(analyse({ url: 'http://a.test/page', headers, body: Buffer.from(html) }).facts)!;
const changed = (detector: string, a: string, b: string, beside?: Beside): boolean =>
  compare(detector, factsOf(a), factsOf(b), beside).changed;

const SEEDS = 25;

/** Share of pages on which a detector fires for each mutator. */
function firing(detector: string): Map<string, number> {
  const shares = new Map<string, number>();
  for (const mutator of mutators) {
    let fired = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const html = makePage(seed);
      const edited = mutator.mutate(html, randomly(seed * 31));
      assert.notEqual(edited, html, `${mutator.name} changes nothing`);
      if (changed(detector, html, edited)) fired++;
    }
    shares.set(mutator.name, fired / SEEDS);
  }
  return shares;
}

test('content: fires on every change of content, never on noise; of what pages share, and of counters, home knows more', () => {
  const shares = firing('content');
  const atHome = new Set(['navigation edit', 'footer edit', 'counter']);
  for (const { name, kind } of mutators) {
    assert.equal(shares.get(name), kind === 'content' || atHome.has(name) ? 1 : 0, name);
  }
});

const frame = (navigation: string, article: string): string =>
  `<body><nav><a href="/">Home</a>${navigation}</nav><main><p>${'What the page is about. '.repeat(12)}</p>
   <nav>${article}</nav></main><div role="contentinfo">By us${navigation}</div></body>`;

test('content: an edit of the navigation is brought home, where it is known whether other pages have it', () => {
  const facts = [frame('', ''), frame('<a href="/new">New</a>', ''), frame('', '<a href="/next">Next</a>')].map(
    factsOf,
  );
  const [before, around, inside] = facts as [Facts, Facts, Facts];
  assert.equal(compare('content', before, around).changed, true);
  assert.equal(compare('content', before, inside).changed, true);
});

test('content: a page that is nothing but navigation is what it is about', () => {
  const page = (link: string): string => `<body><nav><a href="/">Home</a><a href="/${link}">${link}</a></nav></body>`;
  assert.equal(changed('content', page('one'), page('two')), true);
});

/** What each of the papers' detectors cannot see, and what it mistakes for a change. */
const failures: readonly (readonly [detector: string, blind: readonly string[], alarmed: readonly string[]])[] = [
  ['raw', [], ['csrf token', 'nonce', 'comment', 'white space', 'timestamp']],
  [
    'ascii-sum',
    ['digits swapped', 'words permuted', 'anagram', 'paragraphs swapped'],
    ['csrf token', 'comment', 'white space'],
  ],
  [
    'counts',
    [
      'one character',
      'digits swapped',
      'words permuted',
      'anagram',
      'link target replaced',
      'keyword replaced',
      'paragraphs swapped',
    ],
    [],
  ],
  ['tag-strings', ['one character', 'digits swapped', 'title', 'link target replaced', 'image replaced'], []],
  ['level-table', ['one character', 'paragraphs swapped', 'title', 'link target replaced'], []],
  ['text-code-1', ['digits swapped', 'words permuted', 'anagram', 'paragraphs swapped', 'link target replaced'], []],
  ['text-code-2', ['digits swapped', 'words permuted', 'anagram', 'paragraphs swapped', 'link target replaced'], []],
  ['image-code', ['one character', 'title', 'link target replaced'], []],
  ['three-step', ['digits swapped', 'anagram', 'link target replaced'], []],
  ['three-step-2', ['digits swapped', 'anagram', 'link target replaced'], []],
];

for (const [detector, blind, alarmed] of failures) {
  test(`${detector}: blind and alarmed where it must be`, () => {
    const shares = firing(detector);
    for (const name of blind) assert.equal(shares.get(name), 0, name);
    for (const name of alarmed) assert.ok(shares.get(name)! > 0.9, `${name}: ${shares.get(name)}`);
  });
}

test('image bytes that change behind the same reference are seen where the images are known', async () => {
  const html = makePage(1);
  const [one, other] = [await imageFacts(Buffer.from('one')), await imageFacts(Buffer.from('other'))];
  const facts = factsOf(html);
  assert.deepEqual(compare('content', facts, facts, { images: { before: [one], after: [other] } }), {
    changed: true,
    stage: 'image',
    where: [],
  });
  assert.equal(compare('content', facts, facts, { images: { before: [one], after: [one] } }).changed, false);
});

test('the stage says what was seen first, and where', () => {
  const html = makePage(3);
  const stage = (edit: (html: string) => string): string =>
    compare('content', factsOf(html), factsOf(edit(html))).stage;
  assert.equal(
    stage(page => page),
    'raw',
  );
  assert.equal(
    stage(page => page.replace('<main>', '<main><!-- x -->')),
    'content',
  );
  assert.equal(
    stage(page => page.replace('costs 12', 'costs 13')),
    'text',
  );
  assert.equal(
    stage(page => page.replace('href="/contact"', 'href="/other"')),
    'links',
  );
  assert.equal(
    stage(page => page.replace('/article/', '/essay/')),
    'links',
  );
  assert.equal(
    stage(page => page.replace('<h1>', '<h1><em></em>')),
    'structure',
  );
  assert.equal(
    stage(page => page.replace('picture.png', 'portrait.png')),
    'image',
  );
  const before = factsOf(html);
  const after = factsOf(html.replace('costs 12', 'costs 13'));
  const { where } = compare('content', before, after);
  assert.equal(where.length, 1);
  assert.notEqual(before.blocks[where[0]!], after.blocks[where[0]!]);
});

test('level-table names the levels', () => {
  const before = factsOf('<html><body><div><p>a</p></div></body></html>');
  const after = factsOf('<html><body><div><p>a</p><p>b</p></div></body></html>');
  assert.deepEqual(compare('level-table', before, after), { changed: true, stage: 'structure', where: [4] });
});

test('dates: last-modified and pmcs', () => {
  const [a, b] = [factsOf('<p>one two'), factsOf('<p>one two three')];
  const same = { lastModified: { before: 'Mon', after: 'Mon' } };
  const moved = { lastModified: { before: 'Mon', after: 'Tue' } };
  assert.equal(compare('last-modified', a, b, same).changed, false);
  assert.equal(compare('last-modified', a, a, moved).changed, true);
  assert.equal(compare('last-modified', a, a).changed, true);
  assert.deepEqual(compare('pmcs', a, b, same), { changed: false, stage: 'last-modified', where: [] });
  assert.deepEqual(compare('pmcs', a, b), { changed: true, stage: 'keyword-count', where: [] });
});

test('a hash is compared as it is, whatever the detector', () => {
  const [a, b] = [factsOf('<p>one two'), factsOf('<p>one three')];
  const carried = (facts: Facts): Facts => unpackFacts(packFacts(bareFacts(facts.raw, facts.content)))!;
  const file = (text: string): Facts =>
    unpackFacts(
      analyse({
        url: 'http://a.test/a.pdf',
        headers: new Map([['content-type', 'application/pdf']]),
        body: Buffer.from(text),
      }).facts,
    )!;
  for (const name of detectorNames) {
    assert.deepEqual(compare(name, carried(a), a), { changed: false, stage: 'content', where: [] }, name);
    assert.deepEqual(compare(name, carried(a), b), { changed: true, stage: 'direct', where: [] }, name);
    assert.equal(compare(name, file('one'), file('one')).changed, false, name);
    assert.equal(compare(name, file('one'), file('two')).changed, true, name);
  }
});

test('three-step takes the first methods, three-step-2 the second', () => {
  const before = factsOf('<html><body><section>a</section></body></html>');
  const other = factsOf('<html><body><span>a</span></body></html>');
  const deeper = factsOf('<html><body><section><b>a</b></section></body></html>');
  assert.equal(compare('three-step', before, other).changed, false, 's…n and s…n are one tag to it');
  assert.deepEqual(compare('three-step', before, deeper), { changed: true, stage: 'structure', where: [] });
  assert.deepEqual(compare('three-step-2', before, deeper), { changed: true, stage: 'structure', where: [4] });
  const words = factsOf('<html><body><section>abc</section></body></html>');
  for (const name of ['three-step', 'three-step-2']) assert.equal(compare(name, before, words).stage, 'text');
});

test('nothing known before: everything is new; an unknown name says which there are', () => {
  for (const name of detectorNames) assert.equal(compare(name, undefined, factsOf('')).stage, 'first');
  assert.throws(() => compare('magic', undefined, factsOf('')), /magic/);
});
