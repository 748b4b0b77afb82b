/** The words of the pages as they are written, in lower case. A word stays when its last page goes, until a rebuild. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Longer words that are looked at. */
const LOOKED_AT = 20;

export class WordList {
  readonly #has: StatementSync;
  readonly #longer: StatementSync;

  constructor(database: DatabaseSync) {
    this.#has = database.prepare('SELECT 1 FROM vocabulary WHERE word = ?');
    this.#longer = database.prepare('SELECT word FROM vocabulary WHERE word > ? AND word < ? || char(1114111) LIMIT ?');
  }

  has(word: string): boolean {
    return this.#has.get(word.toLowerCase()) !== undefined;
  }

  /** Some of the words that begin with this one. */
  longer(word: string): string[] {
    const lower = word.toLowerCase();
    return this.#longer.all(lower, lower, LOOKED_AT).map(row => String(row['word']));
  }

  /** More words begin so than `longer` gives. */
  isShort(longer: readonly string[]): boolean {
    return longer.length >= LOOKED_AT;
  }
}

/** Whether a word is kept: what people may misspell, or write apart. */
export function isListed(word: string): boolean {
  return word.length >= 4 && word.length <= 40 && /^[\p{L}\p{M}]+$/u.test(word);
}
