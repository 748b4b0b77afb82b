/** The schedule over a ledger: budgets and freshness that are kept, politeness that binds, state that survives. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { newState, packState, unpackState } from '../../src/revisit/state.ts';
import { NOW, withLedger } from './known-ledger.ts';

test('a share of the pages is what falls due in a day, whatever their rates', () => {
  withLedger(200, ledger => {
    for (const share of [0.05, 0.2, 0.5]) {
      const schedule = new Schedule(ledger);
      ledger.begin();
      schedule.aim({ share }, NOW);
      ledger.commit();
      assert.ok(Math.abs(schedule.visitsPerDay - share * 200) < 1, `${schedule.visitsPerDay} for ${share}`);
    }
  });
});

test('what is expected to be fresh: all right after a visit, then less and less', () => {
  withLedger(1, ledger => {
    const schedule = new Schedule(ledger);
    assert.equal(schedule.freshness(NOW - DAY).expected, 1);
    // The page's belief is a = 2, b = 4 days, so that after 4 days (4 / 8)² of the probability is left.
    assert.ok(Math.abs(schedule.freshness(NOW + 3 * DAY).expected - 0.25) < 0.1);
  });
});

test('a freshness asked for is expected, and more freshness costs more visits', () => {
  withLedger(200, ledger => {
    const visits = [0.7, 0.9, 0.97].map(freshness => {
      const schedule = new Schedule(ledger);
      ledger.begin();
      schedule.aim({ freshness }, NOW);
      ledger.commit();
      assert.ok(schedule.balance.freshness >= freshness - 0.001);
      return schedule.visitsPerDay;
    });
    assert.deepEqual(
      visits,
      visits.toSorted((a, b) => a - b),
    );
  });
});

test('a freshness is aimed at lower where the last days exceeded it, and higher where they fell short', () => {
  withLedger(200, ledger => {
    ledger.begin();
    const visits = [0.8, 0.9, 0.99].map(shown => {
      ledger.settings.set('freshness', { [Math.floor(NOW / DAY) - 1]: shown });
      const schedule = new Schedule(ledger);
      schedule.aim({ freshness: 0.9 }, NOW);
      schedule.reschedule(NOW);
      return schedule.visitsPerDay;
    });
    ledger.commit();
    assert.ok(visits[0]! > visits[1]! * 1.2 && visits[2]! < visits[1]! * 0.8, `${visits}`);
  });
});

test('a page that never changed is believed to do what its server and folder do, under every aim', () => {
  withLedger(100, ledger => {
    ledger.begin();
    // The general guess of one change in ten days, and ten quiet days since; only ten of the pages ever changed.
    const quiet = packState({ ...newState(), a: 0.3, b: 13, visits: 5, stillDays: 10 });
    const put = ledger['database'].prepare('UPDATE known SET change = ? WHERE page > 10');
    put.run(quiet);
    const schedule = new Schedule(ledger);
    const rate = () => schedule.plan.estimator.rate(unpackState(ledger.pages.known(50)!.change!));
    const guessed = rate();
    schedule.aim({ share: 0.1 }, NOW);
    assert.ok(rate() < guessed / 2, `${rate()} after ${guessed}`);
    const learned = rate();
    schedule.aim({ freshness: 0.9 }, NOW);
    assert.ok(Math.abs(rate() - learned) < 1e-6, 'to compute it again changes nothing');
    ledger.commit();
  });
});

test('what was asked for is remembered by the next run', () => {
  withLedger(50, ledger => {
    ledger.begin();
    new Schedule(ledger).aim({ bytes: 5_000_000 }, NOW);
    ledger.commit();
    const again = new Schedule(ledger);
    assert.equal(again.settings.bytes, 5_000_000);
    assert.equal(again.settings.share, undefined);
    assert.ok(again.visitsPerDay > 0);
  });
});

test('a server that politeness keeps behind gets a threshold of its own; the others’ stays', () => {
  withLedger(200, ledger => {
    ledger.begin();
    const schedule = new Schedule(ledger, {}, { continuous: true });
    schedule.aim({ share: 0.5 }, NOW);
    const server = ledger.servers.byId(1);
    const visit: Visit = {
      ...{ url: 'http://a.test/1', time: NOW + 5 * DAY, outcome: 'same', reason: 'unchanged', status: 200, depth: 1 },
      ...{ retryAfter: 0, cost: { up: 1, down: 1, cause: 'page', ms: 1 } },
    };
    const learn = () =>
      schedule.after({ id: 1, visit, before: { ...ledger.pages.known(1)!, due: NOW }, server, pages: 200 });
    const ofAll = () => schedule.termsFor(1, undefined, { visit: 1, change: 0 }).theta;
    const theta = ofAll();
    server.crawlDelay = DAY / 50; // fifty slots a day for a hundred visits
    learn();
    assert.ok(server.multiplier > 1);
    assert.equal(ofAll(), theta);
    server.multiplier = 1;
    server.crawlDelay = 0;
    learn();
    assert.equal(server.multiplier, 1);
    assert.ok(ofAll() > theta);
    ledger.commit();
  });
});

test('a watch looks at pages that are known to change within their own rhythm, where the budget allows it', () => {
  withLedger(200, ledger => {
    // One changes four times a day, which freshness alone would not run after.
    const fast = packState({ ...newState(), a: 8, b: 2, visits: 20, changes: 18 });
    ledger.begin();
    ledger['database'].prepare('UPDATE known SET change = ? WHERE page = 7').run(fast);
    const wait = (continuous: boolean, share: number) => {
      const schedule = new Schedule(ledger, {}, { continuous });
      schedule.aim({ share }, NOW);
      schedule.reschedule(NOW);
      const { due, seen_time } = ledger.pages.known(7)!;
      return (due! - seen_time!) / DAY;
    };
    assert.ok(wait(false, 0.1) > 0.3);
    assert.ok(Math.abs(wait(true, 0.1) - 0.25) < 1e-6);
    assert.ok(wait(true, 0.01) > 0.3, 'two visits a day are too few for it');
    ledger.commit();
  });
});

test('a second look, moments after the first, says nothing of how often a page changes', () => {
  withLedger(50, ledger => {
    ledger.begin();
    const schedule = new Schedule(ledger);
    const server = ledger.servers.byId(1);
    const before = { ...ledger.pages.known(1)!, seen_time: NOW - 3000 };
    const visit: Visit = {
      ...{ url: 'http://a.test/1', time: NOW, outcome: 'same', reason: 'unchanged', status: 200, depth: 1 },
      ...{ retryAfter: 0, cost: { up: 1, down: 1, cause: 'page', ms: 1 } },
    };
    const { change } = schedule.after({ id: 1, visit, before, server, pages: 50, second: true });
    const { visits, history } = unpackState(change!);
    assert.deepEqual({ visits, history }, { visits: unpackState(before.change!).visits, history: 0 });
    assert.equal(ledger.schedule.forecasts.ofServer(server.id, 0).looks, 0, 'nor of whether forecasts come true');
    ledger.commit();
  });
});

test('a round that looked at some pages just after a crawl says nothing for sure of the others', () => {
  withLedger(100, ledger => {
    ledger.begin();
    const schedule = new Schedule(ledger);
    schedule.aim({ share: 0.1 }, NOW);
    ledger['database'].prepare('UPDATE known SET seen_time = ?').run(NOW - 60_000);
    for (let i = 0; i < 10; i++) ledger.schedule.forecasts.add(NOW, { server: 1, kind: 0, foretold: 0.01 }, i < 2);
    ledger.settings.set('refreshed', NOW - 30_000);
    const { low, expected } = schedule.freshness(NOW);
    assert.ok(expected < 0.99 && low < 0.9, `${expected} ${low}: two of ten had changed`);
    ledger.commit();
  });
});
