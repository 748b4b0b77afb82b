/** Random numbers from a fixed seed, for intervals that are found by drawing. Pure. */

export type Random = () => number;

/** Numbers from 0 to 1. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Gamma distributed with mean `shape` (Marsaglia and Tsang 2000; below 1 by their boost). */
export function gammaFrom(shape: number, random: Random): number {
  if (shape < 1) return gammaFrom(shape + 1, random) * (1 - random()) ** (1 / shape);
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  while (true) {
    const x = normalFrom(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random()) < x ** 2 / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** A share of which so much was seen for and so much against, each with what was believed before. */
export function shareFrom(yes: number, no: number, random: Random): number {
  const [a, b] = [gammaFrom(yes, random), gammaFrom(no, random)];
  return a / (a + b);
}

/** Above this mean a sum of two numbers will do. */
const LARGE_MEAN = 30;

export function poissonFrom(mean: number, random: Random): number {
  if (mean > LARGE_MEAN) return mean + (random() + random() - 1) * Math.sqrt(6 * mean);
  const limit = Math.exp(-mean);
  let events = -1;
  for (let product = 1; product > limit; events++) product *= random();
  return Math.max(0, events);
}

function normalFrom(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
