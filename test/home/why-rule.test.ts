/** `why` names the rule that decided. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
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
