import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isShared } from '../../src/judge/review.ts';

test('an edit is told when five pages show it, and one in a hundred of a large server', () => {
  assert.deepEqual(
    [4, 5].map(edited => isShared(edited, 20)),
    [false, true],
  );
  assert.deepEqual(
    [9, 10].map(edited => isShared(edited, 1000)),
    [false, true],
  );
});
