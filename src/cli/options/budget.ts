/** A budget as users write it: `10%` of the collection, `500` pages or `50MB`, each a day. */
import { SkeinError } from '../../base/errors.ts';
import type { Budget } from '../../engine/budget.ts';
import { parseSize } from './options.ts';

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
