/**
 * BM25 by the figures of a whole collection. FTS5 weighs a word by how many pages of its own table have it, and a page by
 * the mean length there: scores of two tables cannot be compared. So the figures of all tables are summed first, and what
 * a page has of each phrase is taken from FTS5's score of that phrase alone:
 *
 *   score = idf × f × (k1 + 1) / (f + K),  K = k1 × (1 − b + b × length / mean length)
 *
 * idf, K and the score are known, f follows, and the same formula with the collection's idf and mean length gives the
 * score that one table of all pages would give.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { columns } from '../schema.ts';
import { Shelves, tableOf } from '../shelves.ts';
import type { Phrase } from './phrases.ts';

/** What scores depend on; those of several indexes can be summed. */
export interface Statistics {
  readonly pages: number;
  /** Terms of all pages together. */
  readonly length: number;
  /** How many pages have each phrase, in the order of the phrases. */
  readonly frequencies: readonly number[];
}

export function summedStatistics(parts: readonly Statistics[], phrases: number): Statistics {
  return {
    pages: parts.reduce((sum, part) => sum + part.pages, 0),
    length: parts.reduce((sum, part) => sum + part.length, 0),
    frequencies: Array.from({ length: phrases }, (_, i) => parts.reduce((sum, part) => sum + part.frequencies[i]!, 0)),
  };
}

/** Of FTS5. */
const K1 = 1.2;
const B = 0.75;
const LEAST_IDF = 1e-6;

const idfOf = (pages: number, having: number) => {
  const idf = Math.log((pages - having + 0.5) / (having + 0.5));
  return idf <= 0 ? LEAST_IDF : idf;
};

const dampingOf = (relativeLength: number) => K1 * (1 - B + B * relativeLength);
const scoreOf = (idf: number, frequency: number, damping: number) =>
  (idf * frequency * (K1 + 1)) / (frequency + damping);

const weights = Object.values(columns).join(', ');

export class Scorer {
  readonly #database: DatabaseSync;
  readonly #shelves: Shelves;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#shelves = new Shelves(database);
  }

  statistics(phrases: readonly Phrase[]): Statistics {
    const shelves = Array.from({ length: this.#shelves.count() }, (_, shelf) => ({
      ...this.#totals(shelf),
      frequencies: phrases.map(phrase => this.#frequency(shelf, phrase)),
    }));
    return summedStatistics(shelves, phrases.length);
  }

  /** Scores of these pages by the figures of the whole collection; `phrases` as they were counted there. */
  scores(pages: readonly number[], phrases: readonly Phrase[], whole: Statistics): Map<number, number> {
    const scores = new Map(pages.map(page => [page, 0]));
    const list = JSON.stringify(pages);
    const mean = whole.length / whole.pages;
    for (let shelf = 0; shelf < this.#shelves.count(); shelf++) {
      const own = this.#totals(shelf);
      const lengths = this.#lengths(shelf, list);
      if (lengths.size === 0) continue;
      phrases.forEach((phrase, i) => {
        const here = idfOf(own.pages, this.#frequency(shelf, phrase));
        const idf = idfOf(whole.pages, whole.frequencies[i]!);
        for (const [page, score] of this.#scored(shelf, phrase, list)) {
          const length = lengths.get(page)!;
          const share = score / (here * (K1 + 1));
          const frequency = (dampingOf((length * own.pages) / own.length) * share) / (1 - share);
          scores.set(page, scores.get(page)! + scoreOf(idf, frequency, dampingOf(length / mean)));
        }
      });
    }
    return scores;
  }

  /** Those of the pages that have the phrase, with FTS5's score for it. */
  #scored(shelf: number, phrase: Phrase, list: string): [page: number, score: number][] {
    const table = tableOf(shelf);
    // The plus keeps FTS5 from starting anew for each of them.
    const statement = this.#statement(
      `SELECT rowid, -bm25(${table}, ${weights}) FROM ${table}
       WHERE ${table} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`,
    );
    statement.setReturnArrays(true);
    const rows = statement.all(phrase, list) as unknown as [number, number][];
    return rows.filter(([, score]) => score > 0);
  }

  #frequency(shelf: number, phrase: Phrase): number {
    const table = tableOf(shelf);
    return Number(this.#statement(`SELECT count(*) AS n FROM ${table} WHERE ${table} MATCH ?`).get(phrase)!['n']);
  }

  /** FTS5 keeps them: how many pages, then the terms of each column. */
  #totals(shelf: number): { pages: number; length: number } {
    const row = this.#statement(`SELECT block FROM ${tableOf(shelf)}_data WHERE id = 1`).get();
    const [pages = 0, ...lengths] = varints((row?.['block'] as Uint8Array | undefined) ?? new Uint8Array(0));
    return { pages, length: lengths.reduce((sum, each) => sum + each, 0) };
  }

  /** Terms of each page, which FTS5 keeps by column. */
  #lengths(shelf: number, list: string): Map<number, number> {
    const rows = this.#statement(
      `SELECT id, sz FROM ${tableOf(shelf)}_docsize WHERE id IN (SELECT value FROM json_each(?))`,
    ).all(list);
    return new Map(
      rows.map(row => [row['id'] as number, varints(row['sz'] as Uint8Array).reduce((sum, each) => sum + each, 0)]),
    );
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

/** SQLite's numbers of seven bits a byte, the highest first; none of ours needs the ninth byte, which is another. */
function varints(bytes: Uint8Array): number[] {
  const found: number[] = [];
  let value = 0;
  for (const byte of bytes) {
    value = value * 128 + (byte & 127);
    if (byte & 128) continue;
    found.push(value);
    value = 0;
  }
  return found;
}
