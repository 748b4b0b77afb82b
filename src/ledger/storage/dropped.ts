/**
 * Records of the archive that nothing names any more: they were forgotten, went with old versions, or were written anew
 * elsewhere. They stay on the disk until their segment is compacted (src/home/house/compaction.ts), and `verify` accepts
 * them because they are listed here.
 *
 * Invariant: a stored copy is named by its visit or listed here, never both; both change in one transaction.
 */
import type { DatabaseSync } from 'node:sqlite';
import { hasTable } from '../schema.ts';

/** Where the records of a visit lie; names as in the table `visits`. */
export interface CopyRow {
  readonly segment: number;
  readonly place: number;
  readonly length: number;
  readonly request_length: number;
}

/** A stored copy with the visit that names it. */
export interface NamedCopy extends CopyRow {
  readonly visit: number;
  readonly page: number;
  readonly time: number;
}

export interface DroppedSegment {
  readonly segment: number;
  /** Of records that nothing names. */
  readonly bytes: number;
  /** Somebody asked for them to leave the disk. */
  readonly urgent: boolean;
}

const HELD = 'segment, place, length, request_length';
const NOWHERE = 'segment = NULL, place = NULL, length = NULL, request_length = NULL';
/** Setting: segments that were replaced, whose files are still to be deleted. */
const REPLACED = 'replaced-segments';

export class Dropped {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** What every segment could be rid of. */
  segments(): DroppedSegment[] {
    if (!hasTable(this.#database, 'dropped')) return [];
    const sql = 'SELECT segment, sum(length) AS bytes, max(urgent) AS urgent FROM dropped GROUP BY segment ORDER BY 1';
    const rows = this.#database.prepare(sql).all() as { segment: number; bytes: number; urgent: number }[];
    return rows.map(row => ({ ...row, urgent: row.urgent === 1 }));
  }

  /** Where responses lie that nothing names, as `segment offset`. */
  places(): Set<string> {
    if (!hasTable(this.#database, 'dropped')) return new Set();
    const rows = this.#database.prepare('SELECT segment, place + request_length AS offset FROM dropped').iterate();
    const places = new Set<string>();
    for (const { segment, offset } of rows) places.add(`${segment} ${offset}`);
    return places;
  }

  /** Copies that are named, in the order in which they lie there. */
  named(segment: number): NamedCopy[] {
    const sql = `SELECT id AS visit, page, time, ${HELD} FROM visits WHERE segment = ? ORDER BY place`;
    return this.#database.prepare(sql).all(segment) as unknown as NamedCopy[];
  }

  copy(visit: number): NamedCopy | undefined {
    const sql = `SELECT id AS visit, page, time, ${HELD} FROM visits WHERE id = ? AND segment IS NOT NULL`;
    return this.#database.prepare(sql).get(visit) as unknown as NamedCopy | undefined;
  }

  copiesOf(page: number): NamedCopy[] {
    const sql = `SELECT id AS visit, page, time, ${HELD} FROM visits WHERE page = ? AND segment IS NOT NULL ORDER BY id`;
    return this.#database.prepare(sql).all(page) as unknown as NamedCopy[];
  }

  /** The records of a copy lie elsewhere now. In a transaction, like all that follow. */
  move({ visit, page, ...from }: NamedCopy, to: CopyRow, urgent: boolean): void {
    const place = [to.segment, to.place, to.length, to.request_length];
    const set = 'segment = ?, place = ?, length = ?, request_length = ?';
    this.#run(`UPDATE visits SET ${set} WHERE id = ?`, ...place, visit);
    this.#run(
      `UPDATE known SET ${set} WHERE page = ? AND segment = ? AND place = ?`,
      ...place,
      page,
      from.segment,
      from.place,
    );
    for (const table of ['followed', 'inferred']) {
      const sql = `UPDATE ${table} SET segment = ?, place = ? WHERE page = ? AND segment = ? AND place = ?`;
      this.#run(sql, to.segment, to.place, page, from.segment, from.place);
    }
    this.#list(from, urgent);
  }

  /** The visit keeps no copy any more. Not for the newest copy of a page, which others refer to. */
  drop({ visit, ...copy }: NamedCopy, urgent: boolean): void {
    this.#run(`UPDATE visits SET ${NOWHERE} WHERE id = ?`, visit);
    this.#list(copy, urgent);
  }

  /** A segment has no named copy any more: the ledger forgets it, and notes that its file is to be deleted. */
  replace(segment: number): void {
    this.#run('DELETE FROM dropped WHERE segment = ?', segment);
    this.#run('DELETE FROM segments WHERE id = ?', segment);
    this.#note([...this.replaced(), segment]);
  }

  /** Segments that were replaced and whose files may still be there. */
  replaced(): number[] {
    const value = this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(REPLACED)?.['value'];
    return value === undefined ? [] : (JSON.parse(value as string) as number[]);
  }

  /** Their files are deleted. */
  deleted(segments: readonly number[]): void {
    this.#note(this.replaced().filter(id => !segments.includes(id)));
  }

  #note(segments: readonly number[]): void {
    if (segments.length === 0) this.#run('DELETE FROM meta WHERE name = ?', REPLACED);
    else this.#run('INSERT OR REPLACE INTO meta VALUES (?, ?)', REPLACED, JSON.stringify(segments));
  }

  #list({ segment, place, length, request_length }: CopyRow, urgent: boolean): void {
    const sql = 'INSERT OR REPLACE INTO dropped VALUES (?, ?, ?, ?, ?)';
    this.#run(sql, segment, place, length, request_length, urgent ? 1 : 0);
  }

  #run(sql: string, ...values: (string | number)[]): number {
    return Number(this.#database.prepare(sql).run(...values).changes);
  }
}
