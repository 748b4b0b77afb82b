/**
 * Collections whose true change rates are known, visited by the real scheduler under a budget. Changes are Poisson, so
 * whether a page changed since its last visit is one draw, and its expected freshness between two visits is an
 * integral: no time step, no sampling noise beyond the draws.
 */

import { DAY } from '../../src/base/clock.ts';
import type { Plan } from '../../src/revisit/policy.ts';
import { optimum } from './optimum.ts';
import { Scheduler } from './scheduler.ts';

export type Random = () => number;

/** Uniform in [0, 1), the same sequence for the same seed: a counter, scrambled. */
export function randomFrom(seed: number): Random {
  let counter = Math.imul(seed + 1, 0x9e3779b1) >>> 0;
  return () => {
    counter = (counter + 0x6d2b79f5) >>> 0;
    let x = counter;
    x = Math.imul(x ^ (x >>> 16), 0x21f0aaad);
    x = Math.imul(x ^ (x >>> 15), 0x735a2d97);
    return ((x ^ (x >>> 15)) >>> 0) / 2 ** 32;
  };
}

export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Gamma variate of mean `shape`, by Marsaglia and Tsang's rejection, raised by one for small shapes. */
export function gammaVariate(shape: number, random: Random): number {
  if (shape < 1) return gammaVariate(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < 0.5 * x * x + d * (1 - v + Math.log(v))) return d * v;
  }
}

export interface Population {
  /** Changes per day. */
  readonly rates: Float64Array;
  readonly weights: Float64Array;
}

export type Law = 'lognormal' | 'gamma';
export type Weights = 'equal' | 'zipf';

/** Lognormal: median one change in 20 days, sigma 2. Gamma: shape 0.4, mean 0.2 a day. Zipf: exponent 0.8. */
export function population(law: Law, weighting: Weights, pages: number, seed: number): Population {
  const random = randomFrom(seed);
  const rates = new Float64Array(pages);
  const weights = new Float64Array(pages);
  for (let i = 0; i < pages; i++) {
    rates[i] = law === 'lognormal' ? Math.exp(2 * normal(random)) / 20 : gammaVariate(0.4, random) / 2;
    weights[i] = weighting === 'equal' ? 1 : (i + 1) ** -0.8;
  }
  // Mean 1, so that theta means the same for both.
  const mean = weights.reduce((sum, weight) => sum + weight, 0) / pages;
  for (let i = 0; i < pages; i++) weights[i]! /= mean;
  return { rates, weights };
}

/** Freshness of the optimum with known rates, when `share` of the pages are visited per day. */
export function oracle({ rates, weights }: Population, share: number): number {
  const pages = Array.from(rates, (rate, i) => ({ rate, weight: weights[i]! }));
  return optimum(pages, share * pages.length).freshness;
}

export interface Trial {
  readonly people: Population;
  readonly plan: Plan;
  /** Share of the pages visited per day. */
  readonly share: number;
  /** Days, and the first that counts. */
  readonly days: number;
  readonly from: number;
  readonly seed: number;
  /** The servers tell the true date of the last change. */
  readonly datesKnown?: boolean;
}

export interface Result {
  readonly freshness: number;
  readonly visits: number;
}

/** Everything was fetched at the start; nothing is known of any rate. */
export function simulate(trial: Trial): Result {
  const { people, share } = trial;
  const count = people.rates.length;
  const random = randomFrom(trial.seed + 7_919);
  const scheduler = new Scheduler({ plan: trial.plan, budget: { pages: share * count } });
  const server = scheduler.server('http://a.example', 0);
  const meter = new Meter(people, trial.from, trial.days);
  for (let page = 0; page < count; page++) scheduler.add({ server, last: 0, weight: people.weights[page]! });
  const step = 1 / (share * count);
  let visits = 0;
  for (let tick = 1; tick * step < trial.days; tick++) {
    const day = tick * step;
    const page = scheduler.next(day * DAY);
    if (page < 0) continue;
    visits++;
    const rate = people.rates[page]!;
    const quiet = -Math.log(1 - random()) / rate;
    const changed = quiet < meter.visit(page, day);
    // Seen backwards from the visit, the time since the last change is exponential too.
    scheduler.done(page, day * DAY, trial.datesKnown && changed ? { changed, lastChangeAge: quiet } : { changed });
  }
  return { freshness: meter.freshness(), visits };
}

/** Adds up the expected time that pages are fresh within the days that count. */
class Meter {
  readonly #people: Population;
  readonly #from: number;
  readonly #to: number;
  readonly #last: Float64Array;
  #fresh = 0;

  constructor(people: Population, from: number, to: number) {
    this.#people = people;
    this.#from = from;
    this.#to = to;
    this.#last = new Float64Array(people.rates.length);
  }

  /** Days since the visit before. */
  visit(page: number, day: number): number {
    const last = this.#last[page]!;
    this.#last[page] = day;
    const start = Math.max(0, this.#from - last);
    const end = day - last;
    if (end > start) {
      const rate = this.#people.rates[page]!;
      this.#fresh += (this.#people.weights[page]! * (Math.exp(-rate * start) - Math.exp(-rate * end))) / rate;
    }
    return end;
  }

  freshness(): number {
    const pages = this.#last.length;
    for (let page = 0; page < pages; page++) this.visit(page, this.#to);
    return this.#fresh / (this.#to - this.#from) / this.#people.weights.reduce((sum, weight) => sum + weight, 0);
  }
}
