/**
 * Takes out of a ledger what it knows of pages. What stays is a tombstone: the page's URL, refused as `forgotten`, which
 * keeps it from coming back. Visits stay as numbers without a page, because cursors and sums count on their ids.
 */
import type { DatabaseSync } from 'node:sqlite';
import type { Backward } from '../links/backward.ts';
import { eachTarget, withoutTargets } from '../links/packed-links.ts';
import type { Pages } from '../pages/pages.ts';
import { hasTable } from '../schema.ts';
import type { Tallies } from '../tallies.ts';

export const FORGOTTEN = 'forgotten';
/** What the origin of a server becomes of which everything was forgotten. */
const NO_ORIGIN = 'forgotten:';

interface ForgettingParts {
  readonly pages: Pages;
  readonly tallies: Tallies;
  readonly backward: Backward;
}

/** Rows. */
const SOME = 5000;

export class Forgetting {
  readonly #database: DatabaseSync;
  readonly #parts: ForgettingParts;

  constructor(database: DatabaseSync, parts: ForgettingParts) {
    this.#database = database;
    this.#parts = parts;
  }

  /** Every page that is not forgotten yet, some at a time. */
  *pages(): Iterable<{ id: number; url: string }> {
    yield* this.#rows(`SELECT id, url FROM pages WHERE refused IS NOT '${FORGOTTEN}' AND id > ?`);
  }

  *tombstones(): Iterable<{ id: number; url: string }> {
    yield* this.#rows(`SELECT id, url FROM pages WHERE refused = '${FORGOTTEN}' AND id > ?`);
  }

  *#rows(sql: string): Iterable<{ id: number; url: string }> {
    const next = this.#database.prepare(`${sql} ORDER BY id LIMIT ${SOME}`);
    for (let rows: { id: number; url: string }[], last = 0; ; last = rows.at(-1)!.id) {
      rows = next.all(last) as unknown as { id: number; url: string }[];
      yield* rows;
      if (rows.length < SOME) return;
    }
  }

  /** The number of the last page that was forgotten; numbers only grow. */
  newest(): number {
    if (!hasTable(this.#database, 'forgettings')) return 0;
    return this.#database.prepare('SELECT coalesce(max(id), 0) AS id FROM forgettings').get()!['id'] as number;
  }

  /** URLs of pages that had copies and were forgotten with numbers after `after`, up to `upTo`. */
  *between(after: number, upTo: number): Iterable<string> {
    if (after >= upTo) return;
    const sql = 'SELECT DISTINCT p.url FROM forgettings f JOIN pages p ON p.id = f.page WHERE f.id > ? AND f.id <= ?';
    for (const { url } of this.#database.prepare(sql).iterate(after, upTo)) yield url as string;
  }

  /** A page that had copies is being forgotten: whoever keeps something made of them is told. */
  note(page: number): void {
    this.#run('INSERT INTO forgettings (page) VALUES (?)', page);
  }

  /**
   * Nothing is known of a page any more. Its copies were dropped before, and no other copy refers to them. `server`: where
   * its tombstone stands, 0 = nowhere. In a transaction, like all that follow.
   */
  forget(page: number, server?: number): void {
    const { pages, tallies, backward } = this.#parts;
    const row = pages.get(page)!;
    const known = pages.known(page);
    if (known) {
      tallies.visited(known, -1);
      if (row.refused !== null) tallies.count('spurned', '', 0, -1);
    }
    const links = this.#database.prepare('SELECT targets FROM links WHERE page = ?').get(page)?.['targets'];
    if (links) eachTarget(links as Uint8Array, target => backward.add(target, -1));
    this.#run('DELETE FROM levels WHERE visit IN (SELECT id FROM visits WHERE page = ?)', page);
    this.#run('DELETE FROM revisits WHERE visit IN (SELECT id FROM visits WHERE page = ?)', page);
    this.#run('UPDATE visits SET page = 0, removed = NULL, added = NULL, amount = NULL WHERE page = ?', page);
    for (const table of ['known', 'links', 'followed', 'inferred', 'page_noise', 'listed', 'told', 'hidden', 'found'])
      this.#run(`DELETE FROM ${table} WHERE page = ?`, page);
    pages.judge(page, FORGOTTEN, server ?? row.server);
  }

  /** What other pages say of forgotten ones: links to them, that they are the same, or nearly, or lead there. */
  cutTies(pages: ReadonlySet<number>): void {
    const put = this.#database.prepare('UPDATE links SET targets = ? WHERE page = ?');
    const some = this.#database.prepare(`SELECT page, targets FROM links WHERE page > ? ORDER BY page LIMIT ${SOME}`);
    for (let rows: { page: number; targets: Uint8Array }[], last = 0; ; last = rows.at(-1)!.page) {
      rows = some.all(last) as unknown as typeof rows;
      for (const { page, targets } of rows) {
        const { bytes, removed } = withoutTargets(targets, pages);
        for (const target of removed) this.#parts.backward.add(target, -1);
        if (removed.length > 0) put.run(bytes, page);
      }
      if (rows.length < SOME) break;
    }
    for (const name of ['same_as', 'near', 'moved_to']) {
      const rows = this.#database.prepare(`SELECT page, ${name} AS other FROM known WHERE ${name} IS NOT NULL`).all();
      for (const { page, other } of rows as { page: number; other: number }[])
        if (pages.has(other)) this.#run(`UPDATE known SET ${name} = NULL WHERE page = ?`, page);
    }
  }

  /** The body that pages had in common with a forgotten one is the heir's now. */
  inherit(from: number, heir: { page: number }, others: readonly { page: number }[], alias: number): void {
    const sql = 'UPDATE known SET same_as = NULL, flags = flags & ? WHERE page = ? AND same_as = ?';
    this.#run(sql, ~alias, heir.page, from);
    for (const { page } of others)
      this.#run('UPDATE known SET same_as = ? WHERE page = ? AND same_as = ?', heir.page, page, from);
  }

  /** Nothing is known of a server: what it answered, what was spent on it, what is noise there. */
  forgetServer(server: number): void {
    for (const table of ['account', 'server_noise', 'forecasts', 'notice_trust', 'faces']) {
      this.#run(`DELETE FROM ${table} WHERE server = ?`, server);
    }
    this.#run(
      `UPDATE servers SET origin = '${NO_ORIGIN}' || id, address = '', robots_body = '', sitemaps = '[]', refused = '{}',
         seeded = 0, soft_404 = NULL WHERE id = ?`,
      server,
    );
  }

  /** A page may come back: it is judged like one that was out of scope. */
  allow(page: number): void {
    this.#parts.pages.judge(page, 'out-of-scope', 0);
  }

  /** What the frontier left in its file, and errands that machines may still be at, know pages that are forgotten. */
  disownMemory(): void {
    this.#run(`DELETE FROM meta WHERE name = 'memory'`);
    this.#run('DELETE FROM errands');
  }

  /** Overwrites what is deleted from now on, so that it is not only out of reach. */
  erase(): void {
    this.#database.exec('PRAGMA secure_delete = ON');
  }

  /** Writes the whole file anew without what was deleted before. Not in a transaction. */
  vacuum(): void {
    this.#database.exec('VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
  }

  #run(sql: string, ...values: (string | number)[]): void {
    this.#database.prepare(sql).run(...values);
  }
}
