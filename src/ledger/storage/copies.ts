/** The copies that visits stored: where they lie in the archive, and which of them it has lost. */
import type { DatabaseSync } from 'node:sqlite';
import type { Tallies } from '../tallies.ts';

interface StoredCopy {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  readonly page: number;
  readonly time: number;
  readonly url: string;
}

export class StoredCopies {
  readonly #database: DatabaseSync;
  readonly #tallies: Tallies;

  constructor(database: DatabaseSync, tallies: Tallies) {
    this.#database = database;
    this.#tallies = tallies;
  }

  /** Every stored copy: where its response lies, and of which page it is. */
  every(): Iterable<StoredCopy> {
    return this.#database
      .prepare(
        `SELECT v.segment, v.place + v.request_length AS offset, v.length - v.request_length AS length, v.page, v.time, p.url
         FROM visits v JOIN pages p ON p.id = v.page WHERE v.segment IS NOT NULL`,
      )
      .iterate() as Iterable<unknown> as Iterable<StoredCopy>;
  }

  /** Where the response of each page's newest copy from before `until` lies. */
  newest(until: number): Iterable<{ segment: number; offset: number }> {
    return this.#database
      .prepare(
        `SELECT segment, place + request_length AS offset, max(time) FROM visits
         WHERE segment IS NOT NULL AND time < ? GROUP BY page`,
      )
      .iterate(until) as Iterable<unknown> as Iterable<{ segment: number; offset: number }>;
  }

  /** Pages of which a copy is stored, with their servers. */
  pages(): Iterable<{ page: number; server: number }> {
    return this.#database
      .prepare(
        'SELECT k.page, p.server FROM known k JOIN pages p ON p.id = k.page WHERE k.segment IS NOT NULL AND p.role = 0',
      )
      .iterate() as Iterable<unknown> as Iterable<{ page: number; server: number }>;
  }

  /**
   * The archive has lost the copy whose response is there. Returns whether it was the page's newest: then the page is to
   * be fetched again, in a crawl too, whatever was known of it.
   */
  lose(copy: { page: number; segment: number; offset: number }, now: number): boolean {
    const nowhere = 'segment = NULL, place = NULL, length = NULL, request_length = NULL';
    const there = 'WHERE page = ? AND segment = ? AND place + request_length = ?';
    const place = [copy.page, copy.segment, copy.offset];
    this.#database.prepare(`UPDATE visits SET ${nowhere} ${there}`).run(...place);
    const unknown = `due = ?, retry_at = ?, etag = NULL, last_modified = NULL, facts = NULL, ${nowhere}`;
    const known = this.#database.prepare(`UPDATE known SET ${unknown} ${there}`);
    const newest = Number(known.run(now, now, ...place).changes) > 0;
    if (!newest) return false;
    this.#tallies.count('stored', '', 0, -1);
    // What followed it is nothing without it.
    for (const table of ['followed', 'inferred'])
      this.#database.prepare(`DELETE FROM ${table} WHERE page = ?`).run(copy.page);
    return true;
  }

  /**
   * The archive has no copies of a segment that reach beyond `from`. Pages whose newest copy was there are to be fetched
   * again, in a crawl too. Returns how many these are, and where the last copy ends that it has; 0 = it has none.
   */
  loseSegment(segment: number, now: number, from = 0): { readonly pages: number; readonly end: number } {
    const nowhere = 'segment = NULL, place = NULL, length = NULL, request_length = NULL';
    const beyond = 'segment = ? AND place + length > ?';
    for (const table of ['followed', 'inferred'])
      this.#database
        .prepare(
          `DELETE FROM ${table} WHERE segment = ? AND (place >= ? OR page IN (SELECT page FROM known WHERE ${beyond}))`,
        )
        .run(segment, from, segment, from);
    this.#database.prepare(`UPDATE visits SET ${nowhere} WHERE ${beyond}`).run(segment, from);
    const unknown = `due = ?, retry_at = ?, etag = NULL, last_modified = NULL, facts = NULL, ${nowhere}`;
    const pages = Number(
      this.#database.prepare(`UPDATE known SET ${unknown} WHERE ${beyond}`).run(now, now, segment, from).changes,
    );
    this.#tallies.count('stored', '', 0, -pages);
    const last = this.#database.prepare('SELECT max(place + length) AS end FROM visits WHERE segment = ?').get(segment);
    return { pages, end: Number(last?.['end'] ?? 0) };
  }
}
