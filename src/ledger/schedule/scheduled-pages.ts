/**
 * The stored pages as the schedule reads and writes them. It reads some thousands of rows at a time: the whole table
 * never lies in memory, and no statement is open on it while due times are written.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { passingRefusals } from '../../errand/reasons.ts';
import { FLAG_ALIAS } from '../pages/known-row.ts';
import type { ServerPages } from '../pages/server-pages.ts';

export interface ScheduledPage {
  readonly page: number;
  readonly url: string;
  readonly seen_time: number;
  readonly change: Uint8Array;
  readonly pings: number;
  readonly wire: number | null;
  readonly tagged: number;
  readonly outcome: string;
  readonly reason: string;
  readonly flags: number;
  readonly depth: number;
  readonly server: number;
  readonly role: number;
}

export type SampledPage = Omit<ScheduledPage, 'tagged' | 'outcome' | 'reason' | 'depth' | 'role'>;

/** Pages that stand for all where an estimate is enough. */
export const SAMPLE = 20_000;
/** Rows that are read at once. */
const SLICE = 2048;

/** What may be there still: pages that could not be asked for keep their place in the schedule, as those that failed do. */
const MAY_STAND = `(k.outcome IN ('fetched', 'same', 'failed')
    OR (k.outcome = 'refused' AND k.reason IN (${passingRefusals.map(reason => `'${reason}'`).join(', ')})))`;

/** Sitemaps have a schedule of their own. The columns are those of `scheduled`, in its order. */
const ROWS = `SELECT k.page, p.url, k.seen_time, k.change, k.pings, k.wire,
    k.etag IS NOT NULL OR k.last_modified IS NOT NULL, k.outcome, k.reason, k.flags, p.depth, p.server, p.role
  FROM known k CROSS JOIN pages p ON p.id = k.page
  WHERE k.change IS NOT NULL AND ${MAY_STAND} AND p.role <> 1 AND p.refused IS NOT 'removed'
    AND NOT k.flags & ${FLAG_ALIAS}`;

type ScheduledColumns = [
  ...[page: number, url: string, seen_time: number, change: Uint8Array, pings: number, wire: number | null],
  ...[tagged: number, outcome: string, reason: string, flags: number, depth: number, server: number, role: number],
];

/**
 * A row as a record of one shape. node:sqlite makes dictionaries of rows: each look into one, and each copy, costs
 * several times as much, and a pass over the collection takes many.
 */
function scheduled(columns: unknown): ScheduledPage {
  const [page, url, seen_time, change, pings, wire, tagged, outcome, reason, flags, depth, server, role] =
    columns as ScheduledColumns;
  return { page, url, seen_time, change, pings, wire, tagged, outcome, reason, flags, depth, server, role };
}

export class ScheduledPages {
  readonly #database: DatabaseSync;
  readonly #serverPages: ServerPages;
  #put: StatementSync | undefined;

  constructor(database: DatabaseSync, serverPages: ServerPages) {
    this.#database = database;
    this.#serverPages = serverPages;
  }

  *all(): Generator<ScheduledPage> {
    const slice = this.#rows(`k.page > ? ORDER BY k.page LIMIT ${SLICE}`);
    for (let last = 0; ; ) {
      const rows = slice.all(last).map(scheduled);
      yield* rows;
      if (rows.length < SLICE) return;
      last = rows.at(-1)!.page;
    }
  }

  *ofServer(server: number): Generator<ScheduledPage> {
    const one = this.#rows('k.page = ? AND p.server = ?');
    for (const id of new Set(this.#serverPages.of(server))) {
      const row = one.get(id, server);
      if (row) yield scheduled(row);
    }
  }

  #rows(which: string): StatementSync {
    const rows = this.#database.prepare(`${ROWS} AND ${which}`);
    rows.setReturnArrays(true);
    return rows;
  }

  /** About SAMPLE of the pages that are neither sitemaps nor images. */
  sample(): Iterable<SampledPage> {
    return this.#database
      .prepare(
        `SELECT k.page, p.url, k.wire, k.seen_time, k.change, k.pings, k.flags, p.server FROM known k JOIN pages p ON p.id = k.page
         WHERE k.change IS NOT NULL AND p.role = 0 AND ${MAY_STAND}
           AND NOT k.flags & ${FLAG_ALIAS} AND k.page % (1 + (SELECT count(*) FROM known) / ${SAMPLE}) = 0`,
      )
      .iterate() as Iterable<unknown> as Iterable<ScheduledPage>;
  }

  put(page: number, due: number, change: Uint8Array): void {
    this.#put ??= this.#database.prepare('UPDATE known SET due = ?, change = ? WHERE page = ?');
    this.#put.run(due, change, page);
  }
}
