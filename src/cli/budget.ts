/** A budget as users write it: `10%` of the collection, `500` pages or `50MB`, each a day. */
import { SkeinError } from '../base/errors.ts';
import type { Allowance } from '../home/supply.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { parseSize } from './options.ts';

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

/** Pages that can be kept fresh: those that were seen at least once. */
export function collectionSize(ledger: Ledger): number {
  const row = ledger.database.prepare('SELECT count(*) AS n FROM known WHERE due IS NOT NULL').get()!;
  return Math.max(1, row['n'] as number);
}

/** The share of the collection a day that a budget amounts to. */
export function shareOf(ledger: Ledger, budget: Budget): number {
  if (budget.share !== undefined) return budget.share;
  const pages = collectionSize(ledger);
  if (budget.pages !== undefined) return budget.pages / pages;
  return (budget.bytes ?? 0) / bytesPerVisit(ledger) / pages;
}

export function allowanceOf(ledger: Ledger, budget: Budget): Allowance {
  return {
    pages: budget.bytes === undefined ? shareOf(ledger, budget) * collectionSize(ledger) : Number.POSITIVE_INFINITY,
    bytes: budget.bytes ?? Number.POSITIVE_INFINITY,
  };
}

/** Mean bytes of a second look so far; before there was one, half of what first looks cost. */
function bytesPerVisit(ledger: Ledger): number {
  const { database } = ledger;
  const again = database
    .prepare(
      `SELECT avg(up + down) AS mean FROM (SELECT up, down FROM visits WHERE stage IS NOT NULL AND stage <> 'first'
       ORDER BY id DESC LIMIT 2000)`,
    )
    .get()!['mean'] as number | null;
  const first = database.prepare('SELECT avg(wire) AS mean FROM known').get()!['mean'] as number | null;
  return Math.max(300, again ?? (first ?? 20_000) / 2);
}
