/**
 * Queries that people wrote, beside those that rules made (queries.ts): by-hand.txt for the first shelf of pages, whose
 * second half was held out; for the others a file each, written before anything was asked of them.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/index.ts';
import { type KnownItem, knownItems } from './queries.ts';

/** All that is asked of the pages of a shelf. */
export function queriesFor(shelf: string, documents: readonly SearchDocument[]): KnownItem[] {
  if (shelf === 'first') return [...knownItems(documents), ...byHand('by-hand.txt', documents)];
  return byHand(`by-hand-${shelf}.txt`, documents).map(item => ({ ...item, heldOut: true }));
}

function byHand(file: string, documents: readonly SearchDocument[]): KnownItem[] {
  const halves = readFileSync(join(import.meta.dirname, file), 'utf8').split(/^-+$/m);
  return halves.flatMap((half, at) =>
    half.split('\n').flatMap((line): KnownItem[] => {
      const [, kind, query, pattern] = /^(\w+) \| (.*?) \| (.*)$/.exec(line) ?? [];
      if (kind === undefined) return [];
      const answers = new RegExp(pattern!);
      const pages = new Set(documents.filter(({ url }) => answers.test(url)).map(({ page }) => page));
      return pages.size === 0 ? [] : [{ kind: `by hand, ${kind}`, query: query!, pages, heldOut: at === 1 }];
    }),
  );
}
