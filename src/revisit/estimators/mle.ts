/**
 * Maximum likelihood for irregular visits: the rate r at which the sum of t / (e^(rt) - 1) over intervals t with a
 * change equals the days without one. The record keeps three power sums of the intervals with a change instead of the
 * intervals; two points with weights that have the same sums stand for them (Gauss quadrature), which is exact while
 * those intervals have at most two different lengths, and close otherwise.
 */
import type { ChangeState } from '../state.ts';
import { MOST_PER_DAY, pointEstimator } from './port.ts';

export const mle = pointEstimator('mle', state => {
  if (state.changes === 0) return 0;
  return likeliestRate(changedIntervals(state), state.stillDays);
});

/** An interval in days, and how many there are of it (need not be whole). */
interface CountedInterval {
  readonly days: number;
  readonly count: number;
}

/** 0 without a change; as often as anything can change when there was nothing else. */
export function likeliestRate(changed: readonly CountedInterval[], stillDays: number): number {
  if (changed.length === 0) return 0;
  if (stillDays <= 0) return MOST_PER_DAY;
  const excess = (rate: number) => {
    let sum = 0;
    for (const { days, count } of changed) sum += (count * days) / Math.expm1(rate * days);
    return sum - stillDays;
  };
  let low = 1e-9;
  let high = MOST_PER_DAY;
  // In the logarithm, because rates spread over twelve decades: 64 halvings leave less than 1e-14 of it.
  for (let i = 0; i < 64; i++) {
    const middle = Math.sqrt(low * high);
    if (excess(middle) > 0) low = middle;
    else high = middle;
  }
  return Math.sqrt(low * high);
}

/** Below this share of the squared mean a variance is rounding. */
const ROUNDING = 1e-6;

function changedIntervals(state: ChangeState): CountedInterval[] {
  const count = state.changes;
  const mean = state.changedDays / count;
  const square = state.changedSquares / count;
  const variance = square - mean * mean;
  if (!(variance > ROUNDING * mean * mean)) return [{ days: mean, count }];
  const third = state.changedCubes / count - 3 * mean * square + 2 * mean ** 3;
  const deviation = Math.sqrt(variance);
  const lean = third / (variance * deviation) / 2;
  const reach = Math.sqrt(1 + lean * lean);
  const upper = 0.5 * (1 - lean / reach);
  return [
    { days: mean + deviation * (lean + reach), count: count * upper },
    { days: Math.max(mean * ROUNDING, mean + deviation * (lean - reach)), count: count * (1 - upper) },
  ];
}
