/** What changes an index: steps of its source, importances, a rebuild. Each is done as a whole or leaves no trace. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { SearchBatch } from '../document.ts';
import { Writer } from './writer.ts';

/** Pages written again for the sake of new link texts, and pages weighed again, in one transaction. */
const RENEWED = 100;
const WEIGHED = 5000;
/** A difference in importance that is worth a write. */
const WEIGHTY = 0.01;

/** How important pages are by now; `key` names the moment. */
export interface Standing {
  readonly key: string;
  of(page: number): number;
}

export class IndexUpdates {
  readonly #database: DatabaseSync;
  readonly #writer: Writer;
  readonly #guard: <T>(work: () => T) => T;
  readonly #has: StatementSync;
  readonly #changes: StatementSync;

  /** `guard` says in a sentence what went wrong. */
  constructor(database: DatabaseSync, room: number, guard: <T>(work: () => T) => T) {
    this.#database = database;
    this.#writer = new Writer(database, room);
    this.#guard = guard;
    this.#has = database.prepare(
      `SELECT 1 FROM pages WHERE id = ? AND changed >= ?
           AND generation = coalesce((SELECT value FROM meta WHERE name = 'generation'), 0)`,
    );
    this.#changes = database.prepare(
      `SELECT id, changed FROM pages WHERE id IN (SELECT value FROM json_each(?))
           AND generation = coalesce((SELECT value FROM meta WHERE name = 'generation'), 0)`,
    );
    this.#changes.setReturnArrays(true);
  }

  /** One step of the source: changed and gone pages and its new cursor, all or nothing. False: it began elsewhere. */
  apply(batch: SearchBatch): boolean {
    return this.#guard(() => this.#writer.write(batch));
  }

  /** Where the source stood when the index last took from it; empty = at its beginning. */
  cursor(): string {
    return this.#writer.cursor();
  }

  /** Starts over from the beginning of the source; searches find the old state until the new one has passed it. */
  rebuild(): void {
    this.#guard(() => this.#writer.beginRebuild());
  }

  /** Whether a page is in the index as it changed at that time, or later, and not only left over from before a rebuild. */
  has(page: number, changed: number): boolean {
    return this.#has.get(page, changed) !== undefined;
  }

  /** The same for many at once: of those that are there, when they changed. */
  changes(pages: readonly number[]): ReadonlyMap<number, number> {
    return new Map(this.#changes.all(JSON.stringify(pages)) as unknown as [number, number][]);
  }

  /** Key of the standing that importances come from; '' = none yet. */
  weighed(): string {
    return String(this.#writer.meta('weighed') ?? '');
  }

  /** Gives every page its importance anew. */
  weigh({ key, of }: Standing): void {
    this.#guard(() => {
      const some = this.#database.prepare('SELECT id, importance FROM pages WHERE id > ? ORDER BY id LIMIT ?');
      const put = this.#database.prepare('UPDATE pages SET importance = ? WHERE id = ?');
      put.setReadBigInts(true);
      for (let last = 0; ; ) {
        const rows = some.all(last, WEIGHED) as { id: number; importance: number }[];
        const differing = rows.filter(({ id, importance }) => Math.abs(of(id) - importance) >= WEIGHTY);
        if (differing.length > 0)
          this.#writer.transaction(() => differing.forEach(({ id }) => void put.run(of(id), id)));
        if (rows.length < WEIGHED) break;
        last = rows.at(-1)!.id;
      }
      this.#writer.setMeta('weighed', key);
    });
  }

  /**
   * To be called when the source has nothing new: ends a rebuild, writes pages again that links speak of in other words,
   * and with `tidy` merges a little of the index. True: there is more of this to do.
   */
  settle(tidy = true): boolean {
    return this.#guard(() => {
      if (this.rebuilding) this.#writer.sweep();
      if (this.#writer.renew(RENEWED)) return true;
      if (tidy) this.#writer.tidy();
      return false;
    });
  }

  /** A rebuild has begun, and has not passed the old state. */
  get rebuilding(): boolean {
    return this.#writer.meta('rebuilding') === 1;
  }
}
