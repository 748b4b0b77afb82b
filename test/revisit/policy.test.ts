import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { observe } from '../../src/revisit/estimators/observe.ts';
import { benefit, machinesReached } from '../../src/revisit/pmceg.ts';
import {
  averageProbability,
  delegation,
  type Group,
  loadSaved,
  parseThresholds,
  shareChanged,
  tripLoad,
} from '../../src/revisit/pmcs.ts';
import {
  intervalOf,
  nextDue,
  type PolicyTerms,
  phaseOf,
  planNamed,
  pmcsPolicy,
  policies,
} from '../../src/revisit/policy.ts';
import { type ChangeState, newState } from '../../src/revisit/state.ts';
import { daysUntilDue } from '../../src/revisit/value.ts';

const terms: PolicyTerms = { weight: 1, theta: 1, maxInterval: 90, cycle: 5, meanRate: 0.2, recall: 0 };

function visited(days: number, history: string): ChangeState {
  let state = newState();
  for (const flag of history) state = observe(state, { days, changed: flag === '1' });
  return state;
}

test('value: due when the value of a visit reaches theta, and waits in silence where notices tell', () => {
  const state = visited(3, '0100');
  const plan = planNamed();
  assert.equal(intervalOf(plan, state, terms), daysUntilDue(state.a, state.b, terms));
  assert.equal(nextDue(plan, state, 7 * DAY, terms), (7 + intervalOf(plan, state, terms)) * DAY);
  assert.ok(intervalOf(plan, state, { ...terms, recall: 0.9 }) > intervalOf(plan, state, terms));
  assert.ok(intervalOf(plan, state, { ...terms, weight: 3 }) < intervalOf(plan, state, terms));
});

test('uniform: once in a cycle; proportional: as often as it changes', () => {
  assert.equal(intervalOf(planNamed('uniform'), visited(3, '1'), terms), 5);
  const [slow, fast] = [visited(2, '0000'), visited(2, '1111')];
  const plan = planNamed('proportional');
  const ratio = intervalOf(plan, slow, { ...terms, maxInterval: 1e9 }) / intervalOf(plan, fast, terms);
  assert.ok(Math.abs(ratio / (plan.estimator.rate(fast) / plan.estimator.rate(slow)) - 1) < 1e-9);
});

test('value: first looks at pages that were fetched together are spread over the interval, later ones are not', () => {
  const plan = planNamed();
  const whole = intervalOf(plan, newState(), terms);
  const shares = Array.from({ length: 1000 }, (_, page) => {
    return intervalOf(plan, newState(), { ...terms, phase: phaseOf(page) }) / whole;
  }).sort((a, b) => a - b);
  for (const [i, share] of shares.entries()) assert.ok(Math.abs(share - i / 1000) < 0.005, `${i}: ${share}`);
  const seen = visited(3, '01');
  assert.equal(intervalOf(plan, seen, { ...terms, phase: 0.2 }), intervalOf(plan, seen, terms));
});

test('date: at the expected next change; what never changed at the longest interval', () => {
  const state = visited(2, '0101');
  const plan = planNamed('date');
  assert.equal(intervalOf(plan, state, terms), 1 / plan.estimator.rate(state));
  assert.equal(intervalOf(plan, visited(2, '0000'), terms), 90);
});

test('adaptive: the wait, drawn forward by three tenths of the age of the last change', () => {
  const plan = planNamed('adaptive');
  const changed = observe(newState(), { days: 10, changed: true, lastChangeAge: 4 });
  assert.ok(Math.abs(intervalOf(plan, changed, terms) - (30 * 0.8 - 0.3 * 4)) < 1e-9);
});

test('pmcs: every round while the share of changes is low, then at the expected change', () => {
  const plan = planNamed('pmcs');
  assert.equal(intervalOf(plan, visited(2, '0000000000'), terms), 5);
  const some = visited(2, '0101');
  assert.equal(intervalOf(plan, some, terms), 1 / plan.estimator.rate(some));
  const strict = { policy: pmcsPolicy({ low: 0.6, high: 0.8 }), estimator: plan.estimator };
  assert.equal(intervalOf(strict, some, terms), 5);
});

