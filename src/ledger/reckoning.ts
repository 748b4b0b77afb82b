/** What the ledger says of many visits or pages at once, for the account and the papers' load models. Reads only. */
import type { DatabaseSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';

/** Visits that one stage of the detector decided. */
export interface Decided {
  readonly stage: string;
  readonly pages: number;
  /** Among them, those that had changed. */
  readonly changed: number;
  /** Bytes that came from servers. */
  readonly down: number;
}

/** Which visits: from the one with the number `first` on, not before the time. */
export interface Since {
  readonly first: number;
  readonly time: number;
}

export class Reckoning {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Pages that were found changed, by day (days since 1970), not before a time. */
  changedByDay(since: number): Map<number, number> {
    const rows = this.#database
      .prepare(
        `SELECT cast(time / ${DAY} AS INTEGER) AS day, count(*) AS n FROM visits
         WHERE outcome = 'fetched' AND stage <> 'first' AND time >= ? GROUP BY day`,
      )
      .all(since);
    return new Map(rows.map(row => [row['day'] as number, row['n'] as number]));
  }

  /** Visits to pages seen before, by stage, the most often first; first visits have nothing to be compared with. */
  decidedBy({ first, time }: Since): Decided[] {
    return this.#database
      .prepare(
        `SELECT stage, count(*) AS pages, sum(outcome = 'fetched') AS changed, sum(down) AS down FROM visits
         WHERE id >= ? AND time >= ? AND outcome IN ('fetched', 'same') AND stage <> 'first' AND cause <> 'sitemap'
         GROUP BY stage ORDER BY pages DESC`,
      )
      .all(first, time) as unknown as Decided[];
  }

  /** Bytes to servers and from them, of visits from this process or of all others. */
  spentAt(from: 'here' | 'elsewhere', { first, time }: Since) {
    // Threads, and those that try again what killed one.
    const here = `(outpost GLOB 'thread-[0-9]*' OR outpost = 'trial')`;
    const row = this.#database
      .prepare(
        `SELECT coalesce(sum(up), 0) AS up, coalesce(sum(down), 0) AS down FROM visits
         WHERE id >= ? AND time >= ? AND ${from === 'here' ? '' : 'NOT'} ${here}`,
      )
      .get(first, time) as unknown as { up: number; down: number };
    return { up: row.up, down: row.down };
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
