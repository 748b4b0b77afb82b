/** An errand that has left: which of its pages are missing, and which visits it may bring. */
import { originOf } from '../../base/url.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { Lane } from '../lanes/lane.ts';
import type { Schedule } from '../schedule/schedule.ts';
import type { Delegation } from './delegation.ts';
import { knownOf } from './errand-terms.ts';

/** Names an errand. The name tells to which partition its parcels belong. */
export function errandName(time: number, number: number, partition = 0): string {
  const name = `${time.toString(36)}-${number.toString(36)}`;
  return partition === 0 ? name : `${name}-${partition.toString(36)}`;
}

/** The partition of an errand. */
export function partitionOfErrand(id: string): number {
  const third = id.split('-')[2];
  return third === undefined ? 0 : Number.parseInt(third, 36);
}

/** An errand that leaves. */
export interface Issued<D extends Delegation = Delegation> {
  readonly errand: Errand;
  /** Where it goes. */
  readonly planned: D;
  readonly address: string;
  readonly spread: boolean;
}

export interface SentErrand {
  /** What was known; undefined = first visit. */
  readonly before: KnownRow | undefined;
  /** It counts among the pages that the run may fetch; a sitemap does not. */
  readonly counted: boolean;
}

export interface UnderWay {
  readonly lane: Lane;
  /** Pages that have not come back, by id: finding a page by its fingerprint is faster than by its URL as a map key. */
  readonly pages: Map<number, SentErrand>;
  /** The outpost follows links by itself, so pages of this server come back that the errand did not name. */
  readonly delegated: boolean;
  /** Such pages that may still come; they count as issued. */
  reserved: number;
}

/** Whether the errand asked for a visit to this page; `id` = 0: the page is not known. */
export function wantsPage({ pages, delegated, lane }: UnderWay, url: string, id: number): boolean {
  return pages.has(id) || (delegated && originOf(url) === lane.server.origin && lane.order.holds(id));
}

/** Milliseconds by which the clocks of home and an outpost may differ. */
const CLOCK_SLACK = 2000;

/** Pages as an errand names them, with what is known of them. Sitemaps do not count, because they only serve to find pages. */
export function asked(
  ids: readonly number[],
  ledger: Ledger,
  schedule: Schedule,
): { pages: Map<number, SentErrand>; known: Known[]; counted: number } {
  const pages = new Map<number, SentErrand>();
  let counted = 0;
  const known = ids.map(id => {
    const page = ledger.pages.ask(id);
    const before = page.visited ? ledger.pages.known(id) : undefined;
    const each = knownOf(page, before, schedule);
    pages.set(id, { before, counted: each.role !== 'sitemap' });
    if (each.role !== 'sitemap') counted++;
    return each;
  });
  return { pages, known, counted };
}

/** Pages of an errand of an earlier run whose visits have not arrived. `issued`: when it left. */
export function stillOut(
  errand: Errand,
  issued: number,
  ledger: Ledger,
  find: (url: string) => number,
): Map<number, SentErrand> {
  const pages = new Map<number, SentErrand>();
  for (const { url, role } of errand.pages) {
    const id = find(url);
    const before = id === 0 ? undefined : ledger.pages.known(id);
    if (id === 0 || (before && before.time > issued - CLOCK_SLACK)) continue; // its visit has arrived
    pages.set(id, { before, counted: role !== 'sitemap' });
  }
  return pages;
}
