/** When is asked for again what is no page to be kept fresh: after a visit that brought none, a second address, a sitemap. */
import { DAY } from '../../base/clock.ts';
import { type ReasonCode, reasons } from '../../errand/reasons.ts';
import type { Visit } from '../../errand/visit.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import { type Missing, whenMissing } from '../../revisit/gone.ts';
import { MAX_INTERVAL } from '../../revisit/policy.ts';
import type { Prior } from '../../revisit/state.ts';

/** Days until an alias or a page that was refused after it had been stored is asked for again. */
export const SELDOM = 30;

/** A sitemap is read twice as often as it changes, but no more often than this and no less, in days. */
const SITEMAP_REST = { least: 0.9, most: 14 };

export function sitemapRest({ a, b }: Prior): number {
  return Math.min(SITEMAP_REST.most, Math.max(SITEMAP_REST.least, b / a / 2));
}

/** When a second address of a page is asked for again, unless the page changes before. */
export function aliasDue(time: number): number {
  return time + SELDOM * DAY;
}

/** Null: never by the schedule; a retry may be. */
export function dueWithout(visit: Visit, before: KnownRow | undefined): number | null {
  if (visit.outcome === 'gone') {
    // What was never there is a dead link: it is asked for as seldom as a tombstone.
    const misses = before?.outcome === 'gone' ? before.tries : before?.seen_time == null ? 99 : 0;
    return visit.time + whenMissing(visit.reason as Missing, misses, MAX_INTERVAL).after * DAY;
  }
  if (visit.outcome === 'moved') return visit.time + SELDOM * DAY;
  if (before?.segment == null) return null;
  const tries = before.tries;
  const retried = tries < (reasons[visit.reason as ReasonCode]?.retries ?? 0);
  return retried ? null : visit.time + Math.min(SELDOM, 2 ** tries) * DAY;
}
