/**
 * Which pages are a server's. Ids lie side by side in rows of one batch each, which costs 0.35 µs for every URL that is
 * found; an index on the table of pages costs 2.1 µs (a million URLs on 1,000 servers, 40,000 in a batch).
 *
 * An id may stand in the list of a server that the page was judged to be of once: whoever reads it looks at the page.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Ids of one row, when the lists are made for a ledger that had none. */
const MADE_AT_ONCE = 1_000_000;

export class ServerPages {
  readonly #database: DatabaseSync;
  #put: StatementSync | undefined;
  readonly #pending = new Map<number, number[]>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Makes the lists of a ledger that an older version wrote; `last`: its newest page. */
  open(last: number): void {
    if (last === 0 || this.#database.prepare('SELECT 1 FROM server_pages LIMIT 1').get() !== undefined) return;
    const pages = this.#database.prepare('SELECT id, server FROM pages WHERE id > ? AND id <= ?');
    for (let from = 0; from < last; from += MADE_AT_ONCE) {
      for (const row of pages.iterate(from, from + MADE_AT_ONCE))
        this.add(row['server'] as number, row['id'] as number);
      this.save();
    }
  }

  add(server: number, page: number): void {
    const list = this.#pending.get(server);
    if (list) list.push(page);
    else this.#pending.set(server, [page]);
  }

  /** Inside the caller's transaction. */
  save(): void {
    if (this.#pending.size === 0) return;
    this.#put ??= this.#database.prepare(
      'INSERT INTO server_pages SELECT ?1, coalesce(max(part), 0) + 1, ?2 FROM server_pages WHERE server = ?1',
    );
    for (const [server, ids] of this.#pending) {
      this.#put.run(server, new Uint8Array(Uint32Array.from(ids).buffer));
    }
    this.#pending.clear();
  }

  /** Ids of a server's pages, some of which may be of another by now. */
  *of(server: number): Iterable<number> {
    const rows = this.#database.prepare('SELECT ids FROM server_pages WHERE server = ? ORDER BY part').all(server);
    for (const row of rows) {
      const bytes = row['ids'] as Uint8Array;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.byteLength; at += 4) yield view.getUint32(at, true);
    }
    yield* this.#pending.get(server) ?? [];
  }
}
