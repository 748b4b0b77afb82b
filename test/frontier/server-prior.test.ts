import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ServerPrior } from '../../src/frontier/schedule/server-prior.ts';
import { newState } from '../../src/revisit/state.ts';

const restless = { ...newState(), a: 5, b: 4, visits: 6, changes: 5 };
const rate = ({ a, b }: { readonly a: number; readonly b: number }) => a / b;

test('a page that never changed is believed to be like those of its server and role; one that changed speaks for itself', () => {
  const neighbours = new ServerPrior();
  const kind = { server: 1, role: 'page', url: 'http://a.test/dev/1.html' } as const;
  const before = rate(neighbours.believed(kind, newState()));
  for (let i = 0; i < 50; i++) neighbours.add(kind, restless);
  assert.ok(rate(neighbours.believed(kind, newState())) > 2 * before);
  assert.equal(rate(neighbours.believed({ ...kind, server: 2 }, newState())), before);
  assert.equal(rate(neighbours.believed({ ...kind, role: 'image' }, newState())), before);
  assert.equal(rate(neighbours.believed(kind, restless)), rate(restless));
});

test('a folder is known by its own pages, and by those around it as far as they are few', () => {
  const neighbours = new ServerPrior();
  const at = (url: string) => ({ server: 1, role: 'page', url: `http://a.test${url}` }) as const;
  const still = { ...newState(), visits: 6, stillDays: 60 };
  for (let i = 0; i < 50; i++)
    neighbours.add(at(`/dev/reference/${i}.html`), { ...restless, changedDays: 10, stillDays: 10 });
  for (let i = 0; i < 50; i++) neighbours.add(at(`/old/${i}.html`), still);
  const of = (url: string) => rate(neighbours.believed(at(url), newState()));
  assert.ok(of('/dev/reference/new.html') > 50 * of('/old/new.html'));
  assert.ok(of('/other/new.html') > of('/old/new.html') && of('/other/new.html') < of('/dev/reference/new.html'));
});

test('what was counted for a page is taken back when the page has shown more', () => {
  const neighbours = new ServerPrior();
  const kind = { server: 1, role: 'page', url: 'http://a.test/1.html' } as const;
  const before = rate(neighbours.believed(kind, newState()));
  neighbours.add(kind, restless);
  neighbours.learned(kind, restless, newState());
  assert.equal(rate(neighbours.believed(kind, newState())), before);
});
