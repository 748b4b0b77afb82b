/** Passes over all pages, for the tables that a home holds in memory, and over those of one server. */
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { factsAt } from '../../errand/facts.ts';
import type { PageRow } from '../pages/pages.ts';
import type { ServerPages } from '../pages/server-pages.ts';

/** Rows. */
const READ_AT_ONCE = 1000;

/** Eight bytes of the facts as hexadecimal digits: a blob of its own costs three times as much as such a text. */
const digitsAt = (place: number): string => `hex(substr(k.facts, ${place + 1}, 8))`;

/** A page that was fetched, as far as duplicates and traps are found by it. */
interface FetchedPage {
  readonly page: number;
  readonly server: number;
  readonly url: string;
  /** The first eight bytes of the digest of its body, and its simhash; 16 hexadecimal digits each. */
  readonly digest: string;
  readonly simhash: string;
  /** Its text nearly equals that of another page. */
  readonly isCopy: boolean;
  /** Its own copy is kept. */
  readonly original: boolean;
}

const FETCHED = `SELECT k.page, p.server, p.url, ${digitsAt(factsAt.raw)}, ${digitsAt(factsAt.simhash)},
    k.near IS NOT NULL, k.segment IS NOT NULL AND k.same_as IS NULL`;

export class PageScans {
  readonly #database: DatabaseSync;
  readonly #serverPages: ServerPages;

  constructor(database: DatabaseSync, serverPages: ServerPages) {
    this.#database = database;
    this.#serverPages = serverPages;
  }

  /** Fingerprints of all pages that were found after the page `after`. */
  *every(after = 0): Iterable<Pick<PageRow, 'id' | 'high' | 'low'>> {
    const rows = this.#lists<[number, number, number]>(
      'SELECT id, high, low FROM pages WHERE id > ? ORDER BY id',
      after,
    );
    for (const [id, high, low] of rows) yield { id, high, low };
  }

  /** Links between each page and its seed. */
  *depths(): Iterable<Pick<PageRow, 'id' | 'depth'>> {
    const rows = this.#lists<[number, number]>('SELECT id, depth FROM pages WHERE id > ? ORDER BY id', 0);
    for (const [id, depth] of rows) yield { id, depth };
  }

  /** Pages that were never visited and may be, oldest first. */
  *pending(): Iterable<Pick<PageRow, 'id' | 'server' | 'depth' | 'relevance' | 'role'>> {
    const sql = `SELECT p.id, p.server, p.depth, p.relevance, p.role FROM pages p LEFT JOIN known k ON k.page = p.id
       WHERE k.page IS NULL AND p.refused IS NULL AND p.id > ? ORDER BY p.id`;
    for (const [id, server, depth, relevance, role] of this.#lists<[number, number, number, number, number]>(sql, 0))
      yield { id, server, depth, relevance, role };
  }

  /** Ids of pages refused for this reason. */
  refusedFor(reason: string): number[] {
    const rows = this.#database.prepare('SELECT id FROM pages WHERE refused = ?').all(reason);
    return rows.map(row => row['id'] as number);
  }

  /** Fetched pages that were visited after the visit `after`, in the order of their numbers. */
  *fetched(after = 0): Iterable<FetchedPage> {
    for (const row of after === 0 ? this.#allFetched() : this.#fetchedAfter(after)) {
      const [page, server, url, digest, simhash, isCopy, original] = row;
      yield { page, server, url, digest, simhash, isCopy: isCopy === 1, original: original === 1 };
    }
  }

  #allFetched(): Iterable<FetchedRow> {
    const sql = `${FETCHED} FROM known k JOIN pages p ON p.id = k.page
      WHERE k.facts IS NOT NULL AND k.page > ? ORDER BY k.page`;
    return this.#lists(sql, 0);
  }

  *#fetchedAfter(visit: number): Iterable<FetchedRow> {
    // By number: the index on pages would be read from end to end for a few visits.
    const visited = this.#database
      .prepare('SELECT DISTINCT page FROM visits NOT INDEXED WHERE id > ? ORDER BY page')
      .all(visit)
      .map(row => row['page'] as number);
    const some = this.#database.prepare(`${FETCHED} FROM json_each(?) j CROSS JOIN known k ON k.page = j.value
      JOIN pages p ON p.id = k.page WHERE k.facts IS NOT NULL`);
    some.setReturnArrays(true);
    for (let from = 0; from < visited.length; from += READ_AT_ONCE) {
      const pages = JSON.stringify(visited.slice(from, from + READ_AT_ONCE));
      yield* some.all(pages) as unknown as FetchedRow[];
    }
  }

  /** Pages of a server at these places of its list, 0 to 1; whether they may be visited is not asked. */
  someOf(server: number, places: readonly number[]): number[] {
    const ids = [...this.#serverPages.of(server)];
    return ids.length === 0 ? [] : [...new Set(places.map(place => ids[Math.floor(place * ids.length)]!))];
  }

  /** Fingerprints of a server's pages. */
  *ofServer(server: number): Iterable<{ id: number; high: number; low: number }> {
    const page = this.#database.prepare('SELECT id, high, low FROM pages WHERE id = ? AND server = ?');
    for (const id of new Set(this.#serverPages.of(server))) {
      const row = page.get(id, server);
      if (row) yield row as unknown as { id: number; high: number; low: number };
    }
  }

  /** The first page of each server that robots.txt kept us from. */
  firstForbidden(): { page: number; server: number }[] {
    const sql = `SELECT min(k.page) AS page, p.server FROM known k JOIN pages p ON p.id = k.page
      WHERE k.reason = 'robots' GROUP BY p.server`;
    return this.#database.prepare(sql).all() as unknown as { page: number; server: number }[];
  }

  /**
   * All rows whose first column is above `?`, in its order, some at a time and as lists: the database's own iterator takes
   * twice the time a row, and objects twice that of lists.
   */
  *#lists<Row extends readonly SQLOutputValue[]>(sql: string, after: number): Iterable<Row> {
    const next = this.#database.prepare(`${sql} LIMIT ${READ_AT_ONCE}`);
    next.setReturnArrays(true);
    for (let rows: Row[], last = after; ; last = rows.at(-1)![0] as number) {
      rows = next.all(last) as unknown as Row[];
      yield* rows;
      if (rows.length < READ_AT_ONCE) return;
    }
  }
}

type FetchedRow = [number, number, string, string, string, 0 | 1, 0 | 1];
