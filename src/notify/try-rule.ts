/** Tries a rule on what has happened already, without a desk and without sending anything. */
import { readCollection } from '../ledger/collection/collection.ts';
import { type ChangeCandidate, ChangeFinder } from './find.ts';
import type { Rule } from './rule.ts';

/** Changes that a rule is tried on unless somebody says how many. */
export const TRIED = 20;

/** The last changes that the rule is about, of all partitions, oldest first: what each would have told, and why or why not. */
export async function tryRule(data: string, rule: Rule, most = TRIED): Promise<ChangeCandidate[]> {
  const found: ChangeCandidate[] = [];
  for (const { directory } of readCollection(data).here) {
    const finder = new ChangeFinder(directory);
    try {
      found.push(...(await finder.last(rule, most)));
    } finally {
      finder.close();
    }
  }
  return found.sort((a, b) => Date.parse(a.change.time) - Date.parse(b.change.time)).slice(-most);
}
