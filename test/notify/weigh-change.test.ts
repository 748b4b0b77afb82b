import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Rule, ruleOf } from '../../src/notify/rule.ts';
import { weigh } from '../../src/notify/weigh-change.ts';

const rule = (more: object = {}): Rule => ruleOf({ name: 'r', channel: { kind: 'feed' }, ...more });
const page = (body: string) => ({ url: 'http://a.test/', text: `<title>T</title><body>${body}</body>`, html: true });
const before = page('<nav>Menu one</nav><p class=price>Price: 10 EUR</p><p>Seen 5 minutes ago</p>');
const after = page('<nav>Menu two</nav><p class=price>Price: 12 EUR</p><p>Seen 7 minutes ago</p>');

test('only what the rule is about counts', () => {
  const cases: [object, boolean, string][] = [
    [{}, true, 'Menu [-one-] {+two+}'],
    [{ include: ['.price'] }, true, 'Price: [-10-] {+12+} EUR'],
    [{ ignore: ['nav', '.price'], ignoreText: ['\\d+ minutes'] }, false, ''],
    [{ include: ['.price'], leastWords: 3 }, false, ''],
    [{ include: ['.price'], leastShare: 0.5 }, false, ''],
    [{ include: ['.price'], leastShare: 0.3 }, true, ''],
    [{ only: ['sold out'] }, false, ''],
    [{ only: ['two', 'x'] }, true, ''],
    [{ only: ['menu two'] }, true, ''], // a phrase of which one word differs
    [{ only: ['tw', '1'] }, false, ''], // parts of words are other words
    [{ only: ['EUR'] }, false, ''], // stands where it stood
  ];
  for (const [more, counts, diff] of cases) {
    const weighed = weigh(before, after, rule(more));
    assert.equal(weighed.counts, counts, `${JSON.stringify(more)}: ${weighed.why}`);
    assert.ok(weighed.diff.includes(diff), weighed.diff);
  }
});

test('a page on which an expression would go on for ever is told as a whole, and holds up nothing', () => {
  const endless = page(`<p>${'a'.repeat(200)}b</p>`);
  const weighed = weigh(before, endless, rule({ ignoreText: ['(a+)+$'] }));
  assert.ok(weighed.counts);
  assert.match(weighed.why, /in the whole page: its selectors and expressions took too long here/);
  assert.match(weighed.diff, /\{\+a{200}b\+\}/);
});

test('a rule that cannot be used is refused in a sentence', () => {
  for (const wrong of [
    { include: ['p['] },
    { ignoreText: ['('] },
    { name: '../x' },
    { leastShare: 2 },
    { kinds: ['odd'] },
  ])
    assert.throws(() => rule(wrong), /The rule cannot be used/);
  assert.throws(() => ruleOf({ name: 'a', channel: { kind: 'webhook', url: 'file:///etc/passwd' } }), /cannot be used/);
});
