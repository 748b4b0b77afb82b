/**
 * Which pages match, and how well by their text alone: shelf by shelf (shelves.ts), the pages found earliest first. It
 * never looks at what a page is worth; rank.ts does, for the best of what is found here.
 *
 * Two bounds keep the commonest words of a million pages as quick as any other. At most SCORED pages are scored, which
 * costs 1.2 µs each, and half as many again that have all words in title, headings or link texts. And no further shelf
 * is begun that would bring a query beyond SPENT, at what the shelves so far have cost: a phrase of common words takes
 * 10 to 40 ms a shelf, and may be on every one. Where a bound was met the result says so (`exact`: false). Processor time
 * is counted and not the clock, so that what is found depends less on what else the machine does.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { columns } from '../schema.ts';
import { Shelves, tableOf } from '../shelves.ts';
import { EVERYTHING, type QueryPlan } from './match.ts';

export const SCORED = 10_000;
/** Microseconds of processor that the shelves may take: when the window is full, and when little was found. */
const SPENT = 30_000;
const SPENT_FOR_FEW = 60_000;
/** Share of all pages that have a word which says little. */
export const COMMON = 0.25;
/** Pages that can be reached in the list of results. */
export const WINDOW = 1000;
/** Pages changed in a span of time that are looked up one by one; more of them are read on the way. */
const DATED = 20_000;

export interface FoundRow {
  readonly id: number;
  readonly score: number;
}

export interface Found {
  /** Best first, WINDOW of them at most. */
  readonly rows: readonly FoundRow[];
  readonly total: number;
  readonly exact: boolean;
}

/** From and to, in milliseconds since 1970, of the last change. */
export type Span = readonly [from: number, to: number];

/** What is asked of each shelf. */
interface ShelfQuestion {
  readonly match: string;
  readonly score: string;
  readonly from: (table: string) => string;
  readonly values: readonly (string | number)[];
}

const weights = Object.values(columns).join(', ');

