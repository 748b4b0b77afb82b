/**
 * The same properties on small sites in which noise and news look alike (test/web/lively/scenes.ts), in memory and some over HTTP: prices of products
 * beside prices of offers by lot, "yes" of a cache and "yes" of a page. What looks show of one thing is not believed of another.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scenePlan } from '../web/lively/plan.ts';
import { sceneNames } from '../web/lively/scenes.ts';
import type { Seen } from '../web/lively/tally.ts';
import { keepLively } from './lively.ts';
import { simulate } from './simulate.ts';

const SEEDS = [1, 2];
const ROUNDS = 12;

for (const scene of sceneNames) {
  test(`${scene}: no news is lost, no noise is told more than three times`, () => {
    for (const seed of SEEDS) check(simulate(seed, ROUNDS, scenePlan(seed, [scene])));
  });
}

test('the same over HTTP, of a shop and what else has small values, all on one site', async () => {
  check(await keepLively(3, 6, scenePlan(3, ['shop', 'words', 'twice', 'shuffled'])));
});

function check({ unseen, noisy, stale, toldAtOnce, changes, noiseFires, answers }: Seen): void {
  assert.deepEqual(unseen, []);
  assert.deepEqual(noisy, []);
  assert.deepEqual(stale, []);
  assert.equal(toldAtOnce, changes, 'each at the visit that met it');
  assert.ok(changes > 0 && noiseFires <= 0.05 * answers, `noise told ${noiseFires} times in ${answers} answers`);
}
