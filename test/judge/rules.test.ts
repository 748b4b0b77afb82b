/** Shared edits as rules of bytes: what became what, between which neighbours, and what follows for another page. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appliedTo, isContrary, reverseKey, ruleKey, rulesBetween } from '../../src/judge/rules.ts';

const page = (text: string, footer: string, menu = '<li>One</li>'): string =>
  `<html><body><ul class="menu">${menu}</ul><h1>${text}</h1><p>${text} is here.</p><footer><p>${footer}</p></footer></body></html>`;

test('what one page has shown can be put into another that has the same there', () => {
  const rules = rulesBetween(page('A', 'Version 1'), page('A', 'Version 2'));
  assert.equal(appliedTo(page('B', 'Version 1'), rules), page('B', 'Version 2'));
  assert.ok(isContrary(page('B', 'Version 1'), rules.at(-1)!));
  assert.ok(!isContrary(page('B', 'Version 2'), rules.at(-1)!));
});

test('two pages with the same edit have the same rule, and the way back is known as such', () => {
  const keys = (text: string, from: string, to: string) => rulesBetween(page(text, from), page(text, to)).map(ruleKey);
  assert.ok(keys('A', 'one', 'two').some(key => keys('B', 'one', 'two').includes(key)));
  const back = rulesBetween(page('A', 'two'), page('A', 'one')).map(reverseKey);
  assert.ok(keys('A', 'one', 'two').every(key => back.includes(key)));
});

test('an entry that was put in is put in, once', () => {
  const rules = rulesBetween(page('A', 'x'), page('A', 'x', '<li>One</li><li>Two</li>'));
  const patched = appliedTo(page('B', 'x'), rules);
  assert.equal(patched, page('B', 'x', '<li>One</li><li>Two</li>'));
  assert.equal(appliedTo(patched!, rules), undefined);
});

test('where it stands twice, or not at all, nothing follows', () => {
  const rules = rulesBetween(page('A', 'Version 1'), page('A', 'Version 2'));
  assert.equal(appliedTo(page('B', 'Version 7'), rules), undefined);
  assert.equal(appliedTo(page('B', 'Version 1') + page('C', 'Version 1'), rules.slice(1)), undefined);
});

test('bytes of any charset come out as they went in', () => {
  const bytes = Buffer.concat([Buffer.from([0xe4, 0xf6, 0x80, 0x00]), Buffer.from(page('Ä', 'Version 1'))]);
  const rules = rulesBetween(page('A', 'Version 1'), page('A', 'Version 2'));
  const patched = Buffer.from(appliedTo(bytes.toString('latin1'), rules)!, 'latin1');
  assert.deepEqual(patched.subarray(0, 4), bytes.subarray(0, 4));
  assert.equal(patched.length, bytes.length);
});
