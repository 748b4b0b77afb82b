import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NearPages } from '../../src/ledger/memory/near.ts';
import { randomly } from '../random.ts';

/** A seeded stream of 32-bit numbers. */
function numbers(seed: number): () => number {
  const random = randomly(seed);
  return () => random.below(2 ** 32);
}

/** The two halves with the bits at these places (0–63) turned over. */
function flip(high: number, low: number, ...places: number[]): [number, number] {
  let h = high;
  let l = low;
  for (const place of places) {
    if (place < 32) l ^= 1 << place;
    else h ^= 1 << (place - 32);
  }
  return [h >>> 0, l >>> 0];
}

test('every difference of up to three bits is found, four are not', () => {
  const near = new NearPages();
  near.add(0xdeadbeef, 0x12345678, 9);
  for (let a = 0; a < 64; a++) {
    for (let b = a; b < 64; b++) {
      for (let c = b; c < 64; c += 5) assert.equal(near.near(...flip(0xdeadbeef, 0x12345678, a, b, c)), 9);
    }
  }
  assert.equal(near.near(...flip(0xdeadbeef, 0x12345678, 0, 1, 2, 3)), 0);
  assert.equal(near.near(...flip(0xdeadbeef, 0x12345678, 0, 20, 40, 60)), 0);
});

test('the distance asked for is kept', () => {
  const near = new NearPages();
  near.add(1, 2, 5);
  assert.equal(near.near(...flip(1, 2, 50), 0), 0);
  assert.equal(near.near(...flip(1, 2, 50), 1), 5);
  assert.equal(near.near(1, 2, 0), 5);
});

test('the nearest of several is returned, and the first of several equal ones', () => {
  const near = new NearPages();
  near.add(...flip(7, 7, 10, 40, 50), 1);
  near.add(...flip(7, 7, 33), 2);
  assert.equal(near.near(7, 7), 2);
  near.add(7, 7, 3);
  near.add(7, 7, 4);
  assert.equal(near.near(7, 7), 3);
  assert.equal(near.size, 3);
});

test('pages without text are like none', () => {
  const near = new NearPages();
  near.add(0, 0, 1);
  assert.equal(near.size, 0);
  assert.equal(near.near(0, 0), 0);
});

test('memory comes with use and stays bounded; the newest pages are found, the oldest forgotten', () => {
  const near = new NearPages();
  assert.equal(near.bytes, 0);
  const next = numbers(3);
  const count = 700_000;
  for (let page = 1; page <= count; page++) near.add(next(), next(), page);
  assert.ok(near.bytes <= 15 * 2 ** 20, `${near.bytes} bytes`);
  assert.equal(near.size, 524_288);
  const again = numbers(3);
  let newest = 0;
  let oldest = 0;
  for (let page = 1; page <= count; page++) {
    const [high, low] = flip(again(), again(), page % 64, (page * 7) % 64);
    if (page > count - 100_000) newest += near.near(high, low) === page ? 1 : 0;
    if (page <= 100_000) oldest += near.near(high, low) === page ? 1 : 0;
  }
  assert.ok(newest > 99_000, `${newest} of the newest`);
  assert.equal(oldest, 0);
});

test('a bucket that overflows keeps the newest', () => {
  const near = new NearPages();
  // All share the top 16 bits, and differ elsewhere in many.
  const next = numbers(5);
  const pages: [number, number][] = [];
  for (let page = 1; page <= 1000; page++) {
    const entry: [number, number] = [((0xabcd << 16) | (next() & 0xffff)) >>> 0, next()];
    pages.push(entry);
    near.add(...entry, page);
  }
  assert.equal(near.near(...pages[999]!), 1000);
  assert.equal(near.near(...pages[0]!), 1); // still in the buckets of the other parts
});
