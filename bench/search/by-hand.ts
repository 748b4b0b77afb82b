/** Queries that people wrote (by-hand.txt), beside those that rules made (queries.ts). The second half was held out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchDocument } from '../../src/search/index.ts';
import type { KnownItem } from './queries.ts';

export function byHand(documents: readonly SearchDocument[]): KnownItem[] {
  const halves = readFileSync(join(import.meta.dirname, 'by-hand.txt'), 'utf8').split(/^-+$/m);
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
