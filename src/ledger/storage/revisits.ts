/**
 * Which stored copies only refer to the body of another one. Read from the records, once for each visit, and only by
 * whoever is about to drop copies: a crawl pays nothing for it.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { NamedCopy } from './dropped.ts';

/** Setting: the last visit whose record was read. */
const READ = 'revisits-read';
const SOME = 1000;

export class Revisits {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Stored copies whose records were not read yet, some at a time; whoever has read them says so with `read`. */
  unread(): NamedCopy[] {
    const sql = `SELECT id AS visit, page, time, segment, place, length, request_length FROM visits
      WHERE id > ? AND segment IS NOT NULL ORDER BY id LIMIT ${SOME}`;
    return this.#database.prepare(sql).all(this.#last()) as unknown as NamedCopy[];
  }

  read(upTo: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(READ, String(upTo));
  }

  #last(): number {
    return Number(this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(READ)?.['value'] ?? 0);
  }

  /** The record of a visit refers to the body that another visit brought. */
  put(visit: number, original: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO revisits VALUES (?, ?)').run(visit, original);
  }

  /** The record of a visit has a body of its own, or is gone. */
  remove(visit: number): void {
    this.#database.prepare('DELETE FROM revisits WHERE visit = ?').run(visit);
  }

  /** Visits whose records refer to that of a visit, oldest first. */
  of(original: number): number[] {
    const rows = this.#database.prepare('SELECT visit FROM revisits WHERE original = ? ORDER BY visit').all(original);
    return rows.map(row => row['visit'] as number);
  }

  /** The copy that a page had at a time: the one that a record means which names page and time. */
  copyAt(page: number, time: number): number | undefined {
    const sql = `SELECT id FROM visits WHERE page = ? AND segment IS NOT NULL AND time <= ? ORDER BY id DESC LIMIT 1`;
    return this.#database.prepare(sql).get(page, time)?.['id'] as number | undefined;
  }
}
