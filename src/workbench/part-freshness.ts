/**
 * How fresh a partition is, kept for a while: counting takes longer the larger its ledger is, and at most a fiftieth of the
 * time of whoever asks often.
 */
import { freshnessOf } from '../home/answers/why.ts';
import { sumOf } from '../questions/question.ts';
import type { ReadPartition } from './reader.ts';

/** Milliseconds. */
const LEAST_KEPT = 10_000;
const KEPT = 50;

interface PartFreshness {
  readonly expected: number;
  readonly aim: number;
  /** Pages that are there, by which it counts beside other partitions. */
  readonly pages: number;
}

const kept = new WeakMap<ReadPartition, PartFreshness & { readonly until: number }>();

export function partFreshness(part: ReadPartition): PartFreshness {
  const began = performance.now();
  const before = kept.get(part);
  if (before && began < before.until) return before;
  const { expected, aim } = freshnessOf(part.ledger, Date.now());
  const pages = part.ledger.dueTimes.countLive();
  const now = performance.now();
  const found = { expected, aim, pages, until: now + Math.max(LEAST_KEPT, KEPT * (now - began)) };
  kept.set(part, found);
  return found;
}

/** Of all together: of each as much as it has pages. */
export function meanFreshness(all: readonly PartFreshness[]): { expected: number; aim: number } {
  const pages = sumOf(all.map(each => each.pages));
  const mean = (of: 'expected' | 'aim') =>
    pages > 0 ? sumOf(all.map(each => each[of] * each.pages)) / pages : (all[0]?.[of] ?? 0);
  return { expected: mean('expected'), aim: mean('aim') };
}
