/**
 * Between freshness and budget: the threshold that spends a budget, and the budget that buys a freshness. Thousands of pages
 * stand for all, since every answer is a mean.
 */
import { daysUntilDue, daysUntilDueInSilence, type Price, THETAS, type VisitCost } from './value.ts';

/** A page as far as the budget is concerned. */
export interface Belief {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
  /** Absent: 1 for every visit. */
  readonly cost?: VisitCost;
  /** Share of its changes that notices name: it is looked at when they do. Absent = none. */
  readonly recall?: number;
}

export interface Balance {
  readonly theta: number;
  /** Visits per day and page, without those that notices bring about. */
  readonly visits: number;
  /** What these cost per day and page, in the unit of the pages' costs. */
  readonly spent: number;
  /** Mean share of time, weighted by importance, that pages are expected to be fresh in the long run. */
  readonly freshness: number;
}

/** Share of a period of `days` after a visit that a page is expected to be fresh. */
export function periodFreshness(a: number, b: number, days: number): number {
  const log = Math.log1p(days / b);
  const fresh = Math.abs(a - 1) < 1e-9 ? log : -Math.expm1((1 - a) * log) / (a - 1);
  return (b * fresh) / days;
}

/** What a threshold costs, and which freshness it brings. */
export function balanceAt(theta: number, pages: readonly Belief[], maxInterval: number): Balance {
  let visits = 0;
  let spent = 0;
  let fresh = 0;
  let weights = 0;
  for (const page of pages) {
    const { a, weight, cost, recall = 0 } = page;
    const days = Math.max(1e-6, daysBetween(page, { weight, theta, maxInterval, ...(cost && { cost }) }));
    // What notices name is looked at when they do, under any threshold: the other changes make a copy old.
    const b = page.b / Math.max(LEAST_HIDDEN, 1 - recall);
    const changed = -Math.expm1(-a * Math.log1p(days / b));
    visits += 1 / days;
    spent += (cost ? cost.visit + changed * cost.change : 1) / days;
    fresh += weight * periodFreshness(a, b, days);
    weights += weight;
  }
  const all = Math.max(1, pages.length);
  return { theta, visits: visits / all, spent: spent / all, freshness: weights === 0 ? 1 : fresh / weights };
}

/** Share of its changes that no notice names, at the least. */
const LEAST_HIDDEN = 1e-3;

function daysBetween({ a, b, recall = 0 }: Belief, price: Price): number {
  return recall > 0 ? daysUntilDueInSilence(a / b, recall, price) : daysUntilDue(a, b, price);
}

/** The threshold with which there are `share` visits per day and page. */
export function balanceForShare(share: number, pages: readonly Belief[], maxInterval: number): Balance {
  return search(theta => {
    const balance = balanceAt(theta, pages, maxInterval);
    return { balance, above: balance.visits > share };
  });
}

/** The threshold that spends `spent` per day and page. */
export function balanceForSpending(spent: number, pages: readonly Belief[], maxInterval: number): Balance {
  return search(theta => {
    const balance = balanceAt(theta, pages, maxInterval);
    return { balance, above: balance.spent > spent };
  });
}

/** The cheapest balance that keeps the expected freshness at `target` or above. */
export function balanceForFreshness(target: number, pages: readonly Belief[], maxInterval: number): Balance {
  return search(theta => {
    const balance = balanceAt(theta, pages, maxInterval);
    return { balance, above: balance.freshness >= target };
  });
}

/** Halvings of the logarithm of theta: what is left is a hundred thousandth of it. */
const HALVINGS = 22;

/** The greatest theta that is still `above`, by halving its logarithm. */
function search(probe: (theta: number) => { balance: Balance; above: boolean }): Balance {
  let low = THETAS.least;
  let high = THETAS.greatest;
  let best = probe(low).balance;
  for (let round = 0; round < HALVINGS; round++) {
    const middle = Math.sqrt(low * high);
    const { balance, above } = probe(middle);
    if (above) {
      low = middle;
      best = balance;
    } else high = middle;
  }
  return best;
}
