import assert from 'node:assert/strict';
import { test } from 'node:test';
import { balanceAt, balanceForFreshness, balanceForShare, periodFreshness } from '../../src/revisit/budget.ts';
import {
  daysUntilDue,
  daysUntilDueAtRate,
  daysUntilDueInSilence,
  importance,
  poissonTwo,
  steer,
  valueShape,
  visitCost,
  visitValue,
} from '../../src/revisit/value.ts';
import { optimum } from './optimum.ts';
import { population, randomFrom } from './simulation.ts';

const near = (actual: number, expected: number, tolerance = 5e-7) =>
  assert.ok(Math.abs(actual - expected) <= tolerance, `${actual} is not within ${tolerance} of ${expected}`);

test('value: the published vectors', () => {
  near(valueShape(2, 1), 0.25);
  near(valueShape(1, 1), 0.193147);
  near(valueShape(0.3, 2), 0.215367);
  near(daysUntilDue(2, 10, { weight: 1, theta: 1, maxInterval: 90 }), 4.624753);
  near(daysUntilDue(0.3, 3, { weight: 1, theta: 0.5, maxInterval: 90 }), 4.970227);
});

test('value: smooth where the formulas change over', () => {
  for (const a of [0.05, 0.3, 1 - 2e-9, 1, 1 + 2e-9, 1.0005, 2, 8]) {
    const edge = 1e-3 / (a + 2);
    near(valueShape(a, edge * 1.0001) / valueShape(a, edge * 0.9999), 1.0004, 1e-5);
  }
  near(valueShape(1 + 1e-6, 3), valueShape(1, 3), 1e-5);
});

test('value: it is the integral of survival minus the last of it', () => {
  for (const [a, b, days] of [
    [0.3, 3, 12],
    [2.5, 20, 7],
  ] as const) {
    const survival = (t: number) => (b / (b + t)) ** a;
    let integral = 0;
    const steps = 20_000;
    for (let i = 0; i < steps; i++) integral += (survival(((i + 0.5) * days) / steps) * days) / steps;
    near(visitValue({ a, b }, 3, days), 3 * (integral - days * survival(days)), 1e-6);
    near(periodFreshness(a, b, days), integral / days, 1e-6);
  }
});

test('days until due: the value there is theta, for any belief', () => {
  const random = randomFrom(2);
  for (let i = 0; i < 5_000; i++) {
    const a = 0.05 + 8 * random() ** 3;
    const b = Math.exp(-8 + 13 * random());
    const price = { weight: Math.exp(4 * random() - 2), theta: Math.exp(-8 + 10 * random()), maxInterval: 90 };
    const days = daysUntilDue(a, b, price);
    if (days < 90) near(visitValue({ a, b }, price.weight, days) / price.theta, 1, 1e-6);
    else assert.ok(visitValue({ a, b }, price.weight, 90) <= price.theta * (1 + 1e-9));
  }
});

test('days until due: a sharp belief waits as a known rate does, and a hopeless page to the end', () => {
  const price = { weight: 1, theta: 0.8, maxInterval: 90 };
  near(daysUntilDue(1e5, 1e6, price), daysUntilDueAtRate(0.1, price), 1e-3);
  assert.equal(daysUntilDueAtRate(2, price), 90);
  assert.equal(daysUntilDueAtRate(0, price), 90);
  near(poissonTwo(daysUntilDueAtRate(0.1, price) * 0.1), 0.08);
});

test('silence: without notices as before; the more is told, the longer it waits; all told, for ever', () => {
  const price = { weight: 1, theta: 0.8, maxInterval: 1000 };
  const waits = [0, 0.3, 0.7, 0.95].map(recall => daysUntilDueInSilence(0.1, recall, price));
  near(waits[0]!, daysUntilDueAtRate(0.1, price));
  for (let i = 1; i < waits.length; i++) assert.ok(waits[i]! > waits[i - 1]!);
  assert.equal(daysUntilDueInSilence(0.1, 1, price), 1000);
  near(daysUntilDueInSilence(0.1, 0.0101, price), waits[0]!, 0.05);
});

test('optimum: the table that Cho and Garcia-Molina published', () => {
  const found = optimum(
    [1, 2, 3, 4, 5].map(rate => ({ rate, weight: 1 })),
    5,
  );
  assert.deepEqual(
    found.frequencies.map(f => f.toFixed(2)),
    ['1.15', '1.36', '1.35', '1.14', '0.00'],
  );
  near(found.theta, 0.21643, 5e-6);
  near(found.freshness, 0.3739, 5e-5);
  const two = optimum(
    [9, 1].map(rate => ({ rate, weight: 1 })),
    1,
  );
  assert.deepEqual(
    two.frequencies.map(f => f.toFixed(2)),
    ['0.00', '1.00'],
  );
});

