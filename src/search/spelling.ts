/**
 * What a person may have meant by a word that no page has: the word of the pages that takes the fewest mistakes to
 * become it, and among equals the one that most pages have. Asked only when a query finds nothing with all its words,
 * because it reads through the words with the same two first letters: some hundredths of a second.
 *
 * The index holds stems, which nobody wants to read; the word itself is taken from a page that has it. Only the first
 * shelf is read: 65,536 pages have the words that people misspell.
 *
 * A mistake in an ending keeps it from being cut off (replicatoin, whose stem is itself, for replic), so besides the
 * stems near that of the word, those of all words that are one mistake away are looked up.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { tableOf } from './shelves.ts';
import { unpack } from './texts.ts';
import { eachWord, termOf } from './words.ts';

/** Letters from which a word can be told from its neighbours, and from which two mistakes are forgiven. */
const SHORTEST = 4;
const LONG = 8;
/** Languages by whose rules the words one mistake away are read: each costs some 500 questions. */
const RULES = 3;
/** Pages that are asked for the word behind a stem. */
const ASKED = 3;

export class Spelling {
  readonly #database: DatabaseSync;
  #near: StatementSync | undefined;
  #exact: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** A word of the pages that is nearly `word`; undefined = there is none. `languages`: those that the pages are in. */
  correct(word: string, languages: readonly string[]): string | undefined {
    if (word.length < SHORTEST || !/^\p{L}+$/u.test(word)) return undefined;
    const lower = word.toLowerCase();
    const most = word.length < LONG ? 1 : 2;
    let best = { term: '', distance: most + 1, pages: 0 };
    const offer = (term: string, distance: number, pages: number) => {
      if (distance < best.distance || (distance === best.distance && distance <= most && pages > best.pages))
        best = { term, distance, pages };
    };
    for (const term of new Set(languages.map(language => termOf(lower, language))))
      for (const [near, pages] of this.#neighbours(term, most)) offer(near, mistakes(term, near, most), pages);
    for (const term of new Set(languages.slice(0, RULES).flatMap(language => oneMistake(lower, language)))) {
      const pages = this.#exact?.get(term)?.['doc'];
      if (typeof pages === 'number') offer(term, 1, pages);
    }
    return best.term === '' ? undefined : this.#wordOf(best.term);
  }

  /**
   * Terms with the same two first letters and about the same length, and how many pages have them. FTS5 counts those
   * anew from all places of each term, so that one letter took five times as long.
   */
  #neighbours(term: string, most: number): [string, number][] {
    const first = [...term].slice(0, 2).join('');
    if (this.#near === undefined) this.#prepare();
    const rows = this.#near?.all(first, first, term.length - most, term.length + most) ?? [];
    return rows.map(row => [String(row['term']), Number(row['doc'])]);
  }

  #prepare(): void {
    const shelf = tableOf(0);
    if (!this.#database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(shelf)) return;
    this.#database.exec(
      `CREATE VIRTUAL TABLE IF NOT EXISTS temp.vocabulary USING fts5vocab('main', '${shelf}', 'row')`,
    );
    this.#near = this.#database.prepare(
      `SELECT term, doc FROM temp.vocabulary WHERE term >= ? AND term < ? || char(1114111) AND length(term) BETWEEN ? AND ?`,
    );
    this.#exact = this.#database.prepare('SELECT doc FROM temp.vocabulary WHERE term = ?');
  }

  #wordOf(term: string): string | undefined {
    const shelf = tableOf(0);
    const rows = this.#database
      .prepare(
        `SELECT title, language, packed, body FROM pages LEFT JOIN texts USING (id)
         WHERE id IN (SELECT rowid FROM ${shelf} WHERE ${shelf} MATCH ? LIMIT ${ASKED})`,
      )
      .all(`"${term}"`) as { title: string; language: string; packed: number | null; body: Uint8Array | null }[];
    for (const { title, language, packed, body } of rows) {
      const text = packed === null || body === null ? title : `${title}\n${unpack({ packed, body })}`;
      let found: string | undefined;
      eachWord(text, language, (made, start, end) => {
        if (made === term) found ??= text.slice(start, end).toLowerCase();
      });
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

const letters = [...'abcdefghijklmnopqrstuvwxyz'];

/** The terms of all words that one mistake makes of this one. */
function oneMistake(word: string, language: string): string[] {
  const made = new Set<string>();
  for (let at = 0; at <= word.length; at++) {
    const [before, after] = [word.slice(0, at), word.slice(at)];
    made.add(before + after.slice(1));
    if (after.length > 1) made.add(before + after[1] + after[0] + after.slice(2));
    for (const letter of letters) made.add(before + letter + after).add(before + letter + after.slice(1));
  }
  return [...made].map(each => termOf(each, language));
}

/** Letters to change, add, leave out or swap with their neighbour to make one word of the other; more than `most` = most + 1. */
function mistakes(one: string, two: string, most: number): number {
  let [before, last] = [[] as number[], Array.from({ length: two.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= two.length; j++) {
      const same = one[i - 1] === two[j - 1] ? 0 : 1;
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
    }
    if (Math.min(...row) > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[two.length]!;
}
