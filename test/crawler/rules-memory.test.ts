/** Rules are parsed once, and what is remembered of them is bounded by what they take, not only by their number. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allowed } from '../../src/crawler/robots/robots.ts';
import { RulesMemory } from '../../src/crawler/robots/rules-memory.ts';

const copy = (body: string, time = 1) => ({ status: 200, body, time, unreachableSince: 0 });
const small = copy('User-agent: *\nDisallow: /private/\n');

test('a copy is parsed once, a newer one instead of it', () => {
  const memory = new RulesMemory();
  const first = memory.of('http://a.test', small, 0);
  assert.equal(memory.of('http://a.test', small, 0), first);
  const second = memory.of('http://a.test', copy('User-agent: *\nDisallow: /\n', 2), 0);
  assert.equal(allowed(second.terms.robots, 'skein', 'http://a.test/x').allowed, false);
  assert.equal(memory.of('http://a.test', copy('', 2), 0), second);
});

test('the oldest are forgotten when there are too many of them', () => {
  const memory = new RulesMemory();
  const terms = Array.from({ length: 1001 }, (_, index) => memory.of(`http://s${index}.test`, small, 0));
  assert.equal(memory.of('http://s1.test', small, 0), terms[1]);
  assert.notEqual(memory.of('http://s0.test', small, 0), terms[0]);
});

test('or too large: servers with as many rules as fit cannot fill the memory', () => {
  const memory = new RulesMemory();
  let rules = 'User-agent: *\n';
  for (let index = 0; rules.length < 500_000; index++)
    rules += `Allow:/*.${index.toString(36)}x\nDisallow:/${index}/\n`;
  const large = copy(rules);
  const first = memory.of('http://s0.test', large, 0);
  for (const index of [1, 2, 3]) memory.of(`http://s${index}.test`, large, 0);
  assert.equal(memory.of('http://s0.test', large, 0), first, 'four take two million characters');
  memory.of('http://s4.test', large, 0);
  const again = memory.of('http://s0.test', large, 0);
  assert.notEqual(again, first);
  for (const [path, verdict] of Object.entries({ '/777/': false, '/777/a.z7x': true, '/none': true })) {
    assert.equal(allowed(again.terms.robots, 'skein', `http://s0.test${path}`).allowed, verdict, path);
  }
});
