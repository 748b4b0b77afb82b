import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { DayCounts, daySums } from '../../src/workbench/day-counts.ts';
import { type Look, visitedLedger } from '../ledger/visited.ts';

const sumsOf = (dayCounts: DayCounts, days: number, zone?: string) =>
  daySums([{ dayCounts, told: server => server }], days, zone);
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
  const { days, visits, same, whole } = sumsOf(new DayCounts(ledger), 14);
  assert.deepEqual(sumsOf(bitByBit, 14), { days, visits, same, whole });
  assert.deepEqual([visits, same, whole], [700, looks.filter(look => look.outcome === 'same').length, true]);
  assert.equal(days.length, 26, 'two servers, thirteen days after the first');
  assert.ok(days.every(({ changed, gone, moved }) => changed + gone + moved > 0));
  assert.ok(sumsOf(bitByBit, 3).days.every(({ day }) => day >= today / DAY - 2));

  ledger.begin();
  ledger.visits.add({
    ...{ page: 1, time: today + 2000, outcome: 'gone', reason: 'not-found', status: 404, stage: null, amount: null },
    ...{ up: 1, down: 1, cause: 'error', ms: 1, outpost: 'thread-1' },
    ...{ segment: null, place: null, length: null, request_length: null },
  });
  ledger.commit();
  assert.deepEqual(sumsOf(bitByBit, 14), sumsOf(new DayCounts(ledger), 14));
  assert.equal(sumsOf(bitByBit, 14).visits, 701);
});

test('days are those of the asker: a change just after midnight in Auckland is not of the day before', context => {
  const midnight = Math.floor(Date.now() / DAY) * DAY - 5 * DAY;
  const looks = [
    { page: 1, time: midnight - 2 * DAY, outcome: 'fetched', stage: 'first' },
    // 13:30 in London, and half past midnight or later of the next day in Auckland.
    { page: 1, time: midnight + 13.5 * 3_600_000, outcome: 'fetched', stage: 'text' },
  ] as const;
  const counts = new DayCounts(visitedLedger(context, 1, midnight - 3 * DAY, looks));
  const dayIn = (zone: string) => sumsOf(counts, 14, zone).days.map(({ day }) => day);
  assert.deepEqual(dayIn('UTC'), [midnight / DAY]);
  assert.deepEqual(dayIn('Pacific/Auckland'), [midnight / DAY + 1]);
  assert.deepEqual(dayIn('Asia/Kathmandu'), [midnight / DAY]);
  assert.throws(() => dayIn('Nowhere/Else'), /There is no time zone "Nowhere\/Else"/);
});
