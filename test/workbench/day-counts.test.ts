import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { DayCounts } from '../../src/workbench/day-counts.ts';
import { type Look, visitedLedger } from '../ledger/visited.ts';

const outcomes = ['fetched', 'same', 'gone', 'fetched', 'moved', 'same', 'failed'] as const;

test('counted bit by bit or at once, and with visits that come meanwhile, the days are the same', context => {
  const today = Math.floor(Date.now() / DAY) * DAY;
  const looks = Array.from({ length: 700 }, (_, index): Look => {
    const round = Math.floor(index / 50);
    const outcome = round === 0 ? 'fetched' : outcomes[(index + round) % 7]!;
    return {
      page: 1 + (index % 50),
      time: today - (13 - round) * DAY + 1000,
      outcome,
      stage: round ? 'text' : 'first',
    };
  });
  const ledger = visitedLedger(context, 50, today - 20 * DAY, looks);
  const bitByBit = new DayCounts(ledger);
  for (let i = 0; i < 20; i++) bitByBit.advance(7);
  const { days, visits, same, whole } = new DayCounts(ledger).of(14);
  assert.deepEqual(bitByBit.of(14), { days, visits, same, whole });
  assert.deepEqual([visits, same, whole], [700, looks.filter(look => look.outcome === 'same').length, true]);
  assert.equal(days.length, 26, 'two servers, thirteen days after the first');
  assert.ok(days.every(({ changed, gone, moved }) => changed + gone + moved > 0));
  assert.ok(bitByBit.of(3).days.every(({ day }) => day >= today / DAY - 2));

  ledger.begin();
  ledger.visits.add({
    ...{ page: 1, time: today + 2000, outcome: 'gone', reason: 'not-found', status: 404, stage: null, amount: null },
    ...{ up: 1, down: 1, cause: 'error', ms: 1, outpost: 'thread-1' },
    ...{ segment: null, place: null, length: null, request_length: null },
  });
  ledger.commit();
  assert.deepEqual(bitByBit.of(14), new DayCounts(ledger).of(14));
  assert.equal(bitByBit.of(14).visits, 701);
});
