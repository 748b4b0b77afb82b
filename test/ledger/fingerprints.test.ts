import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fingerprints } from '../../src/ledger/memory/fingerprints.ts';
import { randomly } from '../random.ts';

/** A seeded stream of 32-bit numbers. */
function numbers(seed: number): () => number {
  const random = randomly(seed);
  return () => random.below(2 ** 32);
}

test('an empty table knows nothing, and 0 is no id', () => {
  const table = new Fingerprints();
  assert.equal(table.size, 0);
  assert.equal(table.get(0, 1), 0);
  assert.equal(table.get(0xffffffff, 0xffffffff), 0);
});

test('the extremes of both halves are kept apart', () => {
  const table = new Fingerprints();
  const halves = [0, 1, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
  let id = 0;
  for (const high of halves) for (const low of halves) table.set(high, low, ++id);
  assert.equal(table.size, 36);
  id = 0;
  for (const high of halves) for (const low of halves) assert.equal(table.get(high, low), ++id);
});

test('a second set gives another id and no second entry', () => {
  const table = new Fingerprints();
  table.set(5, 6, 1);
  table.set(5, 6, 4_294_967_295);
  assert.equal(table.size, 1);
  assert.equal(table.get(5, 6), 4_294_967_295);
});

test('fingerprints that all want the same slot are found after growth', () => {
  const table = new Fingerprints();
  for (let high = 0; high < 2000; high++) table.set(high, 0xffffffff, high + 1);
  assert.equal(table.size, 2000);
  for (let high = 0; high < 2000; high++) assert.equal(table.get(high, 0xffffffff), high + 1);
  assert.equal(table.get(2000, 0xffffffff), 0);
});

test('many are looked up at once as one by one, however many', () => {
  const table = new Fingerprints();
  const next = numbers(3);
  const pairs = Uint32Array.from({ length: 6000 }, next);
  for (let i = 0; i < 3000; i += 2) table.set(pairs[i * 2]!, pairs[i * 2 + 1]!, i + 1);
  const one = Array.from({ length: 3000 }, (_, i) => table.get(pairs[i * 2]!, pairs[i * 2 + 1]!));
  assert.equal(one.filter(id => id === 0).length, 1500);
  for (const count of [0, 1, 2999, 3000]) assert.deepEqual(Array.from(table.getAll(pairs, count)), one.slice(0, count));
  table.set(pairs[0]!, pairs[1]!, 7);
  table.set(pairs[2]!, pairs[3]!, 8);
  assert.deepEqual(Array.from(table.getAll(pairs, 3)), [7, 8, one[2]]);
  table.set(0, 0, 9);
  assert.deepEqual(Array.from(table.getAll(new Uint32Array(2), 1)), [9]);
});

test('3,000,000 entries: all found, strangers not, and at most 34 bytes each at every size', () => {
  const table = new Fingerprints();
  const sample = new Map<string, number>();
  const next = numbers(7);
  let worst = 0;
  for (let id = 1; id <= 3_000_000; id++) {
    const high = next();
    const low = next();
    table.set(high, low, id);
    if (id % 300 === 0) sample.set(`${high} ${low}`, id);
    if (id >= 10_000 && id % 10_000 === 0) worst = Math.max(worst, table.bytes / table.size);
  }
  assert.equal(table.size, 3_000_000);
  const again = numbers(7);
  let wrong = 0;
  for (let id = 1; id <= 3_000_000; id++) if (table.get(again(), again()) !== id) wrong++;
  assert.equal(wrong, 0);
  for (const [key, id] of sample) {
    const [high, low] = key.split(' ').map(Number);
    assert.equal(table.get(high!, low!), id);
    assert.equal(table.get(high!, (low! ^ 1) >>> 0), 0);
  }
  assert.ok(worst <= 34, `${worst} bytes each`);
});
