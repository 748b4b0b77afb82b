/**
 * Cho and Garcia-Molina: only whether the page changed is known, and visits are regular. With irregular visits, which
 * every adaptive policy makes, it is badly low (0.70 of the truth); the papers' policies use it by default.
 */
import { observedDays, pointEstimator } from './port.ts';

export const existence = pointEstimator('existence', state =>
  existenceRate(state.visits, state.changes, observedDays(state) / state.visits),
);

/** Rate per day after `visits` at intervals of `days`, of which `changes` found a change. */
export function existenceRate(visits: number, changes: number, days: number): number {
  return -Math.log((visits - changes + 0.5) / (visits + 0.5)) / Math.max(days, Number.MIN_VALUE);
}
