import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { observe } from '../../src/revisit/estimators/observe.ts';
import { explain, inWords } from '../../src/revisit/explain.ts';
import { type PolicyTerms, planNamed } from '../../src/revisit/policy.ts';
import { newState } from '../../src/revisit/state.ts';

const terms: PolicyTerms = { weight: 2, theta: 1, maxInterval: 90, cycle: 10, meanRate: 0.1, recall: 0 };

test('a page with a history: figures and sentence agree', () => {
  let state = newState();
  for (const flag of '1101101') state = observe(state, { days: 2, changed: flag === '1' });
  const told = explain(planNamed(), terms, { state, last: 0, now: 3 * DAY });
  assert.equal(told.history, '1101101');
  assert.ok(told.confidence.low < told.rate && told.rate < told.confidence.high);
  assert.equal(told.changedByNow, 1 - planNamed().estimator.survival(state, 3));
  assert.ok(told.due < 3 * DAY && told.value > told.theta, 'due, because the value has passed theta');
  assert.match(
    told.sentence,
    /^It changes about once in 2\.1 days \(fair evidence: .*; changed at 5 of the last 7 visits\)\. /,
  );
  assert.match(told.sentence, /It has probably changed since the last check 3 days ago \(72% chance\)\. /);
  assert.match(told.sentence, /importance 2.* pays for checks that gain 1 day, so it has been due for 23 hours\.$/);
});

test('a page seen once, a page that never changed, a page moved by a notice', () => {
  const asked = { state: newState(), last: 0, now: DAY };
  assert.match(explain(planNamed(), terms, asked).sentence, /^It was checked only once; .* is due in 4 days\.$/);
  let quiet = newState();
  for (let i = 0; i < 40; i++) quiet = observe(quiet, { days: 4, changed: false });
  const still = explain(planNamed('date'), terms, { ...asked, state: quiet });
  assert.match(
    still.sentence,
    /^It has never changed as far as known \(good evidence: at most once in .*; unchanged at the last 32 visits\)/,
  );
  for (const [changed, words] of [
    [true, /; changed at the last visit\)/],
    [false, /; unchanged at the last visit\)/],
  ] as const)
    assert.match(
      explain(planNamed(), terms, { ...asked, state: observe(newState(), { days: 1, changed }) }).sentence,
      words,
    );
  assert.match(still.sentence, /By the policy "date" it is due in/);
  const moved = explain(planNamed(), terms, { ...asked, due: DAY });
  assert.equal(moved.due, DAY);
  assert.match(moved.sentence, /due for less than a minute\.$/);
});

test('a page that changes too often for the budget is due because none is left alone for longer', () => {
  let state = newState();
  for (let i = 0; i < 8; i++) state = observe(state, { days: 0.05, changed: true });
  const told = explain(planNamed(), terms, { state, last: 0, now: DAY });
  assert.match(told.sentence, /, but every page is checked at least once in 3 months, so it is due in /);
});

test('spans in words', () => {
  const spans = [0, 1 / 1440, 0.5, 1, 2.345, 45, 800].map(inWords);
  assert.deepEqual(spans, [
    'less than a minute',
    '1 minute',
    '12 hours',
    '1 day',
    '2.3 days',
    '1.5 months',
    '2.2 years',
  ]);
});

test('where another rule decides, the sentence says what the value alone would have come to', () => {
  const state = { ...newState(), a: 0.3, b: 30, visits: 3, stillDays: 27 };
  const page = { state, last: 0, now: 0, due: 0 };
  const { sentence } = explain(planNamed(), terms, { ...page, overruled: true });
  assert.match(sentence, /so it would be due in .* if nothing else decided\.$/);
  assert.ok(!sentence.includes('has been due'));
});
