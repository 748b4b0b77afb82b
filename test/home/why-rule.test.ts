/** `why` names the rule that decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { whyOf } from '../../src/home/answers/why.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';

test('a page that is looked at because one like it changed says so, and not that it was due for a year', () => {
  withLedger(10, ledger => {
    ledger.begin();
    ledger.schedule.due.hasten([{ page: 3 }], NOW - 365 * DAY);
    const before = whyOf(ledger, { page: ledger.pages.get(3)!, known: ledger.pages.known(3)! }, NOW);
    assert.equal(before.rule, 'settled', 'what is not due at all is not brought forward');
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW + DAY);
    ledger.schedule.due.hasten([{ page: 3 }], NOW - 365 * DAY);
    ledger.commit();
    const { rule, state, explanation } = whyOf(
      ledger,
      { page: ledger.pages.get(3)!, known: ledger.pages.known(3)! },
      NOW,
    );
    assert.equal(rule, 'suspected');
    assert.match(state, /a similar page changed unexpectedly/);
    assert.ok(!explanation!.sentence.includes('year'), explanation!.sentence);
  });
});

test('where a freshness is to be kept, that decides and no budget; where it is kept, so does that', () => {
  withLedger(100, ledger => {
    ledger.begin();
    new Schedule(ledger, {}, {}).aim({ freshness: 0.9 }, NOW);
    const ask = () => whyOf(ledger, { page: ledger.pages.get(50)!, known: ledger.pages.known(50)! }, NOW);
    ledger.schedule.due.set(50, NOW + DAY);
    assert.equal(ask().rule, 'freshness');
    assert.match(ask().explanation!.sentence, /the aim takes checks that gain/);
    ledger.schedule.due.set(50, NOW - 1);
    assert.equal(ask().rule, 'freshness', 'too little is known of the server');
    for (let i = 0; i < 200; i++)
      ledger.schedule.forecasts.add(NOW - DAY, { server: 1, kind: 1, foretold: 0.01 }, false);
    assert.equal(ask().rule, 'kept');
    assert.match(ask().state, /as soon as less of its server/);
    new Schedule(ledger, {}, {}).aim({ share: 0.1 }, NOW);
    ledger.schedule.due.set(50, NOW - 1);
    assert.equal(ask().rule, 'budget');
    ledger.commit();
  });
});

test('a rule of the user’s decides before the schedule does', () => {
  withLedger(10, ledger => {
    ledger.begin();
    new Schedule(ledger).aim({ share: 0.1 }, NOW);
    ledger.schedule.due.set(4, NOW + 5 * DAY);
    ledger.settings.set('every', ['/3 25h']);
    ledger.commit();
    const { rule, state } = whyOf(ledger, { page: ledger.pages.get(4)!, known: ledger.pages.known(4)! }, NOW);
    assert.equal(rule, 'timed', state);
    assert.match(state, /Next check in 1 hour, set by your rule "\/3 25h"/);
  });
});

test('what a site names is looked at though enough of it is expected to be fresh', () => {
  withLedger(100, ledger => {
    ledger.begin();
    const schedule = new Schedule(ledger, {}, {});
    schedule.aim({ freshness: 0.9 }, NOW);
    for (let i = 0; i < 200; i++)
      ledger.schedule.forecasts.add(NOW - DAY, { server: 1, kind: 1, foretold: 0.01 }, false);
    ledger.schedule.due.set(50, NOW - 1);
    const ask = () => whyOf(ledger, { page: ledger.pages.get(50)!, known: ledger.pages.known(50)! }, NOW);
    assert.equal(ask().rule, 'kept');
    schedule.ping(50, NOW);
    assert.equal(ask().rule, 'notice');
    assert.match(ask().state, /Next check: now, moved forward because the site told us of a change/);
    ledger.commit();
  });
});

test('a part of a server that its wave leaves alone is not said to be in it', () => {
  withLedger(100, ledger => {
    ledger.begin();
    new Schedule(ledger).aim({ share: 0.1 }, NOW);
    const server = ledger.servers.byId(1);
    server.wave = NOW - DAY / 2;
    ledger.servers.touch(server);
    ledger.schedule.due.set(50, NOW - 1);
    const ask = () => whyOf(ledger, { page: ledger.pages.get(50)!, known: ledger.pages.known(50)! }, NOW);
    assert.equal(ask().rule, 'wave');
    const saved = [{ server: 1, wave: server.wave, parts: [[' 0 0', 30, 0]] }];
    ledger.settings.set('running-waves', saved);
    assert.equal(ask().rule, 'budget');
    ledger.commit();
  });
});

test('a stored page that could not be fetched waits by a rule of its own, and a wave makes a change likely', () => {
  withLedger(10, ledger => {
    ledger.begin();
    new Schedule(ledger).aim({ share: 0.1 }, NOW);
    const ask = (more: object) =>
      whyOf(ledger, { page: ledger.pages.get(3)!, known: { ...ledger.pages.known(3)!, ...more } }, NOW);
    const barred = ask({ outcome: 'refused', reason: 'robots', due: NOW + DAY });
    assert.equal(barred.rule, 'failed');
    assert.match(barred.state, /once robots.txt allows that\. Next check in 1 day: a stored page/);
    assert.equal(barred.explanation, undefined);
    const before = ask({}).explanation!.changedByNow;
    ledger.servers.byId(1).wave = NOW - DAY / 2;
    ledger.servers.touch(ledger.servers.byId(1));
    assert.ok(ask({}).explanation!.changedByNow > before + 0.2);
    ledger.commit();
  });
});
