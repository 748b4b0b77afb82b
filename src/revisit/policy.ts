/**
 * When to look again. A policy turns what is known of a page into the days until its next visit; the frontier stores
 * last + interval as the page's due time and serves the earliest. Policies are pure: they hold no pages, read no clock
 * and decide nothing about politeness.
 *
 * Invariant: an interval is never shorter than the least nor longer than the longest interval of the terms, so every
 * page is looked at again some day, whatever its policy believes.
 */
import { DAY } from '../base/clock.ts';
import { named } from '../base/named.ts';
import { estimatorNamed } from './estimator.ts';
import { DRAWN_FORWARD } from './estimators/adaptive.ts';
import type { Estimator } from './estimators/port.ts';
import { shareChanged, THRESHOLDS, type Thresholds } from './pmcs.ts';
import type { ChangeState } from './state.ts';
import { daysUntilDue, daysUntilDueAtRate, daysUntilDueInSilence, type Price } from './value.ts';

export interface PolicyTerms extends Price {
  /** Days in which the budget visits as many pages as there are. */
  readonly cycle: number;
  /** Mean change rate of the collection per day; only `proportional` asks. */
  readonly meanRate: number;
  /** Share of its changes that the server's notices name; 0 = it sends none. Only `value` asks. */
  readonly recall: number;
  /** When in its interval a page comes that was never looked at twice, 0–1, see phaseOf; absent = at its end. */
  readonly phase?: number;
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * Pages that were fetched together and of which nothing is known would all be due at one time, and until then the whole
 * budget would go to the few that showed a change first. So `value` spreads their first looks evenly over the interval:
 * multiples of the golden section never crowd. On the recorded sites at 2% a day that is 0.857 fresh instead of 0.832.
 */
export function phaseOf(page: number): number {
  return (page * GOLDEN) % 1;
}

interface Policy {
  readonly name: string;
  /** The estimator that it uses unless the user names another. */
  readonly estimator: string;
  /** False: it leaves budget unused rather than visit a page before it is due. */
  readonly usesWholeBudget: boolean;
  /** Days between the last visit and the next, before the bounds. */
  interval(state: ChangeState, estimator: Estimator, terms: PolicyTerms): number;
}

/** Days: no page is looked at more often than every ten minutes, whatever is believed of it. */
export const LEAST_INTERVAL = 10 / 1440;
/** Days: a page is looked at this often, whatever is believed of it; also how tombstones are checked. */
export const MAX_INTERVAL = 90;

const uniform: Policy = {
  name: 'uniform',
  estimator: 'gamma',
  usesWholeBudget: true,
  interval: (_state, _estimator, terms) => terms.cycle,
};

/** As often as it changes: what intuition says, and the worst of all under a tight budget. */
const proportional: Policy = {
  name: 'proportional',
  estimator: 'gamma',
  usesWholeBudget: true,
  interval: (state, estimator, terms) => (terms.cycle * terms.meanRate) / estimator.rate(state),
};

/** The paper's: pages that seem never to change in every round, the others at their expected next change. */
export function pmcsPolicy(thresholds: Thresholds = THRESHOLDS): Policy {
  return {
    name: 'pmcs',
    estimator: 'existence',
    usesWholeBudget: true,
    interval: (state, estimator, terms) =>
      shareChanged(state) <= thresholds.low ? terms.cycle : 1 / estimator.rate(state),
  };
}

/** Due when the expected date of the next change is reached. */
const date: Policy = {
  name: 'date',
  estimator: 'existence',
  usesWholeBudget: false,
  interval: (state, estimator) => 1 / estimator.rate(state),
};

const adaptive: Policy = {
  name: 'adaptive',
  estimator: 'adaptive',
  usesWholeBudget: true,
  interval: state => state.wait - DRAWN_FORWARD * state.age,
};

const value: Policy = {
  name: 'value',
  estimator: 'gamma',
  usesWholeBudget: true,
  interval: (state, estimator, terms) => {
    if (state.visits === 0) return (terms.phase ?? 1) * daysUntilDue(state.a, state.b, terms);
    if (terms.recall > 0) return daysUntilDueInSilence(estimator.rate(state), terms.recall, terms);
    if (estimator.posterior) return daysUntilDue(state.a, state.b, terms);
    return daysUntilDueAtRate(estimator.rate(state), terms);
  },
};

export const policies: Readonly<Record<string, Policy>> = {
  value,
  uniform,
  proportional,
  pmcs: pmcsPolicy(),
  date,
  adaptive,
};

/** A policy with the estimator it works with: what a collection is scheduled by. */
export interface Plan {
  readonly policy: Policy;
  readonly estimator: Estimator;
}

export function planNamed(policyName = 'value', estimatorName?: string, thresholds?: Thresholds): Plan {
  const chosen = named('policy', policies, policyName);
  const policy = thresholds && chosen.name === 'pmcs' ? pmcsPolicy(thresholds) : chosen;
  return { policy, estimator: estimatorNamed(estimatorName ?? policy.estimator) };
}

/** Days until the next visit, within the bounds. */
export function intervalOf(plan: Plan, state: ChangeState, terms: PolicyTerms): number {
  const days = plan.policy.interval(state, plan.estimator, terms);
  // Also what is not a number, such as 1 / 0 changes per day, ends at the longest interval.
  return days < terms.maxInterval ? Math.max(LEAST_INTERVAL, days) : terms.maxInterval;
}

/** When a page last visited at `last` (milliseconds) is due, for the ledger's index on due. */
export function nextDue(plan: Plan, state: ChangeState, last: number, terms: PolicyTerms): number {
  return last + intervalOf(plan, state, terms) * DAY;
}
