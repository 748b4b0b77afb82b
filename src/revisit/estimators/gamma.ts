/**
 * The default estimator: the rate is a gamma distribution, shape a and scale b (days), corrected after every visit by
 * matching the mean and variance of the exact posterior. It takes intervals of any length, knows how sure it is, and
 * never says "never" or "always" after three visits, as the point estimators do.
 */

import { type ChangeState, type Observation, PRIOR, type Prior } from '../state.ts';
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
export interface GammaMemory {
  /** Changes. */
  readonly shape: number;
  readonly days: number;
}

export const MEMORY: GammaMemory = { shape: 8, days: 180 };
const LEAST_SHAPE = 0.05;
/** Below this share of the scale an interval with a change is a change at a point in time. */
const INSTANT = 1e-6;

export function observeGamma(belief: Prior, seen: Observation, memory: GammaMemory = MEMORY): Prior {
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

function forget({ a, b }: Prior, memory: GammaMemory): Prior {
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

/** What the pages of a server have shown together. */
export interface GammaShown {
  readonly changes: number;
  /** Days over which they were watched: whole intervals without a change, half of those with one. */
  readonly days: number;
}

export const NOTHING_SHOWN: GammaShown = { changes: 0, days: 0 };

/** `times` -1 takes it away again. */
export function showing(
  shown: GammaShown,
  { changes, stillDays, changedDays }: ChangeState,
  times: 1 | -1 = 1,
): GammaShown {
  return { changes: shown.changes + times * changes, days: shown.days + times * (stillDays + changedDays / 2) };
}

/** What to believe of a page before it ever changed: what its neighbours do, and a guess that counts as one page. */
export function priorBelow(guess: Prior, { changes, days }: GammaShown): Prior {
  return { a: PRIOR.a, b: (PRIOR.a * (guess.b + Math.max(0, days))) / (guess.a + Math.max(0, changes)) };
}

/**
 * A state in the light of what its server's pages have shown since. Of a page that never changed all that is known is
 * how long it did not, so the belief can be made anew, exactly, and what was guessed before anything was known does not
 * stay with it for months: on the recorded sites that made expected freshness come true (0.95-0.97 where it had said
 * 0.77-0.90), and what is expected decides how much a wanted freshness costs. Under a budget it takes looks from folders
 * that never change; that all of a server may change at once is what lots and waves are for.
 */
export function believed(state: ChangeState, prior: Prior, memory: GammaMemory = MEMORY): ChangeState {
  if (state.changes > 0) return state;
  return { ...state, ...forget({ a: prior.a, b: prior.b + state.stillDays }, memory) };
}