test('every policy stays within the bounds, whatever the page did', () => {
  for (const name of Object.keys(policies))
    for (const history of ['', '0', '1', '1111111111', '0000000000'])
      for (const days of [0, 1e-6, 1, 100]) {
        const interval = intervalOf(planNamed(name), visited(days, history), terms);
        assert.ok(interval >= 10 / 1440 && interval <= 90, `${name} ${history} ${days}: ${interval}`);
      }
  assert.throws(() => planNamed('vlaue'), /no policy named "vlaue"/);
});

test('delegation: nothing for the unknown, facts for most, eight bytes for what surely changed', () => {
  assert.equal(delegation(0, 0), 'nothing');
  assert.equal(delegation(0.1, 2), 'nothing');
  assert.equal(delegation(0.1, 3), 'facts');
  assert.equal(delegation(0.11, 1), 'facts');
  assert.equal(delegation(0.79, 9), 'facts');
  assert.equal(delegation(0.8, 9), 'hash');
  assert.equal(delegation(0.5, 9, { low: 0.1, high: 0.5 }), 'hash');
  const strict = parseThresholds('0.1, 0.8, strict');
  assert.deepEqual(
    [0, 0.1, 0.11, 0.79, 0.8].map(p => delegation(p, 9, strict)),
    ['nothing', 'nothing', 'facts', 'facts', 'nothing'],
  );
  assert.equal(shareChanged(visited(1, '0101')), 0.5);
  assert.equal(shareChanged(newState()), 0);
});

test('thresholds are two probabilities in order', () => {
  assert.deepEqual(parseThresholds('0.2,0.9'), { low: 0.2, high: 0.9 });
  for (const wrong of ['', '0.5', '0.8,0.1', '-1,0.8', '0.1,2', '0.1,0.8,loose', '0.1,0.8,strict,1', 'a,b']) {
    assert.throws(() => parseThresholds(wrong), { code: 'bad-option' }, wrong);
  }
});

test('the load model: the paper’s cases, with its sums corrected', () => {
  const middle: Group[] = [
    { pages: 20, probability: 0.15 },
    { pages: 40, probability: 0.45 },
    { pages: 20, probability: 0.55 },
  ];
  assert.ok(Math.abs(averageProbability(middle) - 0.4) < 1e-12, 'the paper prints 3300 / 8000 for 3200 / 8000');
  const average = loadSaved([{ pages: 10, probability: 0.05 }, ...middle, { pages: 10, probability: 0.9 }]);
  assert.ok(Math.abs(average.saved - 48) < 1e-9, 'the paper prints 39');
  assert.ok(Math.abs(loadSaved([{ pages: 100, probability: 0.11 }]).saved - 89) < 1e-9);
  assert.ok(Math.abs(loadSaved([{ pages: 100, probability: 0.79 }]).saved - 21) < 1e-9);
  for (const probability of [0.1, 0.8]) assert.equal(loadSaved([{ pages: 100, probability }]).percent, 0);
  assert.equal(loadSaved([]).percent, 0);
});

test('the experiment: 63 of 100 pages of 8 KB, plain and compressed', () => {
  const trip = { pages: 100, sent: 63, pageKilobytes: 8, crawlerKilobytes: 30 };
  assert.deepEqual(tripLoad({ ...trip, compression: 1 }), { kilobytes: 534, percent: 66.75 });
  const compressed = tripLoad({ ...trip, compression: 0.3 });
  assert.equal(compressed.kilobytes.toFixed(1), '181.2');
  assert.equal(compressed.percent.toFixed(2), '22.65');
});

test('the counter of PMCEG: D levels of machines, f to the power of the level on each', () => {
  assert.equal(machinesReached(3, 2), 14);
  assert.equal(machinesReached(1, 5), 5);
  assert.equal(machinesReached(0, 5), 0);
});

test('the benefits of PMCEG: half of the time, 80% of the repeated URLs, 83% of the data', () => {
  assert.equal(Math.round(benefit(1_439_693.6, 715_637.2)), 50, 'the paper prints 51');
  assert.equal(Math.round(benefit(372.2, 74.6)), 80);
  assert.equal(Math.round(benefit(810.68, 136.62)), 83);
});
