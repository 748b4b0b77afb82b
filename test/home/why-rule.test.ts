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
    ledger.dueTimes.hasten([{ page: 3 }], NOW - 365 * DAY);
    const before = whyOf(ledger, { page: ledger.pages.get(3)!, known: ledger.pages.known(3)! }, NOW);
    assert.equal(before.rule, 'settled', 'what is not due at all is not brought forward');
    ledger['database'].prepare('UPDATE known SET due = ?').run(NOW + DAY);
    ledger.dueTimes.hasten([{ page: 3 }], NOW - 365 * DAY);
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
    ledger.dueTimes.set(50, NOW + DAY);
    assert.equal(ask().rule, 'freshness');
    assert.match(ask().explanation!.sentence, /the freshness that was asked for requires/);
    ledger.dueTimes.set(50, NOW - 1);
    assert.equal(ask().rule, 'freshness', 'too little is known of the server');
    for (let i = 0; i < 200; i++) ledger.forecasts.add(NOW - DAY, { server: 1, kind: 1, foretold: 0.01 }, false);
    assert.equal(ask().rule, 'kept');
    assert.match(ask().state, /as soon as less of its server/);
    new Schedule(ledger, {}, {}).aim({ share: 0.1 }, NOW);
    ledger.dueTimes.set(50, NOW - 1);
    assert.equal(ask().rule, 'budget');
    ledger.commit();
  });
});
