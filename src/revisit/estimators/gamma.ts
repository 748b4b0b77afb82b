/**
 * The default estimator: the rate is a gamma distribution, shape a and scale b (days), corrected after every visit by
 * matching the mean and variance of the exact posterior. It takes intervals of any length, knows how sure it is, and
 * never says "never" or "always" after three visits, as the point estimators do.
 */

import type { Observation, Prior } from '../state.ts';
import { PRIOR } from '../state.ts';
import type { Estimator } from './port.ts';

export const gamma: Estimator = {
  name: 'gamma',
  posterior: true,
  rate: state => state.a / state.b,
  survival: (state, days) => Math.exp(-state.a * Math.log1p(Math.max(0, days) / state.b)),
};

/**
 * How much of the past counts. Without caps a page that was quiet for years would need years to be believed again.
 * 90 days instead of 180 pays where pages are visited at least every ten days.
 */
export interface Memory {
  /** Changes. */
  readonly shape: number;
  readonly days: number;
}

export const MEMORY: Memory = { shape: 8, days: 180 };
const LEAST_SHAPE = 0.05;
/** Below this share of the scale an interval with a change is a change at a point in time. */
const INSTANT = 1e-6;

export function observeGamma(belief: Prior, seen: Observation, memory: Memory = MEMORY): Prior {
  return forget(seen.changed ? afterChange(belief, seen) : { a: belief.a, b: belief.b + seen.days }, memory);
}

function afterChange({ a, b }: Prior, { days, changes, lastChangeAge }: Observation): Prior {
  if (changes !== undefined) return { a: a + changes, b: b + days };
  if (lastChangeAge !== undefined) return { a: a + 1, b: b + lastChangeAge };
  if (days < b * INSTANT) return { a: a + 1, b };
  const log = Math.log1p(days / b);
  const changed = -Math.expm1(-a * log);
  const mean = ((a / b) * -Math.expm1(-(a + 1) * log)) / changed;
  const square = ((a * (a + 1)) / (b * b)) * (-Math.expm1(-(a + 2) * log) / changed);
  const variance = square - mean * mean;
  return { a: (mean * mean) / variance, b: mean / variance };
}

function forget({ a, b }: Prior, memory: Memory): Prior {
  if (a > memory.shape) {
    b *= memory.shape / a;
    a = memory.shape;
  }
  if (b > memory.days) {
    a = Math.max(LEAST_SHAPE, (a * memory.days) / b);
    b = memory.days;
  }
  return { a, b };
}

/** Pages of a server that must have been observed before they say anything about a new page there. */
const ENOUGH_PAGES = 30;

/** What to believe of a new page on a server whose observed pages have these sums of a and b. */
export function serverPrior(pages: number, sumA: number, sumB: number): Prior {
  if (pages < ENOUGH_PAGES || !(sumA > 0) || !(sumB > 0)) return PRIOR;
  return { a: PRIOR.a, b: (PRIOR.a * sumB) / sumA };
}
