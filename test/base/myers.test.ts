/** Differences of lists: right for any two lists, shortest where it says so, bounded where they differ in everything. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { difference, type EditRun } from '../../src/base/myers.ts';
import { randomly } from '../random.ts';

const apply = (runs: readonly EditRun[], kind: 'removed' | 'added'): string[] =>
  runs.filter(run => run.kind === 'same' || run.kind === kind).flatMap(run => [...run.items]);

const size = (runs: readonly EditRun[]): number =>
  runs.reduce((sum, run) => sum + (run.kind === 'same' ? 0 : run.items.length), 0);

/** The length of the shortest edit, by the textbook's table. */
function shortest(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next[j] = a[i - 1] === b[j - 1] ? row[j - 1]! : 1 + Math.min(row[j]!, next[j - 1]!);
    row = next;
  }
  return row[b.length]!;
}

test('the two lists can be read back from the runs, and no shorter edit exists', () => {
  const random = randomly(5);
  for (let round = 0; round < 500; round++) {
    const list = () => Array.from({ length: random.below(25) }, () => 'abcd'[random.below(4)]!);
    const before = list();
    const after = list();
    const runs = difference(before, after);
    assert.deepEqual(apply(runs, 'removed'), before);
    assert.deepEqual(apply(runs, 'added'), after);
    assert.equal(size(runs), shortest(before, after));
  }
});

test('removed words stand before added ones, and equal neighbours are one run', () => {
  const kinds = difference('the old grey goose'.split(' '), 'the new white goose'.split(' ')).map(run => run.kind);
  assert.deepEqual(kinds, ['same', 'removed', 'added', 'same']);
});

test('lists that differ in everything are called replaced, at bounded cost', () => {
  const before = Array.from({ length: 100_000 }, (_, i) => `a${i}`);
  const after = Array.from({ length: 100_000 }, (_, i) => `b${i}`);
  assert.deepEqual(
    difference(['x', ...before], ['x', ...after], 200).map(run => [run.kind, run.items.length]),
    [
      ['same', 1],
      ['removed', 100_000],
      ['added', 100_000],
    ],
  );
});
