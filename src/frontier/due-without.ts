/** When a page is asked for again after a visit that brought none; such a visit says nothing of how often it changes. */
import { DAY } from '../base/clock.ts';
import { type ReasonCode, reasons } from '../errand/reasons.ts';
import type { Visit } from '../errand/visit.ts';
import type { KnownRow } from '../ledger/known-row.ts';
import { type Missing, whenMissing } from '../revisit/gone.ts';
import { MAX_INTERVAL } from '../revisit/policy.ts';

/** Days until an alias or a page that was refused after it had been stored is asked for again. */
const SELDOM = 30;

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
