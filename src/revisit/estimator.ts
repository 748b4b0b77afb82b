/**
 * The port behind which a page's change rate is estimated, and the list of estimators by name. Estimators read the
 * shared record of state.ts and keep nothing of their own; estimators/observe.ts writes it. Rates are changes per day.
 */
import { named } from '../base/named.ts';
import { adaptive } from './estimators/adaptive.ts';
import { existence } from './estimators/existence.ts';
import { gamma } from './estimators/gamma.ts';
import { lastDate } from './estimators/last-date.ts';
import { mle } from './estimators/mle.ts';
import { naive } from './estimators/naive.ts';
import type { Estimator } from './estimators/port.ts';
import type { ChangeState } from './state.ts';

export type { Estimator } from './estimators/port.ts';

export const estimators: Readonly<Record<string, Estimator>> = {
  gamma,
  naive,
  existence,
  'last-date': lastDate,
  mle,
  adaptive,
};

export function estimatorNamed(name: string): Estimator {
  return named('estimator', estimators, name);
}

export interface Confidence {
  /** Nine times in ten the rate per day lies between these. */
  readonly low: number;
  readonly high: number;
  /** How sure that makes a forecast for the coming week. */
  readonly word: 'unknown' | 'weak' | 'fair' | 'good';
}

/** 95% point of the normal distribution: 5% are left out on each side. */
const EDGE = 1.6449;

/**
 * From the gamma posterior, whichever estimator is in use: it is the only one that knows how sure it is. The quantiles
 * are Wilson and Hilferty's cube, good to a few per cent of the rate for shapes above 0.3.
 */
export function confidence(state: ChangeState): Confidence {
  const quantile = (edge: number) => {
    const root = 1 - 1 / (9 * state.a) + edge / (3 * Math.sqrt(state.a));
    return (Math.max(0, root) ** 3 * state.a) / state.b;
  };
  const low = quantile(-EDGE);
  const high = quantile(EDGE);
  if (state.visits === 0) return { low, high, word: 'unknown' };
  const spread = Math.exp(-low * 7) - Math.exp(-high * 7);
  return { low, high, word: spread < 0.15 ? 'good' : spread < 0.4 ? 'fair' : 'weak' };
}