test('optimum: no exchange of visits between two pages is better', () => {
  const { rates, weights } = population('gamma', 'zipf', 60, 4);
  const pages = Array.from(rates, (rate, i) => ({ rate, weight: weights[i]! }));
  const { frequencies } = optimum(pages, 18);
  const freshness = (i: number, f: number) =>
    f <= 0 ? 0 : (pages[i]!.weight * -Math.expm1(-pages[i]!.rate / f) * f) / pages[i]!.rate;
  for (let i = 0; i < pages.length; i++) {
    const j = (i * 7 + 3) % pages.length;
    const step = 0.05 * frequencies[i]!;
    const before = freshness(i, frequencies[i]!) + freshness(j, frequencies[j]!);
    const after = freshness(i, frequencies[i]! - step) + freshness(j, frequencies[j]! + step);
    assert.ok(after <= before + 1e-9, `visits of page ${i} are better spent on page ${j}`);
  }
});

test('balance: theta for a share of visits, and the least budget for a freshness', () => {
  const random = randomFrom(9);
  const pages = Array.from({ length: 400 }, () => ({ a: 0.1 + 3 * random(), b: 1 + 30 * random(), weight: random() }));
  const share = balanceForShare(0.2, pages, 90);
  near(share.visits, 0.2, 1e-6);
  const same = balanceForFreshness(share.freshness, pages, 90);
  near(same.visits, 0.2, 1e-4);
  assert.ok(same.freshness >= share.freshness - 1e-12);
  assert.ok(balanceForFreshness(0.95, pages, 90).visits > balanceForFreshness(0.8, pages, 90).visits);
  assert.ok(balanceAt(same.theta * 1.01, pages, 90).freshness < share.freshness);
});

test('balance: what notices name is no reason to look at silent pages', () => {
  const pages = [0.02, 0.1, 0.4].map(rate => ({ a: 4, b: 4 / rate, weight: 1 }));
  const silent = balanceForFreshness(0.95, pages, 90);
  const told = balanceForFreshness(
    0.95,
    pages.map(page => ({ ...page, recall: 0.9 })),
    90,
  );
  assert.ok(told.visits < silent.visits / 3, `${told.visits} and ${silent.visits}`);
  near(told.freshness, 0.95, 1e-4);
  const all = pages.map(page => ({ ...page, recall: 1 }));
  near(balanceForFreshness(0.95, all, 90).visits, 1 / 90, 1e-6);
});

test('theta rises when visits come late, falls when early, and by no more than e in a round', () => {
  const load = { pages: 1000, budget: 100 };
  assert.ok(steer(1, 0.5, load) > 1);
  assert.ok(steer(1, -0.5, load) < 1);
  assert.equal(steer(1, 0, load), 1);
  near(steer(1, 1e9, load, 1e9), Math.E);
  near(steer(1, 0.1, load, 10), steer(1, 0.1, load) ** 10, 1e-9);
});

test('importance: bounded, and more with links, searches and weight, less with depth', () => {
  const plain = { linksIn: 0, depth: 0, weight: 1, searches: 0 };
  assert.equal(importance(plain), 1);
  assert.ok(importance({ ...plain, linksIn: 10 }) > 1);
  assert.ok(importance({ ...plain, searches: 3 }) > 1);
  assert.ok(importance({ ...plain, depth: 5 }) < 1);
  assert.equal(importance({ ...plain, weight: 2 }), 2);
  assert.equal(importance({ linksIn: 1e9, depth: 0, weight: 100, searches: 1e9 }), 50);
  assert.equal(importance({ ...plain, weight: 0 }), 0.05);
});

test('a visit costs the body where it changed or the server has no validators', () => {
  assert.deepEqual(visitCost(10_000, 1), { visit: 0.5, change: 10 });
  assert.deepEqual(visitCost(10_000, 0), { visit: 10.5, change: 0 });
});

test('bytes: the interval is the one with the best freshness less theta times cost per day', () => {
  const random = randomFrom(12);
  for (let round = 0; round < 200; round++) {
    const [a, b] = [0.2 + 4 * random(), Math.exp(4 * random())];
    const cost = { visit: 0.2 + random(), change: 20 * random() };
    const price = { weight: 0.3 + random(), theta: Math.exp(-4 * random() - 2), maxInterval: 400, cost };
    const gain = (days: number) => {
      const spent = cost.visit - cost.change * Math.expm1(-a * Math.log1p(days / b));
      return price.weight * periodFreshness(a, b, days) - (price.theta * spent) / days;
    };
    const days = daysUntilDue(a, b, price);
    for (const other of [0.5, 0.9, 1.1, 2])
      assert.ok(gain(Math.min(400, days * other)) <= gain(days) + 1e-9, `${days} days, but ${other} of it is better`);
  }
  const sharp = { weight: 1, theta: 0.05, maxInterval: 400, cost: { visit: 1, change: 8 } };
  near(daysUntilDue(1e5, 1e6, sharp), daysUntilDueAtRate(0.1, sharp), 1e-2);
  assert.equal(daysUntilDueAtRate(3, sharp), 400, 'its changes cost more than they are worth');
});
