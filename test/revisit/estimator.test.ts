import assert from 'node:assert/strict';
import { test } from 'node:test';
import { confidence, estimatorNamed, estimators } from '../../src/revisit/estimator.ts';
import { adaptWait } from '../../src/revisit/estimators/adaptive.ts';
import { existenceRate } from '../../src/revisit/estimators/existence.ts';
import { believed, NOTHING_SHOWN, priorBelow, showing } from '../../src/revisit/estimators/gamma.ts';
import { lastDateRate } from '../../src/revisit/estimators/last-date.ts';
import { likeliestRate } from '../../src/revisit/estimators/mle.ts';
import { observe } from '../../src/revisit/estimators/observe.ts';
import { type ChangeState, historyOf, newState, type Observation, PRIOR } from '../../src/revisit/state.ts';
import { gammaVariate, randomFrom } from './simulation.ts';

const near = (actual: number, expected: number, tolerance = 5e-7) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);

const after = (start: ChangeState, ...seen: Observation[]) => seen.reduce((state, one) => observe(state, one), start);

test('gamma: the published vectors for a change of unknown date', () => {
  const first = observe(newState({ a: 0.3, b: 3 }), { days: 10, changed: true });
  near(first.a, 0.948072);
  near(first.b, 3.963285);
  const second = observe(newState({ a: 2, b: 10 }), { days: 1, changed: true });
  near(second.a, 2.990977);
  near(second.b, 10.436794);
});

test('gamma: no change, a dated change and counted changes are exact', () => {
  const start = newState({ a: 2, b: 10 });
  assert.deepEqual(pick(observe(start, { days: 4, changed: false })), [2, 14]);
  assert.deepEqual(pick(observe(start, { days: 4, changed: true, lastChangeAge: 1.5 })), [3, 11.5]);
  assert.deepEqual(pick(observe(start, { days: 4, changed: true, changes: 3 })), [5, 14]);
  assert.deepEqual(pick(observe(start, { days: 4, changed: true, changes: 0 })), [2, 14]);
});

test('gamma: a date of change outside the interval is not believed', () => {
  const start = newState();
  const plain = observe(start, { days: 4, changed: true });
  for (const lastChangeAge of [5, -1, Number.NaN])
    assert.deepEqual(observe(start, { days: 4, changed: true, lastChangeAge }), plain);
});

test('gamma: the update is the posterior of a fine grid, in mean and variance', () => {
  for (const [a, b, days] of [
    [0.3, 3, 1],
    [1, 5, 20],
    [4, 60, 2],
  ] as const) {
    const { mean, variance } = gridPosterior(a, b, days);
    const state = observe(newState({ a, b }), { days, changed: true });
    near(state.a / state.b / mean, 1, 2e-3);
    near(state.a / state.b ** 2 / variance, 1, 5e-3);
  }
});

test('gamma: what it remembers is bounded, and odd intervals leave it finite', () => {
  let state = newState();
  for (let i = 0; i < 500; i++) state = observe(state, { days: 0.01, changed: true });
  near(state.a, 8, 1e-9);
  for (let i = 0; i < 500; i++) state = observe(state, { days: 30, changed: false });
  near(state.b, 180, 1e-9);
  assert.ok(state.a >= 0.05);
  for (const days of [0, -3, 1e-12, 1e7]) {
    const odd = observe(newState(), { days, changed: true });
    assert.ok(odd.a > 0 && odd.b > 0 && Number.isFinite(odd.a / odd.b), `${days} days`);
  }
});

test("a page that never changed is believed to be like its server's other pages, whatever was guessed before", () => {
  assert.deepEqual(priorBelow(PRIOR, NOTHING_SHOWN), { a: 0.3, b: 3 });
  // A hundred pages, watched for ten days each, with five changes in all.
  const shown = { changes: 5, days: 1000 };
  const prior = priorBelow(PRIOR, shown);
  near(prior.a / prior.b, 5.3 / 1003);
  const quiet = observe(newState(), { days: 7, changed: false });
  near(quiet.b, 10);
  near(believed(quiet, prior).b, prior.b + 7);
  const changed = observe(newState(), { days: 7, changed: true });
  assert.deepEqual(believed(changed, prior), changed);
  // What one page adds can be taken away again.
  assert.deepEqual(showing(showing(shown, quiet), quiet, -1), shown);
});

test('existence, last date and likeliest rate: the published vectors and limits', () => {
  near(existenceRate(10, 3, 1), 0.336472);
  near(lastDateRate(10, 3, 8), 0.355138);
  assert.equal(lastDateRate(10, 0, 8), 0);
  near(lastDateRate(10, 10, 3), 3);
  const changed = [1, 2].map(days => ({ days, count: 1 }));
  near(likeliestRate(changed, 7), 0.238063);
  assert.equal(likeliestRate([], 7), 0);
});

