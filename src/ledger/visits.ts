/** Every visit to every page, in order. Append-only; history and changes are read from here. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { HOUR } from '../base/clock.ts';
import type { Outcome } from '../errand/visit.ts';
import { Looks } from './looks.ts';
import { FoundData } from './pages/found.ts';
import { roles } from './pages/pages.ts';
import { hasTable } from './schema.ts';

/** Names and order are those of the table `visits`. */
export interface VisitRow {
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly status: number;
  readonly stage: string | null;
  /** Share of the words of both versions that only one of them has, 0–1; null where they were not compared. */
  readonly amount: number | null;
  readonly up: number;
  readonly down: number;
  readonly cause: string;
  readonly ms: number;
  readonly outpost: string;
  readonly segment: number | null;
  readonly place: number | null;
  readonly length: number | null;
  readonly request_length: number | null;
  /** Words that went and came, where the visit was compared with the stored copy. */
  readonly removed: number | null;
  readonly added: number | null;
}

/** A visit with what is known of its page by now. */
export interface NamedVisit extends VisitRow {
  readonly url: string;
  readonly depth: number;
  readonly title: string | null;
  /** Media type. */
  readonly type: string | null;
}

export type NewVisit = Omit<VisitRow, 'id' | 'removed' | 'added'> & Partial<Pick<VisitRow, 'removed' | 'added'>>;

/** Milliseconds by which visits may be recorded out of order, because parcels from other machines take time. */
const OUT_OF_ORDER = HOUR;

export class Visits {
  readonly #database: DatabaseSync;
  readonly looks: Looks;
  /** What hooks took from pages at a visit. */
  readonly found: FoundData;
  readonly #add: StatementSync;
  readonly #ofPage: StatementSync;
  readonly #timeOf: StatementSync;
  readonly #newest: StatementSync;
  #last: number;

  #after: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.looks = new Looks(database);
    this.found = new FoundData(database);
    this.#database = database;
    this.#add = database.prepare('INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#timeOf = database.prepare('SELECT time FROM visits WHERE id >= ? ORDER BY id LIMIT 1');
    this.#ofPage = database.prepare('SELECT * FROM visits WHERE page = ? ORDER BY id');
    this.#newest = database.prepare('SELECT max(id) AS id FROM visits');
    this.#last = this.newest();
  }

  get last(): number {
    return this.#last;
  }

  /** Time of the newest visit, milliseconds since 1970; undefined = there was none. */
  get lastTime(): number | undefined {
    return this.#timeOf.get(this.#last)?.['time'] as number | undefined;
  }

  /** Id of the newest in the table, also when another process is writing it; 0 = there is none. */
  newest(): number {
    return (this.#newest.get()!['id'] as number | null) ?? 0;
  }

  /**
   * Distrusts everything that an outpost, or one below it, reported after `since`: those pages are due at once, in a crawl as
   * well, and what is known of them no longer counts. Returns how many pages.
   */
  disown(outpost: string, since: number, now: number): number {
    const pages = 'SELECT DISTINCT page FROM visits WHERE (outpost = ? OR substr(outpost, 1, ?) = ?) AND time > ?';
    const sql = `UPDATE known SET due = ?, retry_at = ?, etag = NULL, last_modified = NULL, facts = NULL WHERE page IN (${pages})`;
    // A moment in the future: the search for retries only finds those that fell due since the last search.
    const values = [now, now + 1000, outpost, outpost.length + 1, `${outpost}/`, since];
    return Number(this.#database.prepare(sql).run(...values).changes);
  }

  /** A visit that looked like a change brought none, or the other way round. */
  relabel(id: number, { outcome, reason, stage }: Pick<NewVisit, 'outcome' | 'reason' | 'stage'>): void {
    const before = this.get(id)!;
    const sql = 'UPDATE visits SET outcome = ?, reason = ?, stage = ? WHERE id = ?';
    this.#database.prepare(sql).run(outcome, reason, stage, id);
    this.looks.count(before, -1);
    this.looks.count({ ...before, outcome, stage }, 1);
  }

  add(visit: NewVisit): number {
    const v = visit;
    const id = ++this.#last;
    this.looks.count(v, 1);
    this.#add.run(
      id,
      v.page,
      v.time,
      v.outcome,
      v.reason,
      v.status,
      v.stage,
      v.amount,
      v.up,
      v.down,
      v.cause,
      v.ms,
      v.outpost,
      v.segment,
      v.place,
      v.length,
      v.request_length,
      v.removed ?? null,
      v.added ?? null,
    );
    return id;
  }

  /** Remembers on which levels of its tree a visit found a page changed. */
  addLevels(visit: number, levels: readonly number[]): void {
    this.#database.prepare('INSERT OR REPLACE INTO levels VALUES (?, ?)').run(visit, JSON.stringify(levels));
  }

  /** The levels on which a visit found the page changed, root = 1; undefined = not known. */
  levels(visit: number): number[] | undefined {
    if (!hasTable(this.#database, 'levels')) return undefined;
    const row = this.#database.prepare('SELECT levels FROM levels WHERE visit = ?').get(visit);
    return row && (JSON.parse(row['levels'] as string) as number[]);
  }

  /** The first visit at or after a time, or a little before it: visits arrive nearly in order, and there is no index. */
  since(time: number): number {
    let low = 1;
    let high = this.newest() + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = this.#timeOf.get(middle);
      if (row && (row['time'] as number) < time - OUT_OF_ORDER) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** What happened between two times: pages visited (without sitemaps), and bytes on the wire, both ways. */
  doneBetween(from: number, to: number, images: boolean): { pages: Set<number>; bytes: number } {
    const rows = this.#database
      .prepare(
        `SELECT v.page, p.role, v.up + v.down AS bytes FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id >= ? AND v.time BETWEEN ? AND ?`,
      )
      .all(this.since(from), from, to) as unknown as { page: number; role: number; bytes: number }[];
    const counted = rows.filter(({ role }) => roles[role] === 'page' || (images && roles[role] === 'image'));
    return { pages: new Set(counted.map(({ page }) => page)), bytes: rows.reduce((sum, { bytes }) => sum + bytes, 0) };
  }

  get(id: number): VisitRow | undefined {
    return this.#database.prepare('SELECT * FROM visits WHERE id = ?').get(id) as unknown as VisitRow | undefined;
  }

  /** Visits after the visit `last`, to pages that are neither sitemaps nor images. */
  after(last: number, most: number): NamedVisit[] {
    this.#after ??= this.#database.prepare(
      `SELECT v.*, p.url, p.depth, k.title, k.media_type AS type
       FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
       WHERE v.id > ? AND p.role = 0 ORDER BY v.id LIMIT ?`,
    );
    return this.#after.all(last, most) as unknown as NamedVisit[];
  }

  of(page: number): VisitRow[] {
    return this.#ofPage.all(page) as unknown as VisitRow[];
  }
}
