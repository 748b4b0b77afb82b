/** Visits that brought no page: when each kind is followed by another look. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { dueWithout } from '../../src/frontier/schedule/due-after-failure.ts';
import type { KnownRow } from '../../src/ledger/pages/known-row.ts';

const NOW = 1_000 * DAY;

/** Days until the next look; null = none by the schedule. */
function days(seen: Pick<Visit, 'outcome' | 'reason'>, before?: Partial<KnownRow>): number | null {
  const due = dueWithout({ ...seen, time: NOW } as Visit, before as KnownRow | undefined);
  return due === null ? null : (due - NOW) / DAY;
}

const stored = { outcome: 'fetched', seen_time: NOW - DAY, segment: 1, tries: 0 } as const;
const missing = { outcome: 'gone', reason: 'http-404' } as const;
const failed = { outcome: 'failed', reason: 'reset' } as const;
const refused = { outcome: 'refused', reason: 'robots' } as const;

test('a page that was there is asked for again soon, then ever later; a dead link as seldom as a tombstone', () => {
  assert.equal(days(missing, stored), 1);
  assert.deepEqual(
    [1, 2, 3].map(tries => days(missing, { ...stored, outcome: 'gone', tries })),
    [3, 9, 90],
  );
  assert.equal(days(missing), 90);
  assert.equal(days({ outcome: 'gone', reason: 'http-410' }, stored), 90);
});

test('an alias is looked at once a month', () => {
  assert.equal(days({ outcome: 'moved', reason: 'redirect' }, stored), 30);
});

test('what was never stored is left to the retries', () => {
  assert.equal(days(failed, { ...stored, segment: null }), null);
  assert.equal(days(refused), null);
});

test('a stored page that fails is left to the retries, and after the last of them comes back with growing pauses', () => {
  assert.equal(days(failed, { ...stored, tries: 2 }), null);
  assert.deepEqual(
    [3, 4, 9].map(tries => days(failed, { ...stored, tries })),
    [8, 16, 30],
  );
  assert.equal(days(refused, stored), 1);
});
