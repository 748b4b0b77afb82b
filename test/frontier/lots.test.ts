/** Pages chosen by lot: some of every server, spread over all pages, others each day. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { fingerprint } from '../../src/base/url.ts';
import { alike, companionsOf, lotsOf } from '../../src/frontier/schedule/lots.ts';
import { WaveDays } from '../../src/frontier/schedule/wave-days.ts';
import { FLAG_CHANGED } from '../../src/ledger/pages/known-row.ts';
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
    const days = [0, 1, 2, 3].map(day => lotsOf(ledger, { visits: 90, begun: NOW + day * DAY, stale: 0 }));
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

test('dead links take no lots from live pages, and one lot goes to what changed before', () => {
  withLedger(400, ledger => {
    ledger.begin();
    const sql = (text: string) => ledger['database'].prepare(text).run();
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    sql("UPDATE known SET outcome = 'gone' WHERE page % 5 < 3");
    sql(`UPDATE known SET flags = ${FLAG_CHANGED} WHERE page % 5 = 4 AND page > 200`);
    for (const day of [0, 1, 2, 3]) {
      const lots = lotsOf(ledger, { visits: 40, begun: NOW + day * DAY, stale: 0 }).map(({ page }) => page);
      assert.ok(lots.length >= 4, `${lots.length}`);
      assert.ok(lots.every(page => page % 5 >= 3));
      assert.ok(
        lots.slice(0, 2).some(page => page % 5 === 4 && page > 200),
        `${lots}`,
      );
    }
    ledger.commit();
  });
});

test('where a freshness is to be kept, a small server alone gets looks, and one with waves as many as find the next', () => {
  withLedger(36, ledger => {
    ledger.begin();
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    const looks = () => lotsOf(ledger, { visits: Number.POSITIVE_INFINITY, begun: NOW, stale: 0.02 }).length;
    assert.equal(looks(), 2);
    new WaveDays(ledger).note(1, NOW - 3 * DAY, 36);
    assert.equal(looks(), 4, 'one wave three days ago, of whose kind half of 2% may be stale');
    ledger.commit();
  });
});

test('where a freshness is to be kept, a server whose face names the content of every page gets no looks of its own', () => {
  withLedger(36, ledger => {
    ledger.begin();
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    const looks = () => lotsOf(ledger, { visits: 1, begun: NOW, stale: 0.02 }).length;
    assert.equal(looks(), 2);
    ledger.schedule.faces.add(
      { server: 1, kind: 'cursor', url: 'http://a.test/.well-known/skein', found: 'well-known' },
      NOW,
    );
    assert.equal(looks(), 2, 'it has said nothing yet');
    ledger['database'].prepare('UPDATE faces SET heard = ?').run(NOW);
    assert.equal(looks(), 0);
    ledger.commit();
  });
});

test('what is like a page that has changed: of its folder and size, and not seen lately', () => {
  withLedger(100, ledger => {
    ledger.begin();
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    const page = ledger.schedule.due.live([50], Number.MAX_VALUE)[0]!;
    const others = alike(ledger, page, Number.MAX_VALUE);
    assert.equal(others.length, 3);
    assert.ok(others.every(other => other.page !== 50 && other.server === page.server));
    ledger['database'].prepare('UPDATE known SET flags = ? WHERE page IN (47, 52)').run(FLAG_CHANGED);
    const alone = alike(ledger, { ...page, url: 'http://elsewhere/x/y' }, Number.MAX_VALUE);
    assert.equal(alone.length, 3, 'a part with one page alone');
    assert.deepEqual([...alone.slice(0, 2)].map(other => other.page).sort(), [47, 52], 'first what changed before');
    assert.deepEqual(alike(ledger, page, 0), []);
    ledger.schedule.due.hasten(others, 7);
    assert.equal(ledger.pages.known(others[0]!.page)!.due, 7);
    ledger.commit();
  });
});

test('what changed together before is looked at together, as long as it changes together', () => {
  withLedger(100, ledger => {
    ledger.begin();
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW);
    const changed = (page: number, time: number) =>
      ledger['database']
        .prepare('UPDATE known SET flags = ?, changed_time = ? WHERE page = ?')
        .run(FLAG_CHANGED, time, page);
    for (const page of [50, 12, 83]) changed(page, NOW - 3 * DAY);
    changed(51, NOW - 9 * DAY);
    const companions = () => {
      const page = ledger.schedule.due.live([50], Number.MAX_VALUE)[0]!;
      const found = companionsOf(ledger, page, Number.MAX_VALUE);
      return found.map(other => other.page).sort((a, b) => a - b);
    };
    assert.deepEqual(companions(), [12, 83]);
    changed(12, NOW);
    assert.deepEqual(companions(), [83], 'it has changed alone since');
    ledger['database'].prepare('UPDATE known SET flags = 0 WHERE page = 50').run();
    assert.deepEqual(companions(), [], 'a page that never changed, whose name no other has');
    const named = (page: number, url: string) =>
      ledger['database'].prepare('UPDATE pages SET url = ? WHERE id = ?').run(url, page);
    named(50, 'http://a.test/guide/files.html?x=/y');
    named(77, 'http://a.test/guide/print/files.html');
    assert.deepEqual(companions(), [77], 'those that have its name in other folders');
    named(50, 'http://a.test/guide/index.html');
    named(77, 'http://a.test/print/index.html');
    assert.deepEqual(companions(), [], 'what is named like its folder');
    ledger.commit();
  });
});
