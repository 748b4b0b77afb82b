/**
 * The paper's rules for mobile crawlers that carry what they need to know (PMCS): what an errand carries for a page,
 * by the probability p that it has changed.
 *
 * Two departures, both cheaper than the paper: it takes p <= 0.10 for "not enough is known" and always fetches such
 * pages, but a page with three visits and no change is well known, and is filtered like the others; and where p >= 0.80
 * it carries nothing, though eight bytes of hash cost less than one page sent in vain.
 */
import type { ChangeState } from './state.ts';

export interface Thresholds {
  readonly low: number;
  readonly high: number;
}

export const THRESHOLDS: Thresholds = { low: 0.1, high: 0.8 };
/** Visits from which on a low p means that the page is stable rather than unknown. */
const KNOWN_VISITS = 3;

/** nothing: return the page whatever it holds; facts: compare there; hash: compare only the content hash. */
export type Delegation = 'nothing' | 'facts' | 'hash';

export function delegation(probability: number, visits: number, thresholds: Thresholds = THRESHOLDS): Delegation {
  if (probability >= thresholds.high) return 'hash';
  if (probability <= thresholds.low && visits < KNOWN_VISITS) return 'nothing';
  return 'facts';
}

/** The paper's probability of change: the share of visits that found one. */
export function shareChanged(state: ChangeState): number {
  return state.visits === 0 ? 0 : state.changes / state.visits;
}
