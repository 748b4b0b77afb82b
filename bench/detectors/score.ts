/** How often a detector was right about recorded revisions, in all and of each site. */
import type { Truth } from '../histories.ts';

export interface Score {
  hits: number;
  misses: number;
  noise: number;
  alarms: number;
  /** Must be reported, and not an edit that many pages share. */
  strictHits: number;
  strictMisses: number;
}

export const emptyScore = (): Score => ({
  ...{ hits: 0, misses: 0, noise: 0, alarms: 0, strictHits: 0, strictMisses: 0 },
});

/** What the data set's own rule says of a revision; undefined = not to be scored. */
export function expected(truth: Truth): boolean | undefined {
  if (truth.c === 'noise') return false;
  if (truth.c === 'structure' && truth.sub?.includes('markup')) return undefined;
  return truth.c === 'text' || truth.c === 'structure' || truth.c === 'images' ? true : undefined;
}

/** `fired`: of the page; `told`: of the page or of its site, which is enough for what many pages share. */
export function count(score: Score, truth: Truth, fired: boolean, told = fired): void {
  if (expected(truth) === false) {
    score.noise++;
    if (fired) score.alarms++;
    return;
  }
  if (truth.shared ? told : fired) score.hits++;
  else score.misses++;
  if (truth.shared) return;
  if (fired) score.strictHits++;
  else score.strictMisses++;
}

export function total(scores: Iterable<Score>): Score {
  const sum = emptyScore();
  for (const score of scores) for (const name of Object.keys(sum) as (keyof Score)[]) sum[name] += score[name];
  return sum;
}

const ratio = (part: number, whole: number, none: number): number => (whole === 0 ? none : part / whole);

export const recallOf = ({ hits, misses }: Score): number => ratio(hits, hits + misses, 1);
export const strictOf = ({ strictHits, strictMisses }: Score): number =>
  ratio(strictHits, strictHits + strictMisses, 1);
export const alarmsOf = ({ alarms, noise }: Score): number => ratio(alarms, noise, 0);
export const precisionOf = ({ hits, alarms }: Score): number => ratio(hits, hits + alarms, 1);
