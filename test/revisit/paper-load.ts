/** The load model by which the paper argues for mobile crawlers that carry what they need to know (PMCS). */
import { THRESHOLDS, type Thresholds } from '../../src/revisit/pmcs.ts';

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
export interface Trip {
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
