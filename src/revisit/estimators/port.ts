/** What an estimator is, and what the point estimators share. */
import type { ChangeState } from '../state.ts';

export interface Estimator {
  readonly name: string;
  /** True: the gamma posterior (a, b) itself, with its doubt; false: one number, as if it were certain. */
  readonly posterior: boolean;
  /** Changes per day. */
  rate(state: ChangeState): number;
  /** Probability that the page has not changed within `days` of its last visit. */
  survival(state: ChangeState, days: number): number;
}

/** Once a minute: where a page changed at every visit some estimators would say "infinitely often". */
export const MOST_PER_DAY = 1440;

/** An estimator that knows only a rate. Before the first observation it answers with the mean of the prior. */
export function pointEstimator(name: string, estimate: (state: ChangeState) => number): Estimator {
  const rate = (state: ChangeState) =>
    state.visits === 0 ? state.a / state.b : Math.min(MOST_PER_DAY, Math.max(0, estimate(state)));
  return {
    name,
    posterior: false,
    rate,
    survival: (state, days) => Math.exp(-rate(state) * Math.max(0, days)),
  };
}

/** Days observed in all. */
export function observedDays(state: ChangeState): number {
  return state.stillDays + state.changedDays;
}
