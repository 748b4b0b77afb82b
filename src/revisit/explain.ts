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
interface ExplainedPage {
  readonly state: ChangeState;
  /** Milliseconds. */
  readonly last: number;
  readonly now: number;
  /** Who wants checks to gain something, with the verb; absent = 'the budget pays for'. */
  readonly asks?: string;
  /** As stored, when it was moved by a notice or an error; absent = what the plan says. */
  readonly due?: number;
  /** Probability that it changed by what is known besides its own rate: a wave of its server, notices. */
  readonly told?: number;
  /** Another rule than the plan decides: what the plan says by itself is only what would be. */
  readonly overruled?: boolean;
}

export function explain(plan: Plan, terms: PolicyTerms, page: ExplainedPage): Explanation {
  const { state, last, now, asks = 'the budget pays for', due: stored, told = 0, overruled = false } = page;
  const days = Math.max(0, (now - last) / DAY);
  const changedByNow = 1 - plan.estimator.survival(state, days) * (1 - told);
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
  const present =
    percent < 50
      ? `It is probably unchanged since the last check ${inWords(days)} ago (${percent}% chance that it changed)`
      : `It has probably changed since the last check ${inWords(days)} ago (${percent}% chance)`;
  const due = overruled ? nextDue(plan, state, last, terms) : facts.due;
  const longest = due - last >= terms.maxInterval * DAY * 0.999 ? terms.maxInterval : undefined;
  return {
    ...facts,
    sentence: `${past}. ${present}. ${verdict(plan, { ...facts, due, asks, longest, overruled }, now)}.`,
  };
}

function pastOf(state: ChangeState, rate: number, { low, high, word }: Confidence): string {
  if (state.visits === 0) return `It was checked only once; Skein assumes a change about once in ${inWords(1 / rate)}`;
  const known = Math.min(state.visits, HISTORY_VISITS);
  const changed = [...historyOf(state)].filter(bit => bit === '1').length;
  const often = rate > 0 ? `It changes about once in ${inWords(1 / rate)}` : 'It has never changed as far as known';
  const range =
    low > 0 ? `once in ${inWords(1 / high)} to ${inWords(1 / low)}` : `at most once in ${inWords(1 / high)}`;
  return `${often} (${word} evidence: ${range}; ${changesOf(changed, known)})`;
}

function changesOf(changed: number, visits: number): string {
  const last = visits === 1 ? 'the last visit' : `the last ${visits} visits`;
  if (changed === 0) return `unchanged at ${last}`;
  return visits === 1 ? `changed at ${last}` : `changed at ${changed} of ${last}`;
}

interface WeighedTimes {
  readonly due: number;
  readonly value: number;
  readonly theta: number;
  readonly importance: number;
  readonly asks: string;
  /** Days, where it is due only because no page is left alone for longer. */
  readonly longest: number | undefined;
  readonly overruled: boolean;
}

function verdict(
  plan: Plan,
  { due, value, theta, importance, asks, longest, overruled }: WeighedTimes,
  now: number,
): string {
  const late = (now - due) / DAY;
  const planned = late >= 0 ? `has been due for ${inWords(late)}` : `is due in ${inWords(-late)}`;
  const alone = late >= 0 ? `would have been due for ${inWords(late)}` : `would be due in ${inWords(-late)}`;
  const when = overruled ? `${alone} if nothing else decided` : planned;
  if (plan.policy.name !== 'value') return `By the policy "${plan.policy.name}" it ${when}`;
  const worth = `A check now would keep it fresh for ${inWords(value)} more (importance ${short(importance)})`;
  const asked = `${worth}; ${asks} checks that gain ${inWords(theta)}`;
  if (longest === undefined) return `${asked}, so it ${when}`;
  return `${asked}, but every page is checked at least once in ${inWords(longest)}, so it ${when}`;
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
