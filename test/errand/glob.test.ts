import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileGlob } from '../../src/errand/scope/glob.ts';
import { randomly } from '../random.ts';

const cases: [pattern: string, matching: string[], others: string[]][] = [
  ['/docs/**', ['/docs/', '/docs/a', '/docs/a/b.html'], ['/docs', '/doc/a', '/x/docs/a', '/']],
  ['/docs/', ['/docs/', '/docs/a/b'], ['/docs', '/docsa']],
  ['/docs/*', ['/docs/', '/docs/a', '/docs/a?x=/'], ['/docs/a/b', '/docs']],
  ['/*/a', ['/x/a', '//a'], ['/a', '/x/y/a']],
  ['/**/a', ['/a', '/x/a', '/x/y/a'], ['/xa', '/x/ya', '/a/b']],
  ['/a/**/z.html', ['/a/z.html', '/a/b/z.html', '/a/b/c/z.html'], ['/az.html', '/a/bz.html', '/a/z.htm']],
  ['*.pdf', ['/a.pdf', '/x/y/a.pdf', '/.pdf', '/a.pdf?v=2'], ['/a.pdfx', '/a.pdf/x']],
  ['**.pdf', ['/a.pdf', '/x/y/a.pdf'], ['/a.pd']],
  ['archive', ['/archive', '/x/archive'], ['/archive/', '/myarchive']],
  ['/a*b*c', ['/abc', '/a-b-c', '/abbcc', '/abcbc'], ['/ab/c', '/ac', '/abcb']],
  ['/p?id=*', ['/p?id=7', '/p?id='], ['/p', '/p?ie=7', '/p?id=a/b']],
  ['/', ['/', '/a', '/a/b'], []],
  ['/a.b', ['/a.b'], ['/axb', '/a.b/', '/a.bc']],
  ['/ü/*', ['/%C3%BC/x'], ['/u/x']],
  ['/***', ['/', '/a/b'], []],
];

test('what the patterns take in and leave out', () => {
  for (const [pattern, matching, others] of cases) {
    const matches = compileGlob(pattern);
    for (const path of matching) assert.equal(matches(path), true, `${pattern} takes in ${path}`);
    for (const path of others) assert.equal(matches(path), false, `${pattern} leaves out ${path}`);
  }
});

/** The same meaning as a regular expression: right, but not safe against hostile text. */
function slowly(pattern: string): RegExp {
  const source = pattern.replace(/\/\*\*\/|\*\*|\*|[.?+]/g, part => {
    if (part === '/**/') return '/(?:[^]*/)?';
    if (part === '**') return '[^]*';
    return part === '*' ? '[^/]*' : `\\${part}`;
  });
  return new RegExp(`^${source}$`);
}

test('10,000 random patterns and paths: the same answer as an equal regular expression', () => {
  const random = randomly(8);
  let hits = 0;
  for (let round = 0; round < 10_000; round++) {
    const pattern = `/${random.text(['a', '.', '/', '*', '*', '/**/'], random.below(7))}a`.replace(/\*{3,}/g, '**');
    if (/\*\*\/\*\*|\/\*\*\/\*\*/.test(pattern)) continue;
    const path = `/${random.text(['a', 'a', '/', '.'], random.below(8))}a`;
    const expected = slowly(pattern).test(path);
    if (expected) hits++;
    assert.equal(compileGlob(pattern)(path), expected, `${pattern} on ${path}`);
  }
  assert.ok(hits > 1000, `only ${hits} matched: the test says little`);
});

test('a hostile path takes no more steps than a plain one: ten stars over 2,000 letters end', () => {
  const matches = compileGlob(`/${'**a*a'.repeat(10)}b`);
  assert.equal(matches(`/${'a'.repeat(2000)}`), false);
  assert.equal(matches(`/${'a'.repeat(2000)}b`), true);
});
