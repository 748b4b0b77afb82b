import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pingPrecision, pingRecall } from '../../src/revisit/pings.ts';
import { planNamed } from '../../src/revisit/policy.ts';
import { oracle, population, randomFrom, simulate } from './simulation.ts';
import { simulateServers } from './simulation-servers.ts';

const PAGES = 2_000;
const span = { days: 160, from: 80, seed: 1 };

for (const [law, weighting] of [
  ['lognormal', 'equal'],
  ['gamma', 'zipf'],
] as const)
  test(`value learns to within 4% of the optimum and beats the others: ${law}, ${weighting} weights`, () => {
    const people = population(law, weighting, PAGES, 1);
    const share = 0.2;
    const freshness = (policy: string) => simulate({ people, plan: planNamed(policy), share, ...span }).freshness;
    const best = oracle(people, share);
    const value = freshness('value');
    assert.ok(value > 0.96 * best, `${value} of ${best}`);
    assert.ok(value <= best + 0.01, 'nothing can beat the optimum but by luck of the draw');
    for (const other of ['uniform', 'proportional', 'pmcs', 'date', 'adaptive'])
      assert.ok(value > freshness(other) + 0.01, other);
  });

test('uniform is what its formula says', () => {
  const people = population('gamma', 'equal', PAGES, 2);
  const { freshness, visits } = simulate({ people, plan: planNamed('uniform'), share: 0.25, ...span });
  const exact = people.rates.reduce((sum, rate) => sum - Math.expm1(-rate * 4) / (rate * 4), 0) / PAGES;
  assert.ok(Math.abs(freshness - exact) < 0.003, `${freshness} ${exact}`);
  assert.ok(Math.abs(visits - 0.25 * PAGES * 160) <= 1);
});

test('trusted dates of change do not hurt', () => {
  const people = population('lognormal', 'equal', PAGES, 3);
  const trial = { people, plan: planNamed(), share: 0.1, ...span };
  assert.ok(simulate({ ...trial, datesKnown: true }).freshness > simulate(trial).freshness - 0.003);
});

test('servers with a pace: the multiplier keeps most of the freshness that one theta loses', () => {
  const people = population('lognormal', 'zipf', PAGES, 1);
  const random = randomFrom(9);
  // One server holds four pages in ten and may be visited for two in ten.
  const servers = Array.from({ length: PAGES }, () => (random() < 0.4 ? 0 : 1 + Math.floor(random() * 30)));
  const web = {
    people,
    servers,
    share: 0.3,
    ...span,
    pace: 1 / (0.2 * 0.3 * PAGES),
    telling: 0,
    recall: 0,
    precision: 1,
  };
  const value = simulateServers({ ...web, plan: planNamed() });
  const uniform = simulateServers({ ...web, plan: planNamed('uniform') });
  assert.ok(value.freshness > uniform.freshness + 0.03, `${value.freshness} ${uniform.freshness}`);
  assert.ok(value.visits > 0.99 * web.share * PAGES * web.days, 'no slot is left unused');
});

test('notices: worth more the better they are, and their worth is found out', () => {
  const people = population('lognormal', 'equal', PAGES, 1);
  const servers = Array.from({ length: PAGES }, (_, page) => page % 2);
  const web = { people, servers, plan: planNamed(), share: 0.2, ...span, pace: 0, telling: 1 };
  const none = simulateServers({ ...web, recall: 0, precision: 1 }).freshness;
  const poor = simulateServers({ ...web, recall: 0.7, precision: 0.6 });
  const good = simulateServers({ ...web, recall: 0.95, precision: 0.95 }).freshness;
  assert.ok(good > poor.freshness + 0.01 && poor.freshness > none + 0.01, `${none} ${poor.freshness} ${good}`);
  const { pings } = poor.scheduler.snapshot().servers[0]!;
  assert.ok(Math.abs(pingPrecision(pings) - 0.6) < 0.15, `${pingPrecision(pings)}`);
  assert.ok(Math.abs(pingRecall(pings) - 0.7) < 0.2, `${pingRecall(pings)}`);
});
