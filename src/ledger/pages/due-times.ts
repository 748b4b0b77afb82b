/** Due times of many pages at once: what brings pages forward that no visit named, and how many can be due at all. */
import type { DatabaseSync } from 'node:sqlite';
import { FLAG_ALIAS, FLAG_DOUBTED } from './known-row.ts';
import { ASIDE } from './pages.ts';

/** One that can be kept fresh. */
export interface LivePage {
  readonly page: number;
  readonly server: number;
  readonly url: string;
  readonly flags: number;
  readonly wire: number | null;
}

export class DueTimes {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Nothing leads to a page any more: it is due at `due` at the latest. Only one that stands well is doubted. */
  doubt(id: number, due: number): void {
    this.#database
      .prepare(
        `UPDATE known SET due = min(due, ?), flags = flags | ${FLAG_DOUBTED}
         WHERE page = ? AND due IS NOT NULL AND outcome IN ('fetched', 'same') AND NOT flags & ${FLAG_ALIAS}
           AND page IN (SELECT id FROM pages WHERE id = ? AND role = 0)`,
      )
      .run(due, id, id);
  }

  /** Somebody set a time for the next look. In a batch. */
  set(id: number, due: number): void {
    this.#database.prepare('UPDATE known SET due = ? WHERE page = ? AND due IS NOT NULL').run(due, id);
  }

  /** Those of these pages that can be kept fresh and were last asked for before a time. */
  live(pages: readonly number[], before: number): LivePage[] {
    const get = this.#database.prepare(
      `SELECT k.page, k.flags, k.wire, p.server, p.url FROM known k JOIN pages p ON p.id = k.page
       WHERE k.page = ? AND k.due IS NOT NULL AND k.time < ? AND p.role = 0 AND NOT ${ASIDE}`,
    );
    return pages.flatMap(page => (get.get(page, before) as LivePage | undefined) ?? []);
  }

  /** These are due at `due` at the latest. */
  hasten(pages: readonly { readonly page: number }[], due: number): void {
    const put = this.#database.prepare('UPDATE known SET due = min(due, ?) WHERE page = ? AND due IS NOT NULL');
    for (const { page } of pages) put.run(due, page);
  }

  /** The page has changed: its second addresses are due at `due` at the latest. */
  hastenAliases(id: number, due: number): void {
    const aliases = `same_as = ? AND flags & ${FLAG_ALIAS}`;
    this.#database.prepare(`UPDATE known SET due = min(due, ?) WHERE ${aliases} AND due IS NOT NULL`).run(due, id);
  }

  /** Pages that can be kept fresh: neither dead links, redirects and second addresses nor sitemaps and images. */
  countLive(): number {
    const others = (index: string) =>
      `SELECT count(*) FROM pages p INDEXED BY ${index} CROSS JOIN known k ON k.page = p.id WHERE k.due IS NOT NULL AND NOT ${ASIDE}`;
    const row = this.#database
      .prepare(
        `SELECT (SELECT count(*) FROM known k WHERE k.due IS NOT NULL)
           - (SELECT count(*) FROM known k INDEXED BY known_aside WHERE k.due IS NOT NULL AND ${ASIDE})
           - (${others('pages_images')} AND p.role = 2) - (${others('pages_sitemaps')} AND p.role = 1) AS n`,
      )
      .get()!;
    return row['n'] as number;
  }
}
