/**
 * Between freshness and budget: the threshold that spends a budget, the budget that buys a freshness, and Cho and
 * Garcia-Molina's optimum with known rates, which is what every policy is measured against. Given thousands of pages
 * to stand for all, since every answer here is a mean.
 */
import type { Estimator } from './estimators/port.ts';
import type { PageRow } from './page-table.ts';
import { DAY } from './state.ts';
import { daysUntilDue, daysUntilDueAtRate, type Price, THETAS, type VisitCost } from './value.ts';

/** A page as far as the budget is concerned. */
export interface Belief {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
  /** Absent: 1 for every visit. */
  readonly cost?: VisitCost;
}

export interface Balance {
  readonly theta: number;
  /** What it costs per day and page: visits, or kilobytes where the pages say what a visit costs. */
  readonly share: number;
  /** Mean share of time, weighted by importance, that pages are expected to be fresh in the long run. */
  readonly freshness: number;
}

/** Share of a period of `days` after a visit that a page is expected to be fresh. */
export function periodFreshness(a: number, b: number, days: number): number {
  const log = Math.log1p(days / b);
  const fresh = Math.abs(a - 1) < 1e-9 ? log : -Math.expm1((1 - a) * log) / (a - 1);
  return (b * fresh) / days;
}

/** What a threshold costs and brings. */
export function balanceAt(theta: number, pages: readonly Belief[], maxInterval: number): Balance {
  let spent = 0;
  let fresh = 0;
  let weights = 0;
  for (const { a, b, weight, cost } of pages) {
    const price = { weight, theta, maxInterval };
    const days = Math.max(1e-6, daysUntilDue(a, b, cost ? { ...price, cost } : price));
    const changed = -Math.expm1(-a * Math.log1p(days / b));
    spent += (cost ? cost.visit + changed * cost.change : 1) / days;
    fresh += weight * periodFreshness(a, b, days);
    weights += weight;
  }
  return { theta, share: spent / Math.max(1, pages.length), freshness: weights === 0 ? 1 : fresh / weights };
}

/** The threshold that spends `share` per day and page. */
export function balanceForShare(share: number, pages: readonly Belief[], maxInterval: number): Balance {
  return search(theta => {
    const balance = balanceAt(theta, pages, maxInterval);
    return { balance, above: balance.share > share };
  });
}

/** The cheapest balance that keeps the expected freshness at `target` or above. */
export function balanceForFreshness(target: number, pages: readonly Belief[], maxInterval: number): Balance {
  return search(theta => {
    const balance = balanceAt(theta, pages, maxInterval);
    return { balance, above: balance.freshness >= target };
  });
}

/** The greatest theta that is still `above`, by halving its logarithm. */
function search(probe: (theta: number) => { balance: Balance; above: boolean }): Balance {
  let low = THETAS.least;
  let high = THETAS.greatest;
  let best = probe(low).balance;
  for (let round = 0; round < 50; round++) {
    const middle = Math.sqrt(low * high);
    const { balance, above } = probe(middle);
    if (above) {
      low = middle;
      best = balance;
    } else high = middle;
  }
  return best;
}

/** Mean probability, weighted by importance, that a page is the same as at its last visit. */
export function expectedFreshness(pages: readonly PageRow[], estimator: Estimator, now: number): number {
  let fresh = 0;
  let weights = 0;
  for (const { weight, last, state } of pages) {
    weights += weight;
    // A page that was never fetched is not fresh.
    if (last <= now) fresh += weight * estimator.survival(state, (now - last) / DAY);
  }
  return weights === 0 ? 1 : fresh / weights;
}

/** A page whose rate is known for certain. */
export interface KnownRate {
  readonly rate: number;
  readonly weight: number;
}

export interface Optimum {
  readonly theta: number;
  /** Visits per day of each page; 0 = not worth any. */
  readonly frequencies: readonly number[];
  readonly freshness: number;
}

/** Cho and Garcia-Molina's optimum for `budget` visits per day over all pages. */
export function optimum(pages: readonly KnownRate[], budget: number): Optimum {
  const frequencies = (theta: number) => pages.map(page => bestFrequency(page, theta));
  let low = THETAS.least;
  let high = THETAS.greatest;
  for (let round = 0; round < 60; round++) {
    const middle = Math.sqrt(low * high);
    if (frequencies(middle).reduce((sum, frequency) => sum + frequency, 0) > budget) low = middle;
    else high = middle;
  }
  const found = frequencies(high);
  let fresh = 0;
  let weights = 0;
  for (const [i, { rate, weight }] of pages.entries()) {
    const turns = rate / found[i]!;
    fresh += weight * (turns === 0 ? 1 : -Math.expm1(-turns) / turns);
    weights += weight;
  }
  return { theta: high, frequencies: found, freshness: fresh / weights };
}

const NEVER = 1e9;

function bestFrequency({ rate, weight }: KnownRate, theta: number): number {
  const price: Price = { weight, theta, maxInterval: NEVER };
  const days = daysUntilDueAtRate(rate, price);
  return days >= NEVER ? 0 : 1 / days;
}
