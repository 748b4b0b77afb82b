/** Why a page is due, or is not: the figures behind the decision, and one sentence made of them. Decides nothing. */
import { DAY } from '../base/clock.ts';
import { type Confidence, confidence } from './estimator.ts';
import { nextDue, type Plan, type PolicyTerms } from './policy.ts';
import { type ChangeState, HISTORY_VISITS, historyOf } from './state.ts';
import { visitValue } from './value.ts';

export interface Explanation {
  /** `1101101`, oldest first, 1 = changed. */
  readonly history: string;
  /** Changes per day. */
  readonly rate: number;
  readonly confidence: Confidence;
  /** Probability that it has changed since the last visit. */
  readonly changedByNow: number;
  readonly importance: number;
  /** Milliseconds. */
  readonly due: number;
  /** Days of weighted freshness that a visit now would bring, and that the budget asks for what it costs. */
  readonly value: number;
  readonly theta: number;
  readonly sentence: string;
}

/** A page at the moment of the question. */
export interface Asked {
  readonly state: ChangeState;
  /** Milliseconds. */
  readonly last: number;
  readonly now: number;
  /** As stored, when it was moved by a notice or an error; absent = what the plan says. */
  readonly due?: number;
}

export function explain(plan: Plan, terms: PolicyTerms, { state, last, now, due: stored }: Asked): Explanation {
  const days = Math.max(0, (now - last) / DAY);
  const changedByNow = 1 - plan.estimator.survival(state, days);
  const { visit, change } = terms.cost ?? { visit: 1, change: 0 };
  const facts = {
    history: historyOf(state),
    rate: plan.estimator.rate(state),
    confidence: confidence(state),
    changedByNow,
    importance: terms.weight,
    due: stored ?? nextDue(plan, state, last, terms),
    value: visitValue(state, terms.weight, days),
    theta: terms.theta * (visit + changedByNow * change),
  };
  const past = pastOf(state, facts.rate, facts.confidence);
  const percent = Math.round(facts.changedByNow * 100);
  const present = `with ${percent}% probability it has changed since it was looked at ${inWords(days)} ago`;
  const longest = facts.due - last >= terms.maxInterval * DAY * 0.999 ? terms.maxInterval : undefined;
  return { ...facts, sentence: `${past}; ${present}, ${verdict(plan, { ...facts, longest }, now)}.` };
}

function pastOf(state: ChangeState, rate: number, { low, high, word }: Confidence): string {
  if (state.visits === 0) return `Nobody has looked at it twice yet, so once in ${inWords(1 / rate)} is assumed`;
  const known = Math.min(state.visits, HISTORY_VISITS);
  const changed = [...historyOf(state)].filter(bit => bit === '1').length;
  const seen =
    known === 1
      ? `It had ${changed === 1 ? '' : 'not '}changed when it was looked at again`
      : `It had changed at ${changed} of the last ${known} visits`;
  const often = rate > 0 ? `about once in ${inWords(1 / rate)}` : 'never as far as known';
  const range =
    low > 0 ? `once in ${inWords(1 / high)} to ${inWords(1 / low)}` : `at most once in ${inWords(1 / high)}`;
  return `${seen}, ${often} (${word} evidence: ${range})`;
}

interface Weighed {
  readonly due: number;
  readonly value: number;
  readonly theta: number;
  readonly importance: number;
  /** Days, where it is due only because no page is left alone for longer. */
  readonly longest: number | undefined;
}

function verdict(plan: Plan, { due, value, theta, importance, longest }: Weighed, now: number): string {
  const late = (now - due) / DAY;
  const when = late >= 0 ? `has been due for ${inWords(late)}` : `is due in ${inWords(-late)}`;
  if (plan.policy.name !== 'value') return `and by the policy "${plan.policy.name}" it ${when}`;
  const worth = `a visit now is worth ${inWords(value)} of freshness (importance ${short(importance)})`;
  const asked = `and ${worth} where the budget asks for ${inWords(theta)}`;
  if (longest === undefined) return `${asked}, so it ${when}`;
  return `${asked}, which it does not reach; because every page is looked at once in ${inWords(longest)}, it ${when}`;
}

/** Three figures. */
function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

const UNITS: readonly (readonly [days: number, name: string])[] = [
  [365, 'year'],
  [30, 'month'],
  [1, 'day'],
  [1 / 24, 'hour'],
  [1 / 1440, 'minute'],
];

/** `3 days`, `1 hour`: two figures of the largest unit that fits. */
export function inWords(days: number): string {
  for (const [size, name] of UNITS) {
    if (days < size) continue;
    const count = Number((days / size).toPrecision(2));
    return count === 1 ? `1 ${name}` : `${count} ${name}s`;
  }
  return 'less than a minute';
}
