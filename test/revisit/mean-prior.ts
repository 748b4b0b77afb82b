import { PRIOR, type Prior } from '../../src/revisit/state.ts';

/** Pages of a server that must have been observed before they say anything about a new page there. */
const ENOUGH_PAGES = 30;

/** What to believe of a new page on a server whose observed pages have these sums of a and b. */
export function meanPrior(pages: number, sumA: number, sumB: number): Prior {
  if (pages < ENOUGH_PAGES || !(sumA > 0) || !(sumB > 0)) return PRIOR;
  return { a: PRIOR.a, b: (PRIOR.a * sumB) / sumA };
}
