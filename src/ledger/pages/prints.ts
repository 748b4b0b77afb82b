/**
 * Finding one URL in a ledger that nobody holds in memory: the fingerprints of every 16,384 pages, sorted into 64 rows by
 * their first bits. A row that was written is never touched again, so that the millionth page costs what the first cost;
 * an index would cost more with every page, because fingerprints come at random places. Finding a URL reads one row of
 * each chunk, about a millisecond for a million pages, and then the pages of the last chunk, which is not full yet.
 *
 * Invariant: a chunk is here as a whole, in the same transaction as its last page, or not at all.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hasTable } from '../schema.ts';

/** Pages of one chunk: the last one is read through, some milliseconds. */
export const CHUNK = 16_384;
/** Rows of one chunk, told apart by the first 6 bits. */
const PARTS = 64;
const partOf = (high: number) => high >>> 26;

export class Prints {
  readonly #database: DatabaseSync;
  /** Absent in a ledger that was last written before there were prints. */
  readonly #row: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#row = hasTable(database, 'prints') ? database.prepare('SELECT entries FROM prints WHERE id = ?') : undefined;
  }

  /** How many pages, from the first on, have their prints here. */
  covered(): number {
    if (!this.#row) return 0;
    const { last } = this.#database.prepare('SELECT max(id) AS last FROM prints').get() as { last: number | null };
    return last === null ? 0 : ((last + 1) / PARTS) * CHUNK;
  }

  /** Pages up to `covered` that may have this fingerprint: the second half is the same. */
  *candidates(high: number, low: number, covered: number): Iterable<number> {
    for (let id = partOf(high); id < (covered / CHUNK) * PARTS; id += PARTS) {
      const entries = this.#row?.get(id)?.['entries'] as Uint8Array;
      const numbers = new Uint32Array(Uint8Array.from(entries).buffer);
      for (let at = 0; at < numbers.length; at += 2) if (numbers[at] === low) yield numbers[at + 1]!;
    }
  }

  /** Writes every chunk that is full with the page `last`, inside the caller's transaction. */
  add(last: number): void {
    const put = this.#database.prepare('INSERT INTO prints VALUES (?, ?)');
    const some = this.#database.prepare('SELECT id, high, low FROM pages WHERE id > ? AND id <= ?');
    some.setReturnArrays(true); // a quarter of the time of objects that are iterated over: 11 ms a chunk
    for (let from = this.covered(); from + CHUNK <= last; from += CHUNK) {
      const parts = Array.from({ length: PARTS }, (): number[] => []);
      for (const [id, high, low] of some.all(from, from + CHUNK) as unknown as [number, number, number][]) {
        parts[partOf(high)]!.push(low, id);
      }
      const first = (from / CHUNK) * PARTS;
      for (const [part, numbers] of parts.entries()) {
        put.run(first + part, new Uint8Array(Uint32Array.from(numbers).buffer));
      }
    }
  }
}
