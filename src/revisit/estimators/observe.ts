/** Records what a visit saw, for every estimator at once. The only place that makes a changed state. */
import type { ChangeState, Observation } from '../state.ts';
import { adaptWait } from './adaptive.ts';
import { type GammaMemory, MEMORY, observeGamma } from './gamma.ts';

/** Negative intervals (a clock that was set back) count as none. */
export function observe(state: ChangeState, observation: Observation, memory: GammaMemory = MEMORY): ChangeState {
  const seen = checked(observation.withOthers ? { days: observation.days, changed: false } : observation);
  const { days, changed } = seen;
  const belief = observeGamma(state, seen, memory);
  // Nutch takes the time of the visit for that of the change when the server gives none.
  const age = changed ? (seen.lastChangeAge ?? 0) : state.age + days;
  const counted = changed ? 1 : 0;
  const changedDays = counted * days;
  return {
    a: belief.a,
    b: belief.b,
    visits: state.visits + 1,
    changes: state.changes + counted,
    history: ((state.history << 1) | (observation.changed ? 1 : 0)) >>> 0,
    stillDays: state.stillDays + days - changedDays,
    changedDays: state.changedDays + changedDays,
    changedSquares: state.changedSquares + changedDays * days,
    changedCubes: state.changedCubes + changedDays * days * days,
    quietDays: state.quietDays + (changed ? (seen.lastChangeAge ?? days / 2) : days),
    wait: adaptWait(state.wait, changed, age),
    age,
  };
}

/** A date of change outside the interval contradicts the visit and is dropped; a journal's count decides `changed`. */
function checked({ days, changed, lastChangeAge, changes }: Observation): Observation {
  const interval = days > 0 ? days : 0;
  if (changes !== undefined) return { days: interval, changed: changes > 0, changes };
  if (changed && lastChangeAge !== undefined && lastChangeAge >= 0 && lastChangeAge < interval)
    return { days: interval, changed, lastChangeAge };
  return { days: interval, changed };
}
