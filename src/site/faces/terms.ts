/** The shared search cache: terms that home told of, with counts; what a search box suggests while somebody types. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import type { SharedTerm } from '../../notices/site/terms.ts';

/** Terms that are kept: those with the largest counts. */
const MOST = 10_000;
const SHOWN = 10;

export class SearchedTerms {
  readonly #file: string;
  #terms: Map<string, SharedTerm>;

  constructor(directory: string) {
    this.#file = join(directory, 'terms.json');
    this.#terms = new Map(this.#read().map(each => [each.term, each]));
  }

  get count(): number {
    return this.#terms.size;
  }

  add(terms: readonly SharedTerm[]): void {
    for (const each of terms) {
      if (each.term === '') continue;
      const before = this.#terms.get(each.term);
      this.#terms.set(each.term, { ...before, ...each, count: each.count + (before?.count ?? 0) });
    }
    const sorted = [...this.#terms.values()].sort((a, b) => b.count - a.count).slice(0, MOST);
    this.#terms = new Map(sorted.map(each => [each.term, each]));
    replaceFile(this.#file, JSON.stringify(sorted), PRIVATE);
  }

  /** Terms of which a word begins so, the most frequent first. Counts stay here. */
  suggest(beginning: string): readonly Omit<SharedTerm, 'count'>[] {
    const wanted = beginning.slice(0, 100).normalize('NFC').toLowerCase().replace(/\s+/g, ' ').trimStart();
    const found: SharedTerm[] = [];
    for (const each of this.#terms.values()) {
      if (each.term.startsWith(wanted) || each.term.includes(` ${wanted}`)) found.push(each);
      if (found.length === SHOWN) break;
    }
    return found.map(({ count: _, ...shown }) => shown);
  }

  #read(): readonly SharedTerm[] {
    try {
      return JSON.parse(readFileSync(this.#file, 'utf8')) as SharedTerm[];
    } catch {
      return []; // none yet
    }
  }
}
