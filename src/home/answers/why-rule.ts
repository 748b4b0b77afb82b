/** Which rule decides when a page is visited next: the budget, or one that comes before it. */
import { DAY } from '../../base/clock.ts';
import { SELDOM } from '../../frontier/schedule/due-after-failure.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS, FLAG_DOUBTED } from '../../ledger/pages/known-row.ts';
import { roles } from '../../ledger/pages/pages.ts';
import { inWords } from '../../revisit/explain.ts';
import { RECHECKS } from '../../revisit/gone.ts';
import { LEAST_INTERVAL, MAX_INTERVAL, type Plan } from '../../revisit/policy.ts';
import { nextLook, type TimedPages } from '../../revisit/timetable.ts';
import type { LookedUpPage } from './lookup.ts';

export type WhyRule =
  | 'first' // it was never visited, or is refused
  | 'retry'
  | 'settled'
  | 'sitemap'
  | 'gone'
  | 'moved'
  | 'failed' // it was fetched before, and could not be the last time
  | 'alias'
  | 'timed' // a person set times for it
  | 'doubted'
  | 'notice'
  | 'wave'
  | 'suspected'
  | 'longest'
  | 'shortest'
  | 'kept' // enough of its server is expected to be fresh
  | 'policy'
  | 'freshness'
  | 'budget';

/** Rules that ask for neither rate nor value. */
export const FIXED: ReadonlySet<WhyRule> = new Set([
  'gone',
  'moved',
  'failed',
  'alias',
  'sitemap',
  'retry',
  'settled',
  'timed',
]);

/** Rules that move a page to another time than its rate and value say. */
export const OVERRULING: ReadonlySet<WhyRule> = new Set(['doubted', 'notice', 'wave', 'suspected', 'kept']);

/** What was asked of the schedule. */
export interface WhyAsked {
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly plan: Plan;
  /** To be kept; absent = there is a budget. */
  readonly freshness: number | undefined;
  /** Servers at which it is. */
  kept(): ReadonlySet<number>;
  /** The rule that a person wrote for it; absent = none. */
  readonly timed?: TimedPages | undefined;
  /** The waves in which its server is have probably touched it. */
  readonly waved: boolean;
  /** Probability that it has changed, by that wave and by notices. */
  readonly told: number;
  /** Notices named it that are looked at on top of what is planned. */
  readonly heard: boolean;
}

export function ruleOf({ page, known }: LookedUpPage, asked: WhyAsked): WhyRule {
  if (!known || page.refused !== null) return 'first';
  if (known.retry_at !== null) return 'retry';
  if (known.due === null) return 'settled';
  if (roles[page.role] === 'sitemap') return 'sitemap';
  if (known.outcome === 'gone' || known.outcome === 'moved') return known.outcome;
  if (known.outcome === 'failed' || known.outcome === 'refused') return 'failed';
  if (known.flags & FLAG_ALIAS) return 'alias';
  if (asked.timed !== undefined) return 'timed';
  if (asked.heard) return 'notice';
  if (known.due <= asked.now && asked.kept().has(page.server)) return 'kept';
  if (known.flags & FLAG_DOUBTED) return 'doubted';
  if (known.pings > 0) return 'notice';
  if (asked.waved && known.due <= asked.now) return 'wave';
  // Every other rule lets it rest for a while.
  if (known.due < (known.seen_time ?? 0)) return 'suspected';
  const wait = (known.due - (known.seen_time ?? known.time)) / DAY;
  if (wait >= MAX_INTERVAL * 0.999) return 'longest';
  if (wait <= LEAST_INTERVAL * 1.001) return 'shortest';
  if (asked.plan.policy.name !== 'value') return 'policy';
  return asked.freshness === undefined ? 'budget' : 'freshness';
}

/** By which ways it was told. */
function tellersOf(ledger: Ledger, known: LookedUpPage['known']): string {
  const kinds = Object.keys(known ? ledger.schedule.told.of(known.page) : {});
  return kinds.length === 0
    ? 'by a ping'
    : kinds.map(kind => (kind === 'ping' ? 'by a ping' : `by its ${kind}`)).join(', ');
}

/** Says when it is visited next, and by which rule. */
export function ruleInWords(ledger: Ledger, rule: WhyRule, { known }: LookedUpPage, asked: WhyAsked): string {
  const { timed, heard, now } = asked;
  // A watch writes down some time after a visit when the page's own rule wants it again.
  const ruled = timed && nextLook(timed, known?.time ?? now);
  const due = heard ? now : (ruled ?? known?.due ?? now);
  const when = due <= now ? 'Next check: now' : `Next check in ${inWords((due - now) / DAY)}`;
  switch (rule) {
    case 'gone':
      return `${when}: pages that are gone are checked after ${RECHECKS.join(', ')} days, then every ${MAX_INTERVAL} days.`;
    case 'moved':
      return `${when}: Skein visits the page that it redirects to instead.`;
    case 'failed':
      return `${when}: a stored page that could not be fetched is asked for after 1, 2, 4, … days, ${SELDOM} at most.`;
    case 'alias': {
      const url = known?.same_as ? ledger.pages.get(known.same_as)?.url : undefined;
      return `${when}: it has the same bytes as ${url ?? 'another page'}, so it is checked when that page changes, or rarely.`;
    }
    case 'timed':
      return `${when}, set by your rule "${timed?.text}".`;
    case 'doubted':
      return 'Next check: now, because a page or sitemap that named it does so no longer.';
    case 'notice':
      return `${when}, moved forward because the site told us of a change (${tellersOf(ledger, known)}).`;
    case 'wave':
      return 'Next check: now, because pages of its server are changing together (a wave).';
    case 'suspected':
      return 'Next check: now, because a similar page changed unexpectedly and they may change together.';
    case 'longest':
      return `${when}: every page is checked at least once in ${MAX_INTERVAL} days.`;
    case 'shortest':
      return `${when}: no page is checked more often than every ten minutes.`;
    case 'kept':
      return 'Next check: as soon as less of its server is expected to be up to date than was asked for.';
    case 'policy':
      return `${when}, set by the policy.`;
    case 'freshness':
      return `${when}, set by the freshness that was asked for.`;
    case 'budget':
      return `${when}, set by the budget${due > now ? '; sooner if a round has budget left' : ''}.`;
    case 'sitemap':
      return `${when}: sitemaps are read about twice as often as they change.`;
    default:
      return '';
  }
}
