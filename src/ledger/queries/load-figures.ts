/** What the ledger says of many visits or pages at once, for the account and the papers' load models. Reads only. */
import type { DatabaseSync } from 'node:sqlite';

export class LoadFigures {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Pages that are there, and what they weigh together: as they are, and as they came. */
  sizes(): { pages: number; bytes: number; wire: number } {
    return this.#database
      .prepare(
        `SELECT count(*) AS pages, coalesce(sum(k.bytes), 0) AS bytes, coalesce(sum(min(k.wire, k.bytes)), 0) AS wire
         FROM known k JOIN pages p ON p.id = k.page
         WHERE p.role = 0 AND k.bytes IS NOT NULL AND k.wire IS NOT NULL AND k.outcome IN ('fetched', 'same')`,
      )
      .get() as unknown as { pages: number; bytes: number; wire: number };
  }

  /** The state of the estimator of every page that is there, packed. */
  *changeStates(): Iterable<Uint8Array> {
    const rows = this.#database
      .prepare(
        `SELECT k.change FROM known k JOIN pages p ON p.id = k.page
         WHERE p.role = 0 AND k.change IS NOT NULL AND k.outcome IN ('fetched', 'same')`,
      )
      .iterate();
    for (const row of rows) yield row['change'] as Uint8Array;
  }

  /** Pages that a link or a redirect led to, and first visits to pages that had had one. */
  repetitions(): { linked: number; repeated: number } {
    return this.#database
      .prepare(
        `SELECT (SELECT count(*) FROM pages WHERE parent <> 0) AS linked,
           (SELECT coalesce(sum(n - 1), 0) FROM
             (SELECT count(*) AS n FROM visits WHERE stage = 'first' GROUP BY page)) AS repeated`,
      )
      .get() as unknown as { linked: number; repeated: number };
  }
}
