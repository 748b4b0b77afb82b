/**
 * The paper's rules for mobile crawlers that carry what they need to know (PMCS): what an errand carries for a page,
 * by the probability p that it has changed, and the load model by which the paper argues for it.
 *
 * Two departures, both cheaper than the paper: it takes p <= 0.10 for "not enough is known" and always fetches such
 * pages, but a page with three visits and no change is well known, and is filtered like the others; and where p >= 0.80
 * it carries nothing, though eight bytes of hash cost less than one page sent in vain. `strict` is the paper's own rule.
 */
import { SkeinError } from '../base/errors.ts';
import type { ChangeState } from './state.ts';

export interface Thresholds {
  readonly low: number;
  readonly high: number;
  /** To the letter: neither a hash nor the number of visits counts. */
  readonly strict?: boolean;
}

export const THRESHOLDS: Thresholds = { low: 0.1, high: 0.8 };

/** Reads `0.1,0.8` and `0.1,0.8,strict`. */
export function parseThresholds(text: string): Thresholds {
  const [low, high, strict, ...more] = text.split(',').map(part => part.trim());
  const [least, most] = [Number(low || NaN), Number(high || NaN)];
  const fits = least >= 0 && least <= most && most <= 1 && more.length === 0;
  if (fits && (strict === undefined || strict === 'strict')) {
    return { low: least, high: most, ...(strict && { strict: true }) };
  }
  throw new SkeinError(
    'bad-option',
    `"${text}" is not a pair of thresholds.`,
    'Write two probabilities, the lower one first, as 0.1,0.8, and ,strict behind them for the rule of the paper.',
  );
}

/** Visits from which on a low p means that the page is stable rather than unknown. */
const KNOWN_VISITS = 3;

/** nothing: return the page whatever it holds; facts: compare there; hash: compare only the content hash. */
type Comparing = 'nothing' | 'facts' | 'hash';

export function delegation(probability: number, visits: number, thresholds: Thresholds = THRESHOLDS): Comparing {
  if (probability >= thresholds.high) return thresholds.strict ? 'nothing' : 'hash';
  if (probability <= thresholds.low && (thresholds.strict || visits < KNOWN_VISITS)) return 'nothing';
  return 'facts';
}

/** The paper's probability of change: the share of visits that found one. */
export function shareChanged(state: ChangeState): number {
  return state.visits === 0 ? 0 : state.changes / state.visits;
}

/** Pages with the same probability of change. */
export interface Group {
  readonly pages: number;
  readonly probability: number;
}

export interface Saving {
  /** Pages that a crawler without filter sends, and that this one sends. */
  readonly sentBefore: number;
  readonly sent: number;
  readonly saved: number;
  /** Per cent of the load that is saved. */
  readonly percent: number;
}

/** Mean probability of change, by number of pages; 0 for no pages. */
export function averageProbability(groups: readonly Group[]): number {
  let pages = 0;
  let changing = 0;
  for (const group of groups) {
    pages += group.pages;
    changing += group.pages * group.probability;
  }
  return pages === 0 ? 0 : changing / pages;
}

/** Groups between the thresholds are filtered at the site; all others are sent whole. */
export function loadSaved(groups: readonly Group[], thresholds: Thresholds = THRESHOLDS): Saving {
  let sentBefore = 0;
  let sent = 0;
  for (const { pages, probability } of groups) {
    const filtered = probability > thresholds.low && probability < thresholds.high;
    sentBefore += pages;
    sent += filtered ? pages * probability : pages;
  }
  const saved = sentBefore - sent;
  return { sentBefore, sent, saved, percent: sentBefore === 0 ? 0 : (saved / sentBefore) * 100 };
}

/** A trip: pages sent of the pages there are, their size, and what the crawler itself weighs. */
interface Trip {
  readonly pages: number;
  readonly sent: number;
  readonly pageKilobytes: number;
  readonly crawlerKilobytes: number;
  /** Size after compression over size before. */
  readonly compression: number;
}

/** Kilobytes on the wire, and their per cent of sending every page as it is. */
export function tripLoad(trip: Trip): { readonly kilobytes: number; readonly percent: number } {
  const kilobytes = trip.sent * trip.pageKilobytes * trip.compression + trip.crawlerKilobytes;
  return { kilobytes, percent: (kilobytes / (trip.pages * trip.pageKilobytes)) * 100 };
}
