import assert from 'node:assert/strict';
import { test } from 'node:test';
import { believed, Priors } from '../../src/frontier/priors.ts';
import { newState, PRIOR, packState } from '../../src/revisit/state.ts';

test('a new page is believed to be like those of its server, and of no other', () => {
  const priors = new Priors();
  const general = priors.of(1);
  assert.deepEqual(general, { a: PRIOR.a, b: PRIOR.b });
  const observed = { ...newState(), a: 2, b: 4, visits: 3 };
  priors.add(1, observed);
  assert.deepEqual(priors.of(1), general, 'one page says nothing of the others');
  for (let i = 0; i < 50; i++) priors.add(1, observed);
  const { a, b } = priors.of(1);
  assert.ok(Math.abs(a / b - 0.5) < 1e-9, `${a / b} changes a day, where its pages have 0.5`);
  assert.deepEqual(priors.of(2), general);
});

test('a page that was observed is believed for itself, one that was not by the prior as it is now', () => {
  const prior = { a: 3, b: 7 };
  assert.deepEqual(pick(believed(undefined, prior)), prior);
  assert.deepEqual(pick(believed(packState(newState()), prior)), prior);
  assert.deepEqual(pick(believed(packState({ ...newState(), a: 2, b: 4, visits: 1 }), prior)), { a: 2, b: 4 });
});

function pick({ a, b }: { readonly a: number; readonly b: number }): { a: number; b: number } {
  return { a, b };
}
