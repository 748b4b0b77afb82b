/** What changed across the collection, newest first, and edits that many pages of a server share. */
import { type ChangesWanted, changesIn, type FoundChange } from '../../home/answers/changes.ts';
import { type TemplateEdit, templateEdits } from '../../home/answers/template-edits.ts';
import { localNumber, toldNumber } from '../numbers.ts';
import type { Listing, Question } from '../question.ts';

/** Changes that are read at once. */
const SOME = 2000;

/** Names pages, visits and servers by their public numbers. */
export const changesListing: Listing<ChangesWanted, FoundChange> = {
  name: 'changes',
  *rows(reader, wanted, after) {
    const { ledger, partitions } = reader;
    let before = after ? localNumber(after.id, partitions).local : wanted.before;
    // A single partition is read in one go; of many, mostly only the first few rows are taken.
    const most = partitions === 1 ? wanted.limit : SOME;
    for (let left = wanted.limit; left > 0; ) {
      const limit = Math.min(left, most);
      const found = changesIn(ledger, { ...wanted, limit, ...(before !== undefined && { before }) });
      const told = (local: number) => toldNumber(local, reader);
      for (const change of found)
        yield { ...change, id: told(change.id), page: told(change.page), server: told(change.server) };
      if (found.length < limit) return;
      left -= found.length;
      before = found.at(-1)!.id;
    }
  },
  order: () => (one, two) => two.time - one.time,
};

interface EditsWanted {
  readonly since: number;
  readonly pattern?: string | undefined;
}

export const templateEditsQuestion: Question<EditsWanted, readonly TemplateEdit[], readonly TemplateEdit[]> = {
  name: 'template-edits',
  ask: ({ ledger }, { since, pattern }) => templateEdits(ledger, since, pattern),
  merge: (_, parts) => (parts.length === 1 ? parts[0]! : parts.flat().sort((one, two) => two.time - one.time)),
};
