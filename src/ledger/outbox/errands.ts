/**
 * Errands under way with outposts on other machines. They outlive this process: a home that starts again knows which parcels
 * may still come, from whom, and which it has. Rows change in the same batch as the visits of those parcels.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

interface ErrandRow {
  readonly id: string;
  readonly outpost: string;
  /** As encodeErrand wrote it. */
  readonly bytes: Uint8Array;
  /** Milliseconds since 1970. */
  readonly issued: number;
  /** Last parcel taken, -1 = none. */
  readonly sequence: number;
}

export class Errands {
  readonly #database: DatabaseSync;
  #add: StatementSync | undefined;
  #took: StatementSync | undefined;
  #remove: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(row: Omit<ErrandRow, 'sequence'>): void {
    this.#add ??= this.#database.prepare('INSERT OR REPLACE INTO errands VALUES (?, ?, ?, ?, -1)');
    this.#add.run(row.id, row.outpost, row.bytes, row.issued);
  }

  took(id: string, sequence: number): void {
    this.#took ??= this.#database.prepare('UPDATE errands SET sequence = ? WHERE id = ?');
    this.#took.run(sequence, id);
  }

  remove(id: string): void {
    this.#remove ??= this.#database.prepare('DELETE FROM errands WHERE id = ?');
    this.#remove.run(id);
  }

  all(): ErrandRow[] {
    return this.#database.prepare('SELECT * FROM errands ORDER BY issued').all() as unknown as ErrandRow[];
  }
}
