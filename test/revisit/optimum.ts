/** Cho and Garcia-Molina's optimum with known rates: the most that any policy can reach, against which all are measured. */
import { daysUntilDueAtRate, type Price, THETAS } from '../../src/revisit/value.ts';

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
