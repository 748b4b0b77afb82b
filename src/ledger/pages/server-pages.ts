/**
 * Which pages are a server's. Ids lie side by side in rows of one batch each, which costs 0.35 µs for every URL that is
 * found; an index on the table of pages costs 2.1 µs (a million URLs on 1,000 servers, 40,000 in a batch). A commit of a
 * crawl finds a page or two for each server, so the lists are written only when so many have gathered; what is newer than
 * that is read from the table of pages.
 *
 * An id may stand in the list of a server that the page was judged to be of once: whoever reads it looks at the page. It
 * may stand there twice, too.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** New pages after which the lists are written. */
const LISTED_AT_ONCE = 40_000;
/** Ids of one row, when the lists are made for a ledger that had none. */
const MADE_AT_ONCE = 1_000_000;
/** No server has this number: its row says up to which page the lists go. */
const NOBODY = 0;

export class ServerPages {
  readonly #database: DatabaseSync;
  #put: StatementSync | undefined;
  /** Of new pages, by server, and of those that were judged to be another's; how many new ones that are. */
  #found = new Map<number, number[]>();
  #judged = new Map<number, number[]>();
  #waiting = 0;
  /** The newest page that was added. */
  #last = 0;
  /** This ledger is written here: what is not in the lists is in memory. */
  #writes = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Reads what the lists lack: the end of a run that was killed, or all that an older version wrote. `last`: the newest page. */
  open(last: number): void {
    this.#writes = true;
    const listed = this.#listed();
    this.#last = listed;
    // Nobody noted how far they go: an older version wrote them, or a copy was made from changes alone.
    if (listed === 0) this.#database.exec('DELETE FROM server_pages');
    const pages = this.#database.prepare('SELECT id, server FROM pages WHERE id > ? AND id <= ?');
    for (let from = listed; from < last; from += MADE_AT_ONCE) {
      for (const row of pages.iterate(from, from + MADE_AT_ONCE))
        this.#add(row['server'] as number, row['id'] as number);
      this.save();
    }
  }

  /** Up to which page the lists go. */
  #listed(): number {
    const row = this.#database.prepare('SELECT ids FROM server_pages WHERE server = ?').get(NOBODY);
    return row ? new DataView((row['ids'] as Uint8Array).slice().buffer).getUint32(0, true) : 0;
  }

  /** A new page, or one that is another server's from now on. */
  add(server: number, page: number): void {
    if (page > this.#last) this.#add(server, page);
    else append(this.#judged, server, page);
  }

  #add(server: number, page: number): void {
    append(this.#found, server, page);
    this.#waiting++;
    this.#last = Math.max(this.#last, page);
  }

  /** Inside the caller's transaction. */
  save(): void {
    if (this.#judged.size > 0) this.#judged = this.#written(this.#judged);
    if (this.#waiting >= LISTED_AT_ONCE) this.finish();
  }

  /** The same for all that is in memory. */
  finish(): void {
    if (this.#waiting === 0) return;
    this.#found = this.#written(this.#found);
    this.#waiting = 0;
    const listed = new Uint8Array(Uint32Array.of(this.#last).buffer);
    this.#database.prepare('INSERT OR REPLACE INTO server_pages VALUES (?, 1, ?)').run(NOBODY, listed);
  }

  #written(lists: ReadonlyMap<number, number[]>): Map<number, number[]> {
    this.#put ??= this.#database.prepare(
      'INSERT INTO server_pages SELECT ?1, coalesce(max(part), 0) + 1, ?2 FROM server_pages WHERE server = ?1',
    );
    for (const [server, ids] of lists) this.#put.run(server, new Uint8Array(Uint32Array.from(ids).buffer));
    return new Map();
  }

  /** Ids of a server's pages, some of which may be of another by now. */
  *of(server: number): Iterable<number> {
    // Before the lists: a writer may move pages from the one to the other meanwhile.
    const listed = this.#writes ? this.#last : this.#listed();
    const rows = this.#database.prepare('SELECT ids FROM server_pages WHERE server = ? ORDER BY part').all(server);
    for (const row of rows) {
      const bytes = row['ids'] as Uint8Array;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at < bytes.byteLength; at += 4) yield view.getUint32(at, true);
    }
    yield* this.#judged.get(server) ?? [];
    yield* this.#found.get(server) ?? [];
    if (this.#writes) return;
    const newer = 'SELECT id FROM pages WHERE id > ? AND server = ?';
    for (const { id } of this.#database.prepare(newer).all(listed, server)) yield id as number;
  }
}

function append(lists: Map<number, number[]>, server: number, page: number): void {
  const list = lists.get(server);
  if (list) list.push(page);
  else lists.set(server, [page]);
}
