/**
 * Where the terms stand: on shelves of at most 65,536 pages, each an FTS5 table of its own, filled one after the other.
 * One table for all would be simpler, and too slow for common words: before FTS5 scores the first page by BM25 it reads
 * every page that has the word, to know how common it is, and a phrase of common words has to be looked for in nearly
 * every page. A search goes from shelf to shelf, the pages found earliest first, and ends when it has enough. Each shelf
 * weighs words by its own pages, which at this size differ little from shelf to shelf.
 *
 * The invariant: a page is on the shelf that its row in `pages` names, and on no other.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { columns } from './schema.ts';

/** Pages of one shelf. */
export const ROOM = 65_536;
/**
 * Bytes of terms that FTS5 gathers before it writes them: more than any one batch has, so that a batch makes one segment.
 */
const GATHERED = 32 * 1024 * 1024;
/** Segments of one size that are merged into one while pages come in. */
const MERGED_AT = 8;
/** Percent of a segment's pages that are no longer there when it is written anew: at 10 a refresh paid a fifth for it. */
const REWRITTEN_AT = 40;
/** Database pages written when a shelf is tidied once. */
const TIDIED = 200;

const names = Object.keys(columns);

export type Columns = Readonly<Record<keyof typeof columns, string>>;

export function tableOf(shelf: number): string {
  return `terms${shelf}`;
}

export class Shelves {
  readonly #database: DatabaseSync;
  readonly #counted: StatementSync;
  readonly #free: StatementSync;
  /** Big integers: `run` gives the last rowid, which after a write to FTS5 is one of its own, too big for a number. */
  readonly #count: StatementSync;
  readonly #writing = new Map<number, { readonly put: StatementSync; readonly erase: StatementSync }>();
  readonly #untidy: number[] = [];

  constructor(database: DatabaseSync, room = ROOM) {
    this.#database = database;
    this.#counted = database.prepare('SELECT count(*) AS n, sum(pages) AS pages FROM shelves');
    this.#free = database.prepare(`SELECT min(shelf) AS shelf FROM shelves WHERE pages < ${room}`);
    this.#count = database.prepare('UPDATE shelves SET pages = pages + ? WHERE shelf = ?');
    this.#count.setReadBigInts(true);
  }

  /** Shelves are numbered from 0; another process may have added one since. */
  count(): number {
    return Number(this.#counted.get()!['n']);
  }

  /** Pages on all of them. */
  pages(): number {
    return Number(this.#counted.get()!['pages'] ?? 0);
  }

  /** The first shelf that has room, for one page more. */
  choose(): number {
    const chosen = this.#next();
    this.#count.run(1, chosen);
    return chosen;
  }

  /** Puts the terms of a page on its shelf, in place of those that are there. */
  put(page: number, shelf: number, made: Columns): void {
    this.#statements(shelf).put.run(page, ...names.map(name => made[name as keyof Columns]));
    if (!this.#untidy.includes(shelf)) this.#untidy.push(shelf);
  }

  erase(page: number, shelf: number): void {
    this.#statements(shelf).erase.run(page);
    this.#count.run(-1, shelf);
  }

  /** Merges a little of a shelf that was written lately. */
  tidy(): void {
    const shelf = this.#untidy.shift();
    if (shelf === undefined) return;
    this.#database.exec(`INSERT INTO ${tableOf(shelf)} (${tableOf(shelf)}, rank) VALUES ('merge', ${TIDIED})`);
    this.#untidy.push(shelf);
  }

  /** Makes one segment of each shelf, without what was erased. */
  purge(): void {
    for (let shelf = 0; shelf < this.count(); shelf++)
      this.#database.exec(`INSERT INTO ${tableOf(shelf)} (${tableOf(shelf)}) VALUES ('optimize')`);
  }

  /** Some page has the term. */
  has(term: string): boolean {
    const asked = `"${term.replaceAll('"', '""')}"`;
    for (let shelf = 0; shelf < this.count(); shelf++) {
      const table = tableOf(shelf);
      const sql = `SELECT 1 FROM ${table} WHERE ${table} MATCH ? LIMIT 1`;
      if (this.#database.prepare(sql).get(asked) !== undefined) return true;
    }
    return false;
  }

  #next(): number {
    const shelf = this.#free.get()?.['shelf'];
    if (typeof shelf === 'number') return shelf;
    const next = this.count();
    // A full shelf is made one segment: 5% of the work of filling it, and rare words are found in half the time.
    if (next > 0) this.#database.exec(`INSERT INTO ${tableOf(next - 1)} (${tableOf(next - 1)}) VALUES ('optimize')`);
    const table = tableOf(next);
    const settings = { automerge: MERGED_AT, deletemerge: REWRITTEN_AT, hashsize: GATHERED };
    this.#database.exec(
      `CREATE VIRTUAL TABLE ${table} USING fts5(${names.join(', ')}, content = '', contentless_delete = 1, tokenize = 'ascii')`,
    );
    for (const [name, value] of Object.entries(settings))
      this.#database.exec(`INSERT INTO ${table} (${table}, rank) VALUES ('${name}', ${value})`);
    this.#database.exec(`INSERT INTO shelves VALUES (${next}, 0)`);
    return next;
  }

  #statements(shelf: number) {
    let made = this.#writing.get(shelf);
    if (made === undefined) {
      const table = tableOf(shelf);
      const places = names.map(() => '?').join(', ');
      made = {
        put: this.#database.prepare(
          `INSERT OR REPLACE INTO ${table} (rowid, ${names.join(', ')}) VALUES (?, ${places})`,
        ),
        erase: this.#database.prepare(`DELETE FROM ${table} WHERE rowid = ?`),
      };
      for (const statement of Object.values(made)) statement.setReadBigInts(true);
      this.#writing.set(shelf, made);
    }
    return made;
  }
}
