/** What a user wants forgotten: patterns mean what they say, and a page that was not named is never forgotten. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { matcherOf, parseTarget } from '../../src/errand/scope/forgotten.ts';
import { randomly } from '../random.ts';

test('a pattern matches what the same regular expression matches', () => {
  const random = randomly(11);
  const pieces = ['a', 'b', '/', '.', '?', 'ab', '*', '*'];
  let matched = 0;
  for (let i = 0; i < 4000; i++) {
    const text = `*${random.text(pieces, 1 + random.below(6))}`;
    const url = random.text(pieces.slice(0, 6), random.below(12));
    const parts = text.split('*').map(part => part.replace(/[.?]/g, '\\$&'));
    const expected = new RegExp(`^${parts.join('.*')}$`).test(url);
    assert.equal(matcherOf([{ text }])(url), expected, `${text} on ${url}`);
    if (expected) matched++;
  }
  assert.ok(matched > 200, `${matched} matched`);
});

test('a target is a URL, a server with both schemes, or a pattern', () => {
  const kinds = (given: string) => parseTarget(given).map(({ kind, text }) => `${kind} ${text}`);
  assert.deepEqual(kinds('https://example.org/a'), ['url https://example.org/a']);
  assert.deepEqual(kinds('https://example.org'), ['server https://example.org/*']);
  assert.deepEqual(kinds('example.org'), ['server http://example.org/*', 'server https://example.org/*']);
  assert.deepEqual(kinds('/tags/*'), ['pattern */tags/**']);
  assert.equal(matcherOf(parseTarget('example.org'))('https://example.org.evil.test/'), false);
  assert.equal(matcherOf(parseTarget('https://example.org/a'))('https://example.org/ab'), false);
});

test('whatever is written is a target or refused in a sentence, and never means every page', () => {
  const random = randomly(12);
  const pages = ['https://one.test/', 'http://two.test/x?y=1', 'https://three.test:8080/a/b'];
  for (let i = 0; i < 3000; i++) {
    const given = random.below(3) === 0 ? random.text(['*', ' ', '\t'], random.below(5)) : random.garbage(12);
    try {
      const targets = parseTarget(given);
      const said = given.replace(/[*\s]/g, '');
      if (said === '') assert.ok(!pages.some(matcherOf(targets)), `"${given}" stands for a page`);
      if (said.length > 8) assert.ok(!pages.every(matcherOf(targets)), given);
    } catch (error) {
      assert.ok(error instanceof SkeinError, `${given}: ${(error as Error).stack}`);
    }
  }
});
