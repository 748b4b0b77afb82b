/** A budget as users write it: `10%` of the collection, `500` pages or `50MB`, each a day. */
import { SkeinError } from '../../base/errors.ts';
import type { ScheduleSettings } from '../../frontier/schedule/settings.ts';
import type { Allowance } from '../../home/supply.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { Balance } from '../../revisit/budget.ts';
import { parseSize } from './options.ts';

const SURPRISE = 1.5;

export interface Budget {
  /** Exactly one of these. */
  readonly share?: number;
  readonly pages?: number;
  readonly bytes?: number;
}

export function parseBudget(text: string | number): Budget {
  const match = /^\s*(\d+(?:\.\d+)?)\s*(%|[kmg]i?b)?\s*(?:\/\s*d(?:ay)?)?\s*$/i.exec(String(text));
  const amount = Number(match?.[1]);
  if (!match || amount <= 0) {
    throw new SkeinError(
      'bad-option',
      `"${text}" is not a budget.`,
      'Write 10% (of the collection), 500 (pages) or 50MB, each a day.',
    );
  }
  if (match[2] === '%') return { share: amount / 100 };
  return match[2] === undefined ? { pages: amount } : { bytes: parseSize(`${amount}${match[2]}`) };
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
