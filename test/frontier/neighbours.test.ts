import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerPrior } from '../../src/frontier/schedule/server-prior.ts';
import { newState } from '../../src/revisit/state.ts';

const restless = { ...newState(), a: 5, b: 4, visits: 6, changes: 5 };
const rate = ({ a, b }: { readonly a: number; readonly b: number }) => a / b;

test('a page that never changed is believed to be like those of its server and role; one that changed speaks for itself', () => {
  const neighbours = new ServerPrior(true);
  const kind = { server: 1, role: 'page' } as const;
  const before = rate(neighbours.believed(kind, newState()));
  for (let i = 0; i < 50; i++) neighbours.add(kind, restless);
  assert.ok(rate(neighbours.believed(kind, newState())) > 2 * before);
  assert.equal(rate(neighbours.believed({ server: 2, role: 'page' }, newState())), before);
  assert.equal(rate(neighbours.believed({ server: 1, role: 'image' }, newState())), before);
  assert.equal(rate(neighbours.believed(kind, restless)), rate(restless));
});
