/**
 * What is remembered of a page's changes: one record that serves every estimator, so that a user may choose another
 * estimator at any time without losing what was learned. Twelve 32-bit lanes, 48 bytes packed; the ledger keeps one per
 * page.
 *
 * Invariant: visits counts observations, not fetches. The first fetch of a page observes nothing (there is nothing to
 * compare it with), nor does a failed visit or a 404.
 */
import { SkeinError } from '../base/errors.ts';

export const STATE_BYTES = 48;
/** Visits that the history keeps, newest in the lowest bit. */
export const HISTORY_VISITS = 32;

export interface ChangeState {
  /** Gamma posterior of the change rate: shape, and scale in days. The mean rate is a / b per day. */
  readonly a: number;
  readonly b: number;
  readonly visits: number;
  /** Visits that found a change of its own. */
  readonly changes: number;
  /** One bit per visit, 1 = changed, newest lowest. */
  readonly history: number;
  /** Days in intervals that ended without a change. */
  readonly stillDays: number;
  /** Sums of the first three powers of the intervals that ended with a change, in days. */
  readonly changedDays: number;
  readonly changedSquares: number;
  readonly changedCubes: number;
  /** Days known to be free of changes before each visit: the age of the last change, or the whole interval. */
  readonly quietDays: number;
  /** Days to wait in the adaptive schedule. */
  readonly wait: number;
  /** Days from the last known change to the last visit. */
  readonly age: number;
}

/** Shape and scale (days) of the belief about a page that was never observed. */
export interface Prior {
  readonly a: number;
  readonly b: number;
}

/** About one change in ten days, but hardly more than a guess. */
export const PRIOR: Prior = { a: 0.3, b: 3 };
/** Days before the first revisit in the adaptive schedule. */
const FIRST_WAIT = 30;

/** What one visit saw. */
export interface Observation {
  /** Days since the visit before. */
  readonly days: number;
  readonly changed: boolean;
  /** Days since the last change, when the server's word for it is trusted. */
  readonly lastChangeAge?: number;
  /** Number of changes within `days`, when a journal tells. */
  readonly changes?: number;
  /** It changed with its server, not by itself: nothing but the history says so. */
  readonly withOthers?: boolean;
}

export function newState(prior: Prior = PRIOR): ChangeState {
  return {
    a: prior.a,
    b: prior.b,
    visits: 0,
    changes: 0,
    history: 0,
    stillDays: 0,
    changedDays: 0,
    changedSquares: 0,
    changedCubes: 0,
    quietDays: 0,
    wait: FIRST_WAIT,
    age: 0,
  };
}

/** `1101101`: the last visits, oldest first; empty for a page that was only fetched once. */
export function historyOf(state: ChangeState): string {
  const known = Math.min(state.visits, HISTORY_VISITS);
  if (known === 0) return '';
  return state.history.toString(2).padStart(HISTORY_VISITS, '0').slice(-known);
}

/** Writes a state into a table of states; the lanes are 32 bits, little-endian. */
export function packInto(state: ChangeState, view: DataView, offset: number): void {
  view.setFloat32(offset, state.a, true);
  view.setFloat32(offset + 4, state.b, true);
  view.setUint32(offset + 8, state.visits, true);
  view.setUint32(offset + 12, state.changes, true);
  view.setUint32(offset + 16, state.history, true);
  view.setFloat32(offset + 20, state.stillDays, true);
  view.setFloat32(offset + 24, state.changedDays, true);
  view.setFloat32(offset + 28, state.changedSquares, true);
  view.setFloat32(offset + 32, state.changedCubes, true);
  view.setFloat32(offset + 36, state.quietDays, true);
  view.setFloat32(offset + 40, state.wait, true);
  view.setFloat32(offset + 44, state.age, true);
}

export function unpackFrom(view: DataView, offset: number): ChangeState {
  return {
    a: view.getFloat32(offset, true),
    b: view.getFloat32(offset + 4, true),
    visits: view.getUint32(offset + 8, true),
    changes: view.getUint32(offset + 12, true),
    history: view.getUint32(offset + 16, true),
    stillDays: view.getFloat32(offset + 20, true),
    changedDays: view.getFloat32(offset + 24, true),
    changedSquares: view.getFloat32(offset + 28, true),
    changedCubes: view.getFloat32(offset + 32, true),
    quietDays: view.getFloat32(offset + 36, true),
    wait: view.getFloat32(offset + 40, true),
    age: view.getFloat32(offset + 44, true),
  };
}

export function packState(state: ChangeState): Uint8Array {
  const bytes = new Uint8Array(STATE_BYTES);
  packInto(state, new DataView(bytes.buffer), 0);
  return bytes;
}

export function unpackState(bytes: Uint8Array): ChangeState {
  if (bytes.byteLength !== STATE_BYTES)
    throw new SkeinError('damaged', `a page's change record has ${bytes.byteLength} bytes, not ${STATE_BYTES}`);
  const state = unpackFrom(new DataView(bytes.buffer, bytes.byteOffset, STATE_BYTES), 0);
  if (!(state.a > 0 && state.b > 0 && state.changes <= state.visits))
    throw new SkeinError('damaged', "a page's change record contradicts itself");
  return state;
}