test('mle from the record equals the likeliest rate of the intervals themselves', () => {
  const two = after(
    newState(),
    { days: 1, changed: true },
    { days: 3, changed: false },
    { days: 2, changed: true },
    { days: 4, changed: false },
  );
  near(estimatorNamed('mle').rate(two), 0.238063);
  const random = randomFrom(3);
  for (let round = 0; round < 50; round++) {
    const seen = Array.from({ length: 20 }, () => ({ days: 0.2 + random() ** 3 * 40, changed: random() < 0.5 }));
    const changed = seen.filter(one => one.changed).map(({ days }) => ({ days, count: 1 }));
    const still = seen.reduce((sum, one) => sum + (one.changed ? 0 : one.days), 0);
    const exact = likeliestRate(changed, still);
    near(estimatorNamed('mle').rate(after(newState(), ...seen)) / exact, 1, 0.06);
  }
});

test('adaptive waits as Nutch does', () => {
  near(adaptWait(10, true, 0), 8);
  near(adaptWait(10, false, 5), 14);
  assert.equal(adaptWait(10, false, 20), 20);
  assert.equal(adaptWait(300, false, 0), 365);
  assert.equal(adaptWait(1 / 1440, true, 0), 1 / 1440);
});

test('naive is the share of changes per day', () => {
  const seen = [true, false, false, true].map(changed => ({ days: 2, changed }));
  near(estimatorNamed('naive').rate(after(newState(), ...seen)), 0.25);
});

test('every estimator: the prior mean before the first visit, finite after any', () => {
  for (const estimator of Object.values(estimators)) {
    near(estimator.rate(newState()), 0.1);
    for (const changed of [true, false]) {
      let state = newState();
      for (let i = 0; i < 40; i++) state = observe(state, { days: i % 3, changed });
      const rate = estimator.rate(state);
      assert.ok(rate >= 0 && Number.isFinite(rate), `${estimator.name} says ${rate}`);
      assert.equal(estimator.survival(state, 0), 1);
      assert.ok(estimator.survival(state, 30) <= estimator.survival(state, 3));
    }
  }
  assert.throws(() => estimatorNamed('toString'), /no estimator named "toString"/);
});

test('bias: mean estimate over true rate after 30 visits is as published', () => {
  const bias = (name: string, irregular: boolean) => meanRatio(name, irregular, 400);
  near(bias('naive', false), 0.63, 0.03);
  near(bias('existence', false), 1, 0.07);
  near(bias('last-date', false), 1, 0.07);
  near(bias('gamma', false), 0.89, 0.07);
  near(bias('mle', true), 1.04, 0.1);
});

test('confidence: the rate lies within, nine times in ten, and more visits make it surer', () => {
  const random = randomFrom(11);
  let inside = 0;
  const rounds = 600;
  for (let round = 0; round < rounds; round++) {
    // Rates drawn from the prior itself, so that the posterior is the right one.
    const rate = gammaVariate(2, random) / 8;
    let state = newState({ a: 2, b: 8 });
    for (let i = 0; i < 12; i++) state = observe(state, { days: 2, changed: random() < -Math.expm1(-rate * 2) });
    const { low, high } = confidence(state);
    if (rate >= low && rate <= high) inside++;
  }
  assert.ok(inside / rounds > 0.86 && inside / rounds < 0.94, `${inside} of ${rounds}`);
  assert.equal(confidence(newState()).word, 'unknown');
  let quiet = newState();
  for (let i = 0; i < 20; i++) quiet = observe(quiet, { days: 5, changed: false });
  assert.equal(confidence(quiet).word, 'good');
  assert.equal(confidence(observe(newState(), { days: 3, changed: true })).word, 'weak');
});

test('history: the last 32 visits, oldest first', () => {
  const flags = [1, 1, 0, 1, 1, 0, 1];
  let state = after(newState(), ...flags.map(flag => ({ days: 1, changed: flag === 1 })));
  assert.equal(historyOf(state), '1101101');
  assert.equal(historyOf(newState()), '');
  for (let i = 0; i < 40; i++) state = observe(state, { days: 1, changed: i === 39 });
  assert.equal(historyOf(state), `${'0'.repeat(31)}1`);
  assert.equal(state.visits, 47);
});

const pick = (state: ChangeState) => [state.a, state.b];

/** Posterior of a gamma(a, b) rate after a change within `days`, by sums over a fine grid of rates. */
function gridPosterior(a: number, b: number, days: number): { mean: number; variance: number } {
  let mass = 0;
  let first = 0;
  let second = 0;
  for (let log = -20; log < 6; log += 1e-3) {
    const rate = Math.exp(log);
    const density = Math.exp(a * log - b * rate) * -Math.expm1(-rate * days);
    mass += density;
    first += density * rate;
    second += density * rate * rate;
  }
  return { mean: first / mass, variance: second / mass - (first / mass) ** 2 };
}

/** Mean of estimate / truth for a page that changes once a day and is visited about once a day. */
function meanRatio(name: string, irregular: boolean, pages: number): number {
  const random = randomFrom(5);
  const estimator = estimatorNamed(name);
  let sum = 0;
  for (let page = 0; page < pages; page++) {
    let state = newState();
    for (let visit = 0; visit < 30; visit++) {
      const days = irregular ? 0.2 + 1.6 * random() : 1;
      const age = -Math.log(1 - random());
      state = observe(state, { days, changed: age < days, ...(name === 'last-date' ? { lastChangeAge: age } : {}) });
    }
    sum += estimator.rate(state);
  }
  return sum / pages;
}
