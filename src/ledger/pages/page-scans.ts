/** Passes over all pages, for the tables that a home holds in memory. */
import type { DatabaseSync } from 'node:sqlite';
import type { PageRow } from './pages.ts';

/** Rows. */
const READ_AT_ONCE = 1000;

export class PageScans {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Every page, as far as the tables in memory need it. */
  every(): Iterable<Pick<PageRow, 'id' | 'high' | 'low' | 'depth' | 'server' | 'refused' | 'role'>> {
    return this.#rows('SELECT id, high, low, depth, server, refused, role FROM pages WHERE id > ?', 'id');
  }

  /** Pages that were never visited and may be, oldest first. */
  pending(): Iterable<Pick<PageRow, 'id' | 'server' | 'depth' | 'relevance' | 'role'>> {
    return this.#rows(
      `SELECT p.id, p.server, p.depth, p.relevance, p.role FROM pages p LEFT JOIN known k ON k.page = p.id
       WHERE k.page IS NULL AND p.refused IS NULL AND p.id > ?`,
      'id',
    );
  }

  /** Ids of pages refused for this reason. */
  refusedFor(reason: string): number[] {
    const rows = this.#database.prepare('SELECT id FROM pages WHERE refused = ?').all(reason);
    return rows.map(row => row['id'] as number);
  }

  /** Facts of pages that were fetched, for the tables that find duplicates and traps. `original`: its own copy is kept. */
  fetched(): Iterable<{
    page: number;
    facts: Uint8Array;
    near: number | null;
    original: number;
    url: string;
    server: number;
  }> {
    return this.#rows(
      `SELECT k.page, k.facts, k.near, k.segment IS NOT NULL AND k.same_as IS NULL AS original, p.url, p.server
       FROM known k JOIN pages p ON p.id = k.page WHERE k.facts IS NOT NULL AND k.page > ?`,
      'page',
    );
  }

  /** The first page of each server that robots.txt kept us from. */
  firstForbidden(): { page: number; server: number }[] {
    const sql = `SELECT min(k.page) AS page, p.server FROM known k JOIN pages p ON p.id = k.page
      WHERE k.reason = 'robots' GROUP BY p.server`;
    return this.#database.prepare(sql).all() as unknown as { page: number; server: number }[];
  }

  /** All rows whose key is above `?`, in its order, some at a time: by the database's own iterator each costs twice that. */
  *#rows<T>(sql: string, key: keyof T & string): Iterable<T> {
    const next = this.#database.prepare(`${sql} ORDER BY ${key} LIMIT ${READ_AT_ONCE}`);
    for (let rows: T[], last = 0; ; last = rows.at(-1)![key] as number) {
      rows = next.all(last) as T[];
      yield* rows;
      if (rows.length < READ_AT_ONCE) return;
    }
  }
}