export class Finder {
  readonly #database: DatabaseSync;
  readonly #shelves: Shelves;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#shelves = new Shelves(database);
  }

  find(plan: QueryPlan, span: Span | undefined): Found {
    const started = process.threadCpuUsage();
    const spent = () => {
      const { user, system } = process.threadCpuUsage(started);
      return user + system;
    };
    if (plan.match === EVERYTHING && span !== undefined) return this.#latest(span);
    const question = this.#question(plan, span);
    const found = this.#collect(question, SCORED, spent);
    if (found.exact || !plan.worded || plan.head === plan.match || spent() > SPENT_FOR_FEW) return found;
    const head = this.#collect({ ...question, match: plan.head }, SCORED / 2, spent);
    return { ...found, rows: best([...head.rows, ...found.rows]) };
  }

  /** True when one of `pages` matches. */
  matchesAny(match: string, pages: readonly number[]): boolean {
    const list = JSON.stringify(pages);
    for (let shelf = 0; shelf < this.#shelves.count(); shelf++) {
      const table = tableOf(shelf);
      const one = this.#statement(
        `SELECT 1 FROM ${table} WHERE ${table} MATCH ? AND rowid IN (SELECT value FROM json_each(?)) LIMIT 1`,
      );
      if (one.get(match, list) !== undefined) return true;
    }
    return false;
  }

  /** Those of `pages` that match. */
  matching(match: string, pages: readonly number[]): Set<number> {
    const found = new Set<number>();
    const list = JSON.stringify(pages);
    for (let shelf = 0; shelf < this.#shelves.count(); shelf++) {
      const table = tableOf(shelf);
      // The plus keeps FTS5 from starting anew for each of them.
      const sql = `SELECT rowid AS id FROM ${table} WHERE ${table} MATCH ? AND +rowid IN (SELECT value FROM json_each(?))`;
      for (const { id } of this.#statement(sql).all(match, list)) found.add(Number(id));
    }
    return found;
  }

  /** Whether any page matches. */
  isKnown(match: string): boolean {
    for (let shelf = 0; shelf < this.#shelves.count(); shelf++)
      if (this.#count(plain(match), shelf, 1) > 0) return true;
    return false;
  }

  /** How many pages match, `most` at most. */
  countAll(match: string, most: number): number {
    let found = 0;
    for (let shelf = 0; shelf < this.#shelves.count() && found < most; shelf++)
      found += this.#count(plain(match), shelf, most - found);
    return found;
  }

  /** How many pages match, `most` at most; on the first shelf, which has the words that people use. */
  count(match: string, most: number): number {
    return this.#shelves.count() === 0 ? 0 : this.#count(plain(match), 0, most);
  }

  /** Whether so many pages match that matching says little. */
  isCommon(match: string): boolean {
    // A whole number: SQLite takes no other for a limit.
    let left = Math.min(SCORED, Math.max(WINDOW, Math.ceil(COMMON * this.#shelves.pages())));
    for (let shelf = 0; shelf < this.#shelves.count() && left > 0; shelf++)
      left -= this.#count(plain(match), shelf, left);
    return left <= 0;
  }

  /** All pages that changed then, the latest first. */
  #latest(span: Span): Found {
    const sql = `SELECT id, changed AS score FROM pages WHERE changed BETWEEN ? AND ? ORDER BY changed DESC LIMIT ${WINDOW}`;
    const rows = this.#statement(sql).all(...span) as unknown as FoundRow[];
    const counted = 'SELECT count(*) AS n FROM (SELECT 1 FROM pages WHERE changed BETWEEN ? AND ? LIMIT ?)';
    const total = Number(this.#statement(counted).get(...span, SCORED + 1)!['n']);
    return { rows, total: Math.min(total, SCORED), exact: total <= SCORED };
  }

  #question({ match, worded }: QueryPlan, span: Span | undefined): ShelfQuestion {
    if (span === undefined && worded) return plain(match);
    const score = worded ? '' : span === undefined ? '1 + pages.importance' : 'pages.changed';
    const joined = (table: string) => `FROM ${table} JOIN pages ON pages.id = ${table}.rowid WHERE ${table} MATCH ?`;
    if (span === undefined) return { match, score, from: joined, values: [] };
    const dated = this.#statement('SELECT id FROM pages WHERE changed BETWEEN ? AND ? LIMIT ?').all(...span, DATED + 1);
    if (dated.length > DATED) {
      return { match, score, from: table => `${joined(table)} AND pages.changed BETWEEN ? AND ?`, values: span };
    }
    // The plus keeps FTS5 from starting anew for each of them.
    const from = (table: string) => `${joined(table)} AND +${table}.rowid IN (SELECT value FROM json_each(?))`;
    return { match, score, from, values: [JSON.stringify(dated.map(row => row['id']))] };
  }

  #collect(question: ShelfQuestion, most: number, spent: () => number): Found {
    const shelves = this.#shelves.count();
    const rows: FoundRow[][] = [];
    const before = spent();
    let total = 0;
    for (let shelf = 0; shelf < shelves; shelf++) {
      const oneMore = shelf === 0 ? 0 : (spent() - before) / shelf;
      if (shelf > 0 && spent() + oneMore > (total < WINDOW ? SPENT_FOR_FEW : SPENT))
        return { rows: best(rows.flat()), total, exact: false };
      const found = this.#read(question, shelf, most - total + 1);
      rows.push(found.rows);
      total += found.total;
      if (total > most) return { rows: best(rows.flat()), total: most, exact: false };
    }
    return { rows: best(rows.flat()), total, exact: true };
  }

  /** The best of one shelf, and how many match there, `limit` at most: in one pass, because finding phrases is dear. */
  #read(
    { match, score, from, values }: ShelfQuestion,
    shelf: number,
    limit: number,
  ): { rows: FoundRow[]; total: number } {
    const table = tableOf(shelf);
    const scored = score || `-bm25(${table}, ${weights})`;
    const statement = this.#statement(`SELECT ${table}.rowid, ${scored} ${from(table)} LIMIT ?`);
    statement.setReturnArrays(true);
    const found = statement.all(match, ...values, limit) as unknown as [id: number, score: number][];
    return { rows: contenders(found), total: found.length };
  }

  #count({ match, from, values }: ShelfQuestion, shelf: number, limit: number): number {
    const statement = this.#statement(`SELECT count(*) AS n FROM (SELECT 1 ${from(tableOf(shelf))} LIMIT ?)`);
    return Number(statement.get(match, ...values, limit)!['n']);
  }

  #statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }
}

function plain(match: string): ShelfQuestion {
  return { match, score: '', from: table => `FROM ${table} WHERE ${table} MATCH ?`, values: [] };
}

/**
 * Those that can be among the WINDOW best, in any order. Only the scores of all are sorted, as numbers: SQLite, which
 * sorts rows, took as long for it as for half of the scoring.
 */
function contenders(found: readonly (readonly [id: number, score: number])[]): FoundRow[] {
  const scores = Float64Array.from(found, ([, score]) => score).sort();
  const least = scores[scores.length - WINDOW] ?? Number.NEGATIVE_INFINITY;
  return found.filter(([, score]) => score >= least).map(([id, score]) => ({ id, score }));
}

/** Best first, each page once. */
function best(rows: readonly FoundRow[]): FoundRow[] {
  const seen = new Set<number>();
  const sorted = [...rows].sort((a, b) => b.score - a.score || a.id - b.id);
  return sorted.filter(({ id }) => !seen.has(id) && seen.add(id)).slice(0, WINDOW);
}
