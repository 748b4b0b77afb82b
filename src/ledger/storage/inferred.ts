/** Copies of pages that were not fetched, inferred from edits that many pages share: one row a page, gone with its next look. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hasTable } from '../schema.ts';

/** Names and order are those of the table `inferred`. */
export interface InferredRow {
  readonly page: number;
  /** URLs that begin like this are left alone when one of them shows that the inference was wrong. */
  readonly folder: string;
  /** When the edit was first seen, and on how many pages. */
  readonly time: number;
  readonly pages: number;
  /** The stored version that the delta belongs to. */
  readonly segment: number;
  readonly place: number;
  /** As in the table `followed`. */
  readonly digest: Uint8Array;
  readonly delta: Uint8Array;
}

/** Inferred copies whose pages were looked at later, and what that showed. */
export interface Audited {
  readonly right: number;
  readonly wrong: number;
}

export class Inferred {
  readonly #database: DatabaseSync;
  /** Asked for every visit: prepared once. Absent in a ledger that was last written before there was such a table. */
  readonly #row: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    const known = hasTable(database, 'inferred');
    this.#row = known ? database.prepare('SELECT * FROM inferred WHERE page = ?') : undefined;
  }

  of(page: number): InferredRow | undefined {
    return this.#row?.get(page) as unknown as InferredRow | undefined;
  }

  put({ page, folder, time, pages, segment, place, digest, delta }: InferredRow): void {
    const sql = 'INSERT OR REPLACE INTO inferred VALUES (?, ?, ?, ?, ?, ?, ?, ?)';
    this.#database.prepare(sql).run(page, folder, time, pages, segment, place, digest, delta);
  }

  remove(page: number): void {
    this.#database.prepare('DELETE FROM inferred WHERE page = ?').run(page);
  }

  removeFolder(folder: string): void {
    this.#database.prepare('DELETE FROM inferred WHERE folder = ?').run(folder);
  }

  /** Pages whose copy is one of these. */
  pages(): Set<number> {
    if (!hasTable(this.#database, 'inferred')) return new Set();
    const rows = this.#database.prepare('SELECT page FROM inferred').all() as unknown as { page: number }[];
    return new Set(rows.map(({ page }) => page));
  }

  get count(): number {
    return this.#database.prepare('SELECT count(*) AS count FROM inferred').get()!['count'] as number;
  }
}
