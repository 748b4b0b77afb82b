/** Notices that came for a page since its last visit, by kind. A row is there only between a notice and the next visit. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { FLAG_UNSPOKEN } from '../pages/known-row.ts';

/** Notices by kind. */
export type ToldNotices = Readonly<Record<string, number>>;

export class ToldPages {
  readonly #database: DatabaseSync;
  #get: StatementSync | undefined;
  #put: StatementSync | undefined;
  #remove: StatementSync | undefined;
  #setUnspoken: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  of(page: number): ToldNotices {
    this.#get ??= this.#database.prepare('SELECT kinds FROM told WHERE page = ?');
    const row = this.#get.get(page);
    return row ? (JSON.parse(row['kinds'] as string) as ToldNotices) : {};
  }

  put(page: number, kinds: ToldNotices, time: number): void {
    this.#put ??= this.#database.prepare('INSERT OR REPLACE INTO told VALUES (?, ?, ?)');
    this.#put.run(page, JSON.stringify(kinds), time);
  }

  /** Its site tells of this page, or does not. */
  setSpoken(page: number, spoken: boolean): void {
    this.#setUnspoken ??= this.#database.prepare(
      `UPDATE known SET flags = flags & ~${FLAG_UNSPOKEN} | ? WHERE page = ?`,
    );
    this.#setUnspoken.run(spoken ? 0 : FLAG_UNSPOKEN, page);
  }

  remove(page: number): void {
    this.#remove ??= this.#database.prepare('DELETE FROM told WHERE page = ?');
    this.#remove.run(page);
  }

  /** Pages that were named and not visited yet. */
  get waiting(): number {
    const sql = 'SELECT count(*) AS n FROM told t WHERE NOT EXISTS (SELECT 1 FROM known k WHERE k.page = t.page)';
    return this.#database.prepare(sql).get()!['n'] as number;
  }

  /** Pages of which notices say that they have changed, or that they are there. */
  get size(): number {
    return this.#database.prepare('SELECT count(*) AS n FROM told').get()!['n'] as number;
  }
}
