/** Lengths of the archive's segments, committed in the same batch as the visits whose records lie in them. */
import type { DatabaseSync } from 'node:sqlite';

export class SegmentLengths {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  all(): { id: number; length: number }[] {
    return this.#database.prepare('SELECT id, length FROM segments ORDER BY id').all() as unknown as {
      id: number;
      length: number;
    }[];
  }

  setLength(id: number, length: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO segments VALUES (?, ?)').run(id, length);
  }

  /** The segment is lost, with all copies in it. */
  remove(id: number): void {
    this.#database.prepare('DELETE FROM segments WHERE id = ?').run(id);
  }
}
