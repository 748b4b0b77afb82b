/** The newest copy of a page where it differs from its newest stored version by no news: one row a page, written over. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Names and order are those of the table `followed`. */
interface FollowedRow {
  readonly page: number;
  /** Of the visit that brought it. */
  readonly time: number;
  /** Last time that it differed in more than stamps: when the search index has to read it. */
  readonly edited: number;
  /** The stored version that the delta belongs to. */
  readonly segment: number;
  readonly place: number;
  /** SHA-256 of the HTTP message, first 16 bytes, and its zstd delta (archive/following.ts). */
  readonly digest: Uint8Array;
  readonly delta: Uint8Array;
}

export class Followed {
  readonly #database: DatabaseSync;
  readonly #of: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#of = database.prepare('SELECT * FROM followed WHERE page = ?');
  }

  of(page: number): FollowedRow | undefined {
    return this.#of.get(page) as unknown as FollowedRow | undefined;
  }

  put(row: FollowedRow): void {
    const { page, time, edited, segment, place, digest, delta } = row;
    const sql = 'INSERT OR REPLACE INTO followed VALUES (?, ?, ?, ?, ?, ?, ?)';
    this.#database.prepare(sql).run(page, time, edited, segment, place, digest, delta);
  }

  remove(page: number): void {
    this.#database.prepare('DELETE FROM followed WHERE page = ?').run(page);
  }

  *all(): IterableIterator<FollowedRow> {
    for (const row of this.#database.prepare('SELECT * FROM followed').iterate()) yield row as unknown as FollowedRow;
  }
}
