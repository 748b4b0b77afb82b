/**
 * A source for the feeder's tests: a text file of steps, one per line, that the test appends to. The cursor is the
 * number of lines read, so what the index must hold follows from its cursor alone.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SearchSource } from '../../src/search/feed/feed.ts';
import { document } from './documents.ts';

export const stepsFile = (dataDirectory: string) => join(dataDirectory, 'steps.txt');

/** `+12 some words` puts page 12, `-12` removes it. */
export function openSource(dataDirectory: string): SearchSource {
  return {
    since(cursor, limit) {
      const file = stepsFile(dataDirectory);
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      const from = Number(cursor || 0);
      const taken = lines.slice(from, from + limit);
      const parsed = taken.map(line => /^([+-])(\d+) ?(.*)$/.exec(line)!);
      const put = new Map<number, string>();
      const gone = new Set<number>();
      for (const [, sign, page, text] of parsed) {
        put.delete(Number(page));
        gone.delete(Number(page));
        if (sign === '+') put.set(Number(page), text!);
        else gone.add(Number(page));
      }
      return {
        cursor: String(from + taken.length || ''),
        changed: [...put].map(([page, text]) => document(page, { text })),
        gone: [...gone],
      };
    },
  };
}
