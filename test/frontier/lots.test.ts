/** Pages chosen by lot: some of every server, spread over all pages, others each day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { fingerprint } from '../../src/base/url.ts';
import { lotsOf } from '../../src/frontier/schedule/lots.ts';
import { NOW, withLedger } from './known-ledger.ts';

test('a small server beside a large one is looked at in every round', () => {
  withLedger(900, ledger => {
    ledger.begin();
    const small = ledger.servers.of('http://small.test').id;
    for (let i = 0; i < 12; i++) {
      const url = `http://small.test/${i}`;
      const place = { ...fingerprint(url, { high: 0, low: 0 }), server: small, url, parent: 0, depth: 1, hops: 0 };
      const page = ledger.pages.add({ ...place, relevance: 0, found: 0, refused: null, role: 0, lastmod: null });
      ledger.pages.putKnown({ ...ledger.pages.known(1)!, page });
    }
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    const days = [0, 1, 2, 3].map(day => lotsOf(ledger, 90, NOW + day * DAY));
    for (const lots of days) {
      assert.ok(lots.filter(({ server }) => server === small).length >= 2);
      assert.ok(lots.length >= 9 && lots.length <= 18, `${lots.length}`);
      assert.equal(new Set(lots.map(({ page }) => page)).size, lots.length);
    }
    const looked = days.flat().filter(({ server }) => server === small);
    assert.ok(new Set(looked.map(({ page }) => page)).size >= 7, 'others each day');
    ledger.commit();
  });
});
