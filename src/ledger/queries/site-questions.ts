/** What a report asks of the whole collection, each question by name. All of them pass over every row once. */
import type { DatabaseSync } from 'node:sqlite';
import { eachLink } from '../links/packed-links.ts';

export interface SiteRow {
  readonly id: number;
  readonly url: string;
  /** Page that first linked here; 0 = a seed, or a sitemap named it. */
  readonly parent: number;
  readonly depth: number;
  /** Index into `roles`. */
  readonly role: number;
  readonly refused: string | null;
  readonly found: number;
  /** What follows is null for pages that were never visited. */
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly status: number | null;
  readonly title: string | null;
  readonly type: string | null;
  readonly language: string | null;
  readonly canonical: string | null;
  readonly bytes: number | null;
  readonly flags: number | null;
  readonly movedTo: number | null;
  readonly sameAs: number | null;
  readonly near: number | null;
  readonly stored: number;
  readonly firstTime: number | null;
  readonly changedTime: number | null;
}

export interface SiteLink {
  readonly source: number;
  readonly target: number;
  /** The LINK_ bits. */
  readonly flags: number;
  readonly anchor: string;
}

/** Rows. */
const READ_AT_ONCE = 1000;

export class SiteQuestions {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Every URL that is known, in the order in which they were found. */
  *pages(): Iterable<SiteRow> {
    const next = this.#database.prepare(
      `SELECT p.id, p.url, p.parent, p.depth, p.role, p.refused, p.found, k.outcome, k.reason, k.status, k.title,
         k.media_type AS type, k.language, k.canonical, k.bytes, k.flags, k.moved_to AS movedTo, k.same_as AS sameAs,
         k.near, k.segment IS NOT NULL AS stored, k.first_time AS firstTime, k.changed_time AS changedTime
       FROM pages p LEFT JOIN known k ON k.page = p.id
       WHERE p.id > ? AND p.refused IS NOT 'forgotten' ORDER BY p.id LIMIT ${READ_AT_ONCE}`,
    );
    for (let rows: SiteRow[], last = 0; ; last = rows.at(-1)!.id) {
      rows = next.all(last) as unknown as SiteRow[];
      yield* rows;
      if (rows.length < READ_AT_ONCE) return;
    }
  }

  /** Every link of every page; the object is good until the next one comes. */
  links(visit: (link: SiteLink) => void): void {
    const rows = this.#database.prepare('SELECT page, targets FROM links ORDER BY page').iterate();
    for (const row of rows) {
      const source = row['page'] as number;
      eachLink(row['targets'] as Uint8Array, (target, flags, anchor) => visit({ source, target, flags, anchor }));
    }
  }

  /** Pages that sitemaps name. */
  listed(): Set<number> {
    const named = new Set<number>();
    for (const row of this.#database.prepare('SELECT targets FROM listed').iterate()) {
      const bytes = row['targets'] as Uint8Array;
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at + 4 <= bytes.byteLength; at += 4) named.add(view.getUint32(at, true));
    }
    return named;
  }

  /** Milliseconds that the last whole answer of each page took. */
  times(): Map<number, number> {
    const rows = this.#database
      .prepare(
        `SELECT page, ms, max(id) FROM visits WHERE cause = 'page' AND outcome IN ('fetched', 'same') GROUP BY page`,
      )
      .iterate();
    const times = new Map<number, number>();
    for (const row of rows) times.set(row['page'] as number, row['ms'] as number);
    return times;
  }

  /** The first visit of those in a row that found a page broken; milliseconds since 1970, 0 = it was never visited. */
  brokenSince(page: number): number {
    const last = 'SELECT max(id) FROM visits WHERE page = ?1 AND status BETWEEN 200 AND 399';
    const row = this.#database
      .prepare(`SELECT min(time) AS time FROM visits WHERE page = ?1 AND id > coalesce((${last}), 0)`)
      .get(page);
    return (row?.['time'] as number | null) ?? 0;
  }
}
