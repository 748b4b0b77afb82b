/**
 * Apache Nutch's adaptive schedule: a change shortens the wait by a fifth, its absence lengthens it by two fifths, and
 * a wait shorter than the age of the last change is raised to that age. It is a schedule rather than an estimate; as
 * an estimator it says one change per wait.
 */
import { pointEstimator } from './port.ts';

export const adaptive = pointEstimator('adaptive', state => 1 / state.wait);

const SHORTER = 0.8;
const LONGER = 1.4;
/** Days: a minute, a year. */
const LEAST_WAIT = 1 / 1440;
const MOST_WAIT = 365;

/** Share of the age of the last change by which the next visit is drawn forward, towards the time of that change. */
export const DRAWN_FORWARD = 0.3;

/** The next wait in days; `age` is that of the last change, at this visit. */
export function adaptWait(wait: number, changed: boolean, age: number): number {
  const next = Math.max(age, wait * (changed ? SHORTER : LONGER));
  return Math.min(MOST_WAIT, Math.max(LEAST_WAIT, next));
}
