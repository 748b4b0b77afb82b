import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { notDue } from '../../src/home/answers/savings.ts';
import { visitedLedger, wireOf } from '../ledger/visited.ts';

test('pages that were known and not asked for count on every day with visits, and on no other', context => {
  const ledger = visitedLedger(context, 4, 10 * DAY, [
    { page: 1, time: 10.5 * DAY, outcome: 'fetched' }, // the day on which all were found
    { page: 2, time: 12.1 * DAY, outcome: 'same' },
    { page: 2, time: 12.9 * DAY, outcome: 'fetched' },
    { page: 3, time: 14.2 * DAY, outcome: 'fetched' },
  ]);
  const of = (day: number, pages: number[]) => ({
    day,
    avoided: pages.reduce((sum, page) => sum + wireOf(page), 0),
  });
  const sums = (first: number) => {
    const days = new Map<number, number>();
    for (const { day, avoided } of notDue(ledger, first, 100)) days.set(day, (days.get(day) ?? 0) + avoided);
    return [...days].sort(([a], [b]) => a - b).map(([day, avoided]) => ({ day, avoided }));
  };
  assert.deepEqual(sums(0), [of(12, [1, 3, 4]), of(14, [1, 2, 4])]);
  assert.deepEqual(sums(13), [of(14, [1, 2, 4])]);
});

test('in a large collection a part of the pages stands for all, on every server', context => {
  const ledger = visitedLedger(
    context,
    2000,
    10 * DAY,
    Array.from({ length: 500 }, (_, index) => ({ page: 1 + index, time: 12.5 * DAY, outcome: 'same' as const })),
  );
  const whole = notDue(ledger, 0, 2000);
  const part = notDue(ledger, 0, 200);
  assert.deepEqual([whole.length, part.length], [2, 2]);
  for (const { server, avoided } of whole) {
    const told = part.find(row => row.server === server)!.avoided;
    assert.ok(Math.abs(told / avoided - 1) < 0.05, `${told} for ${avoided}`);
  }
});
