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
  /** What it may be, nine times in ten. */
  readonly low: number;
  readonly high: number;
  /** Visits behind it. */
  readonly looks: number;
  readonly aim: number;
  /** Pages that are there, by which it counts beside other partitions. */
  readonly pages: number;
}

const kept = new WeakMap<ReadPartition, PartFreshness & { readonly until: number }>();

export function partFreshness(part: ReadPartition): PartFreshness {
  const began = performance.now();
  const before = kept.get(part);
  if (before && began < before.until) return before;
  const { expected, low, high, looks, aim } = freshnessOf(part.ledger, Date.now());
  const pages = part.ledger.schedule.due.countLive();
  const now = performance.now();
  const found = { expected, low, high, looks, aim, pages, until: now + Math.max(LEAST_KEPT, KEPT * (now - began)) };
  kept.set(part, found);
  return found;
}

/** Of all together: of each as much as it has pages. Its limits are those of partitions that err alike, so rather too wide. */
export function meanFreshness(all: readonly PartFreshness[]): Omit<PartFreshness, 'pages'> {
  const pages = sumOf(all.map(each => each.pages));
  const mean = (of: 'expected' | 'low' | 'high' | 'aim') =>
    pages > 0 ? sumOf(all.map(each => each[of] * each.pages)) / pages : (all[0]?.[of] ?? 0);
  const looks = sumOf(all.map(each => each.looks));
  return { expected: mean('expected'), low: mean('low'), high: mean('high'), looks, aim: mean('aim') };
}
