/**
 * The same properties on small sites in which noise and news look alike, in memory (test/web/lively/scenes.ts): prices of products
 * beside prices of offers by lot, "yes" of a cache and "yes" of a page. What looks show of one thing is not believed of another.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scenePlan } from '../web/lively/plan.ts';
import { sceneNames } from '../web/lively/scenes.ts';
import { simulate } from './simulate.ts';

const SEEDS = [1, 2];
const ROUNDS = 12;

for (const scene of sceneNames) {
  test(`${scene}: no news is lost, no noise is told more than three times`, () => {
    for (const seed of SEEDS) {
      const seen = simulate(seed, ROUNDS, scenePlan(seed, [scene]));
      assert.deepEqual(seen.unseen, []);
      assert.deepEqual(seen.noisy, []);
      assert.deepEqual(seen.stale, []);
      assert.equal(seen.toldAtOnce, seen.changes, 'each at the visit that met it');
      assert.ok(
        seen.noiseFires <= 0.05 * seen.answers,
        `noise told ${seen.noiseFires} times in ${seen.answers} answers`,
      );
    }
  });
}
