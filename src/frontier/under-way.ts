/** An errand that has left: which of its pages are still to come back, and which visits it may bring. */
import { originOf } from '../base/url.ts';
import type { KnownRow } from '../ledger/known-row.ts';
import type { Lane } from './lane.ts';

export interface Sent {
  /** What was known; undefined = first visit. */
  readonly before: KnownRow | undefined;
  /** Takes one of the pages that the run may fetch; a sitemap does not. */
  readonly counted: boolean;
}

export interface UnderWay {
  readonly lane: Lane;
  /** Pages not yet returned, by id: found by a fingerprint, where a URL that came back is hashed and sought among all strings. */
  readonly pages: Map<number, Sent>;
  /** The outpost follows links by itself: pages of this server that nobody named come back, too. */
  readonly delegated: boolean;
  /** Such pages that may still come; they count as issued. */
  reserved: number;
}

/** Whether a visit of this page answers what was asked; `id` is the page's, 0 = nobody knows it. */
export function wantsPage({ pages, delegated, lane }: UnderWay, url: string, id: number): boolean {
  return pages.has(id) || (delegated && originOf(url) === lane.server.origin && lane.order.holds(id));
}
