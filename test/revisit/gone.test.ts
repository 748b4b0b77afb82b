import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasons } from '../../src/errand/reasons.ts';
import { RECHECKS, whenMissing } from '../../src/revisit/gone.ts';

test('a 404 is asked for again after 1, 3 and 9 days, then becomes a tombstone', () => {
  const verdicts = [0, 1, 2, 3, 4].map(misses => whenMissing('http-404', misses, 90));
  assert.deepEqual(
    verdicts.map(verdict => verdict.after),
    [1, 3, 9, 90, 90],
  );
  assert.deepEqual(
    verdicts.map(verdict => verdict.tombstone),
    [false, false, false, true, true],
  );
  assert.deepEqual(whenMissing('soft-404', 0, 90), { tombstone: false, after: 1 });
});

test('a 410 is a tombstone at once', () => {
  assert.deepEqual(whenMissing('http-410', 0, 60), { tombstone: true, after: 60 });
});

test('the table of reasons leaves missing pages to these rules', () => {
  assert.equal(RECHECKS.length, 3);
  for (const reason of ['http-404', 'http-410', 'soft-404'] as const) assert.equal(reasons[reason].retries, 0);
});
