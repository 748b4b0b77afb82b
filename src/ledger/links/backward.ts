/**
 * How many known pages link to each page, exact, four bytes a page. Counters live in memory while a home runs and are
 * saved in chunks; a run that was killed leaves the mark `counting` behind, and the next one counts anew from the
 * links, so the numbers are never silently stale.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { eachTargetOfAll } from './packed-links.ts';

const CHUNK_BITS = 16;
const CHUNK = 1 << CHUNK_BITS;

/** Rows. */
const COUNTED_AT_ONCE = 100;

const NONE = new Uint32Array(0);

export class Backward {
  readonly #database: DatabaseSync;
  readonly #chunks: (Uint32Array | undefined)[] = [];
  readonly #dirty = new Set<number>();
  #addForeign: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Loads the counters for writing, and counts anew if the last writer did not say goodbye. */
  open(): void {
    const killed = this.#database.prepare(`SELECT 1 FROM meta WHERE name = 'counting'`).get() !== undefined;
    if (killed) this.#recount();
    else this.#load();
    this.#database.exec(`INSERT OR REPLACE INTO meta VALUES ('counting', 'true')`);
  }

  /** One page more (or less) links to `page`. */
  add(page: number, by = 1): void {
    this.#chunk(page >>> CHUNK_BITS)[page % CHUNK]! += by;
  }

  /** One page more links to the first `count` of these. */
  addAll(pages: ArrayLike<number>, count: number): void {
    let index = -1;
    let chunk: Uint32Array = NONE;
    for (let i = 0; i < count; i++) {
      const page = pages[i]!;
      if (page >>> CHUNK_BITS !== index) {
        index = page >>> CHUNK_BITS;
        chunk = this.#chunk(index);
      }
      chunk[page % CHUNK]!++;
    }
  }

  /** The same for a link on a page of another partition, which this ledger has not: it is counted apart. */
  addForeign(page: number, by: 1 | -1): void {
    const sql = 'INSERT INTO foreign_links VALUES (?, ?) ON CONFLICT DO UPDATE SET links = links + excluded.links';
    this.#addForeign ??= this.#database.prepare(sql);
    this.#addForeign.run(page, by);
    this.add(page, by);
  }

  /** Those of 65,536 pages, to be changed. */
  #chunk(index: number): Uint32Array {
    this.#dirty.add(index);
    return (this.#chunks[index] ??= new Uint32Array(CHUNK));
  }

  of(page: number): number {
    return this.#chunks[page >>> CHUNK_BITS]?.[page % CHUNK] ?? 0;
  }

  /** Reads one counter from the saved state, for commands that do not hold the collection. */
  saved(page: number): number {
    const row = this.#database.prepare('SELECT counts FROM backward WHERE chunk = ?').get(Math.floor(page / CHUNK));
    if (!row) return 0;
    const bytes = row['counts'] as Uint8Array;
    return new DataView(bytes.buffer, bytes.byteOffset).getUint32((page % CHUNK) * 4, true);
  }

  /** The saved counters of 65,536 pages, from `index` × 65,536 on; empty when none were saved. */
  savedChunk(index: number): Uint32Array {
    const bytes = this.#database.prepare('SELECT counts FROM backward WHERE chunk = ?').get(index)?.['counts'];
    return bytes === undefined ? new Uint32Array(0) : new Uint32Array(Uint8Array.from(bytes as Uint8Array).buffer);
  }

  /** Links that lead to any page, as saved. */
  savedTotal(): number {
    let total = 0;
    for (let index = 0, chunk = this.savedChunk(0); chunk.length > 0; chunk = this.savedChunk(++index)) {
      for (let i = index === 0 ? 1 : 0; i < chunk.length; i++) total += chunk[i]!; // no page has the number 0
    }
    return total;
  }

  /** Inside the caller's transaction. */
  save(): void {
    const put = this.#database.prepare('INSERT OR REPLACE INTO backward VALUES (?, ?)');
    for (const index of this.#dirty) {
      const chunk = this.#chunks[index]!;
      put.run(index, new Uint8Array(chunk.buffer));
    }
    this.#dirty.clear();
  }

  close(): void {
    this.save();
    this.#database.exec(`DELETE FROM meta WHERE name = 'counting'`);
  }

  #load(): void {
    for (const row of this.#database.prepare('SELECT chunk, counts FROM backward').iterate()) {
      const bytes = row['counts'] as Uint8Array;
      const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
      this.#chunks[row['chunk'] as number] = new Uint32Array(copy);
    }
  }

  #recount(): void {
    const countOne = (target: number) => {
      (this.#chunks[target >>> CHUNK_BITS] ??= new Uint32Array(CHUNK))[target % CHUNK]!++;
    };
    // A row costs more than its links: so the links of some pages come as one value.
    const some = this.#database.prepare(
      `SELECT max(page), count(*), CAST(group_concat(targets, '') AS BLOB)
       FROM (SELECT page, targets FROM links WHERE page > ? ORDER BY page LIMIT ?)`,
    );
    some.setReturnArrays(true);
    for (let last = 0, count = COUNTED_AT_ONCE; count === COUNTED_AT_ONCE; ) {
      const row = some.get(last, COUNTED_AT_ONCE) as unknown as [number, number, Uint8Array | null];
      [last, count] = row;
      if (row[2]) eachTargetOfAll(row[2], countOne);
    }
    for (const index of this.#chunks.keys()) if (this.#chunks[index]) this.#dirty.add(index);
    for (const row of this.#database.prepare('SELECT page, links FROM foreign_links').iterate()) {
      this.add(row['page'] as number, row['links'] as number);
    }
  }
}
