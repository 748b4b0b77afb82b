/** A budget in the terms of the schedule, and what it allows a day. */
import type { ScheduleSettings } from '../frontier/schedule/settings.ts';
import type { Allowance } from '../home/supply.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Balance } from '../revisit/budget.ts';

const SURPRISE = 1.5;

/** What may be spent a day. */
export interface Budget {
  /** Exactly one of these: a share of the collection, pages, or bytes on the wire. */
  readonly share?: number;
  readonly pages?: number;
  readonly bytes?: number;
}

/** Pages that can be kept fresh. Dead links, redirects, sitemaps and images have budgets of their own beside it. */
function collectionSize(ledger: Ledger): number {
  return Math.max(1, ledger.dueTimes.countLive());
}

/** A budget in the schedule's terms. */
export function aimOf(
  ledger: Ledger,
  budget: Budget,
): Pick<ScheduleSettings, 'share'> | Pick<ScheduleSettings, 'bytes'> {
  if (budget.bytes !== undefined) return { bytes: budget.bytes };
  return { share: budget.share ?? (budget.pages ?? 0) / collectionSize(ledger) };
}

/** What may be spent a day. A freshness to be kept has no budget: it takes what it needs, and some more for surprises. */
export function allowanceOf(ledger: Ledger, settings: ScheduleSettings, balance: Balance): Allowance {
  const pages = collectionSize(ledger);
  const unlimited = Number.POSITIVE_INFINITY;
  if (settings.bytes !== undefined) return { pages: unlimited, bytes: settings.bytes };
  if (settings.freshness !== undefined) return { pages: SURPRISE * balance.visits * pages, bytes: unlimited };
  return { pages: (settings.share ?? 0.1) * pages, bytes: unlimited };
}
