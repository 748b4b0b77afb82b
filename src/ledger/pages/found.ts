/** What hooks took from pages: rows of JSON, each with the visit that it was taken at. */
import type { DatabaseSync } from 'node:sqlite';
import { hasTable } from '../schema.ts';

interface FoundDataRow {
  readonly visit: number;
  readonly url: string;
  /** Milliseconds since 1970, of the visit. */
  readonly time: number;
  /** JSON. */
  readonly data: string;
}

/** Rows that are read at once. */
const SOME = 1000;

export class FoundData {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** In a batch. */
  add(visit: number, page: number, data: string): void {
    this.#database.prepare('INSERT INTO found VALUES (?, ?, ?)').run(visit, page, data);
  }

  of(visit: number): string | undefined {
    if (!hasTable(this.#database, 'found')) return undefined;
    return this.#database.prepare('SELECT data FROM found WHERE visit = ?').get(visit)?.['data'] as string | undefined;
  }

  /** In the order of the visits after one, up to another; `newest`: of each page the last alone. */
  *between(after: number, upTo: number, newest = false): Generator<FoundDataRow> {
    if (!hasTable(this.#database, 'found')) return;
    const sql = `SELECT f.visit, p.url, v.time, f.data FROM found f JOIN visits v ON v.id = f.visit JOIN pages p ON p.id = f.page
      WHERE f.visit > ? AND f.visit <= ?
        ${newest ? 'AND NOT EXISTS (SELECT 1 FROM found l WHERE l.page = f.page AND l.visit > f.visit)' : ''}
      ORDER BY f.visit LIMIT ${SOME}`;
    const next = this.#database.prepare(sql);
    for (let rows: FoundDataRow[], last = after; ; last = rows.at(-1)!.visit) {
      rows = next.all(last, upTo) as unknown as FoundDataRow[];
      yield* rows;
      if (rows.length < SOME) return;
    }
  }
}
