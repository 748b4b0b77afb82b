/** Counts of one site, or of several together. */
import type { Truth } from '../histories.ts';
import { mustTell, type Right } from './copies.ts';

export interface Score {
  /** Changes that few pages share, told of the page. */
  strict: number;
  strictTold: number;
  /** Changes that many pages share, told of the page or of the site. */
  shared: number;
  sharedTold: number;
  /** Visits that met only noise, or nothing, and were told. */
  noise: number;
  noiseTold: number;
  unchanged: number;
  unchangedTold: number;
  /** Copies held against the day's page. */
  copies: number;
  right: number;
  rightOwn: number;
  same: number;
  /** Of the copies, those that were inferred, and how many of them are right. */
  inferred: number;
  inferredRight: number;
  /** Looks at pages, and pages that could have been looked at. */
  visits: number;
}

export const emptyScore = (): Score => ({
  ...{ strict: 0, strictTold: 0, shared: 0, sharedTold: 0, noise: 0, noiseTold: 0, unchanged: 0, unchangedTold: 0 },
  ...{ copies: 0, right: 0, rightOwn: 0, same: 0, inferred: 0, inferredRight: 0, visits: 0 },
});

/** `told`: as a change of the page, as one of its site, or not. */
export function countTelling(score: Score, truth: Truth | undefined, told: 'page' | 'site' | undefined): void {
  const page = told === 'page' ? 1 : 0;
  if (truth === undefined) {
    score.unchanged++;
    score.unchangedTold += page;
  } else if (truth.c === 'noise') {
    score.noise++;
    score.noiseTold += page;
  } else if (!mustTell(truth)) return;
  else if (truth.shared) {
    score.shared++;
    score.sharedTold += told ? 1 : 0;
  } else {
    score.strict++;
    score.strictTold += page;
  }
}

export function countCopy(score: Score, { all, own, same }: Right, inferred: boolean): void {
  score.copies++;
  score.inferred += inferred ? 1 : 0;
  score.inferredRight += inferred && all ? 1 : 0;
  score.right += all ? 1 : 0;
  score.rightOwn += own ? 1 : 0;
  score.same += same ? 1 : 0;
}

export function total(scores: Iterable<Score>): Score {
  const sum = emptyScore();
  for (const score of scores) for (const name of Object.keys(sum) as (keyof Score)[]) sum[name] += score[name];
  return sum;
}

/** What is aimed at on every site. */
export const aims = {
  noise: { most: 0.005, of: (s: Score) => ratio(s.noiseTold, s.noise, 0) },
  strict: { least: 0.995, of: (s: Score) => ratio(s.strictTold, s.strict, 1) },
  copies: { least: 0.98, of: (s: Score) => ratio(s.right, s.copies, 1) },
} as const;

export const ratio = (part: number, whole: number, none: number): number => (whole === 0 ? none : part / whole);
