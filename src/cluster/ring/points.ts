/** Points of a circle of 2^64: where a key lies, and where the replicas of a peer lie. The same on every machine. */
import { createHash } from 'node:crypto';

const MASK = (1n << 64n) - 1n;

/** Where a key lies: the first 8 bytes of its SHA-256. */
export function pointOf(key: string): bigint {
  return createHash('sha256').update(key).digest().readBigUInt64BE(0);
}

/**
 * The replicas of a peer, drawn from a generator that its name seeds (splitmix64: its whole state is 64 bits wide, so
 * that two names hardly ever share a point). A prefix of the list stays the same when the count grows.
 */
export function replicasOf(name: string, count: number): BigUint64Array {
  const points = new BigUint64Array(count);
  let state = pointOf(name);
  for (let i = 0; i < count; i++) {
    state = (state + 0x9e3779b97f4a7c15n) & MASK;
    let mixed = state;
    mixed = ((mixed ^ (mixed >> 30n)) * 0xbf58476d1ce4e5b9n) & MASK;
    mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & MASK;
    points[i] = mixed ^ (mixed >> 31n);
  }
  return points;
}

/** The shorter way round between two points. */
export function distance(a: bigint, b: bigint): bigint {
  const way = (a - b) & MASK;
  const back = (b - a) & MASK;
  return way < back ? way : back;
}
