/** What an errand may open: a private address only where the user named it, or opened them all. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { opensPrivate } from '../../src/crawler/fetch/private-gate.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { withLedger } from './known-ledger.ts';
import { plainOptions } from './plain-options.ts';

/** Whether the first errand of a crawl that this URL is the seed of may open a private address, for itself and elsewhere. */
function opens(seed: string, allowPrivate: boolean): { itself: boolean; elsewhere: boolean } | undefined {
  let found: { itself: boolean; elsewhere: boolean } | undefined;
  withLedger(0, ledger => {
    const frontier = new Frontier(ledger, { ...plainOptions, mode: 'explore', depth: 2, allowPrivate }, systemClock);
    ledger.begin();
    frontier.restore();
    frontier.seed([seed]);
    frontier.errands.wake();
    const { server } = frontier.errands.next()!.errand;
    found = { itself: opensPrivate(server, seed), elsewhere: opensPrivate(server, 'http://127.0.0.1:9/') };
  });
  return found;
}

test('a seed opens the private address that it names, and nothing else', () => {
  for (const seed of ['http://127.0.0.1:8080/', 'http://10.1.2.3/', 'http://[::1]/', 'http://localhost/'])
    assert.deepEqual(opens(seed, false), { itself: true, elsewhere: false }, seed);
  // A name is answered for by somebody else, who may answer something else tomorrow.
  for (const seed of ['https://example.org/', 'http://intranet/', 'http://localhost.example.org/'])
    assert.deepEqual(opens(seed, false), { itself: false, elsewhere: false }, seed);
});

test('--allow-private opens them all', () => {
  assert.deepEqual(opens('https://example.org/', true), { itself: true, elsewhere: true });
});
