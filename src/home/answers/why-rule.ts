/** Which rule decides when a page is visited next: the budget, or one that comes before it. */
import { DAY } from '../../base/clock.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { FLAG_ALIAS, FLAG_DOUBTED } from '../../ledger/pages/known-row.ts';
import { roles } from '../../ledger/pages/pages.ts';
import type { Server } from '../../ledger/servers.ts';
import { inWords } from '../../revisit/explain.ts';
import { RECHECKS } from '../../revisit/gone.ts';
import { LEAST_INTERVAL, MAX_INTERVAL, type Plan } from '../../revisit/policy.ts';
import type { FoundPage } from './lookup.ts';

export type WhyRule =
  | 'first' // it was never visited, or is refused
  | 'retry'
  | 'settled'
  | 'sitemap'
  | 'gone'
  | 'moved'
  | 'alias'
  | 'doubted'
  | 'notice'
  | 'wave'
  | 'suspected'
  | 'longest'
  | 'shortest'
  | 'policy'
  | 'budget';

/** Rules that ask for neither rate nor value. */
export const FIXED: ReadonlySet<WhyRule> = new Set(['gone', 'moved', 'alias', 'sitemap', 'retry', 'settled']);

export function ruleOf({ page, known }: FoundPage, server: Server | undefined, plan: Plan): WhyRule {
  if (!known || page.refused !== null) return 'first';
  if (known.retry_at !== null) return 'retry';
  if (known.due === null) return 'settled';
  if (roles[page.role] === 'sitemap') return 'sitemap';
  if (known.outcome === 'gone' || known.outcome === 'moved') return known.outcome;
  if (known.flags & FLAG_ALIAS) return 'alias';
  if (known.flags & FLAG_DOUBTED) return 'doubted';
  if (known.pings > 0) return 'notice';
  if (server && server.wave > (known.seen_time ?? 0)) return 'wave';
  // Every other rule lets it rest for a while.
  if (known.due < (known.seen_time ?? 0)) return 'suspected';
  const wait = (known.due - (known.seen_time ?? known.time)) / DAY;
  if (wait >= MAX_INTERVAL * 0.999) return 'longest';
  if (wait <= LEAST_INTERVAL * 1.001) return 'shortest';
  return plan.policy.name === 'value' ? 'budget' : 'policy';
}

/** By which ways it was told. */
function tellersOf(ledger: Ledger, known: FoundPage['known']): string {
  const kinds = Object.keys(known ? ledger.told.of(known.page) : {});
  return kinds.length === 0
    ? 'by a ping'
    : kinds.map(kind => (kind === 'ping' ? 'by a ping' : `by its ${kind}`)).join(', ');
}

/** Says when it is visited next, and by which rule. */
export function ruleInWords(ledger: Ledger, rule: WhyRule, { known }: FoundPage, now: number): string {
  const due = known?.due ?? now;
  const when = due <= now ? 'it comes next' : `its turn is in ${inWords((due - now) / DAY)}`;
  switch (rule) {
    case 'gone':
      return `A fixed rule decides, not the budget of pages: what is gone is asked for again after ${RECHECKS.join(', ')} and then every ${MAX_INTERVAL} days; ${when}.`;
    case 'moved':
      return `A fixed rule decides, not the budget of pages: where it redirects to is visited instead; ${when}.`;
    case 'alias': {
      const url = known?.same_as ? ledger.pages.get(known.same_as)?.url : undefined;
      return `It is a second address of ${url ?? 'another page'}, with the same bytes: it is looked at when that changes, or seldom; ${when}.`;
    }
    case 'doubted':
      return 'Nothing leads to it any more, so it is looked at soon: it comes next.';
    case 'notice':
      return `Notices decide: the site told us (${tellersOf(ledger, known)}), which moved it forward; ${when}.`;
    case 'wave':
      return 'A wave decides: pages of its server change together just now, so it comes next.';
    case 'suspected':
      return 'A page like it has changed when nothing foretold that: it comes next, to see whether they change together.';
    case 'longest':
      return `The longest interval decides: every page is looked at once in ${MAX_INTERVAL} days; ${when}.`;
    case 'shortest':
      return `The shortest interval decides: no page is looked at more often than every ten minutes; ${when}.`;
    case 'policy':
      return `The policy decides: ${when}.`;
    case 'budget':
      return `The budget decides: ${when}${due > now ? ', or sooner where a round has budget left' : ''}.`;
    case 'sitemap':
      return `A fixed rule decides: sitemaps are read about twice as often as they change; ${when}.`;
    default:
      return '';
  }
}
