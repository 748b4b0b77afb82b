/** Every look at every page, in order. Append-only: history and changes are read from here. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY, HOUR } from '../base/clock.ts';
import { serverTroubles } from '../errand/reasons.ts';
import type { Outcome } from '../errand/visit.ts';
import type { Looks } from './looks.ts';
import { roles } from './pages/pages.ts';
import { hasTable } from './schema.ts';
import type { Tallies } from './tallies.ts';

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

/** How many visits ended in the same way. */
export interface VisitTally extends Pick<VisitRow, 'outcome' | 'stage' | 'outpost'> {
  readonly visits: number;
  /** That went wrong (src/errand/reasons.ts). */
  readonly errors: number;
  readonly bytes: number;
}

/** A visit with what is known of its page by now. */
export interface NamedVisit extends VisitRow {
  readonly url: string;
  readonly depth: number;
  readonly title: string | null;
  /** Media type. */
  readonly type: string | null;
}

interface LatestVisit
  extends Pick<VisitRow, 'id' | 'page' | 'time' | 'outcome' | 'reason' | 'stage' | 'status' | 'ms' | 'outpost'> {
  readonly url: string;
  readonly bytes: number;
  /** The page was there once: what is missing now is gone, not only not found. */
  readonly seen: boolean;
}

interface StoredCopy {
  readonly segment: number;
  readonly offset: number;
  readonly length: number;
  readonly page: number;
  readonly time: number;
  readonly url: string;
}
export type NewVisit = Omit<VisitRow, 'id' | 'removed' | 'added'> & Partial<Pick<VisitRow, 'removed' | 'added'>>;

/** Milliseconds by which a visit may be recorded later than one that it precedes: parcels from afar take time. */
const OUT_OF_ORDER = HOUR;

export class Visits {
  readonly #database: DatabaseSync;
  readonly #tallies: Tallies;
  readonly #looks: Looks;
  readonly #add: StatementSync;
  readonly #ofPage: StatementSync;
  readonly #timeOf: StatementSync;
  readonly #newest: StatementSync;
  #days: StatementSync | undefined;
  #last: number;

  #after: StatementSync | undefined;

  constructor(database: DatabaseSync, tallies: Tallies, looks: Looks) {
    this.#looks = looks;
    this.#database = database;
    this.#tallies = tallies;
    this.#add = database.prepare('INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#timeOf = database.prepare('SELECT time FROM visits WHERE id >= ? ORDER BY id LIMIT 1');
    this.#ofPage = database.prepare('SELECT * FROM visits WHERE page = ? ORDER BY id');
    this.#newest = database.prepare('SELECT max(id) AS id FROM visits');
    this.#last = this.newest();
  }

  get last(): number {
    return this.#last;
  }

  /** When the last look at any page was, milliseconds since 1970; undefined = there was none. */
  get lastTime(): number | undefined {
    return this.#timeOf.get(this.#last)?.['time'] as number | undefined;
  }

  /** Id of the newest in the table, also when another process is writing it; 0 = there is none. */
  newest(): number {
    return (this.#newest.get()!['id'] as number | null) ?? 0;
  }

  /**
   * Nothing that an outpost, or one behind it, reported after `since` is to be relied on: those pages are due at once, in
   * a crawl too, and what is known of them no longer spares a look. Returns how many.
   */
  disown(outpost: string, since: number, now: number): number {
    const pages = 'SELECT DISTINCT page FROM visits WHERE (outpost = ? OR substr(outpost, 1, ?) = ?) AND time > ?';
    const sql = `UPDATE known SET due = ?, retry_at = ?, etag = NULL, last_modified = NULL, facts = NULL WHERE page IN (${pages})`;
    // A moment ahead: who looks for retries looks for those whose time has come since it last did.
    const values = [now, now + 1000, outpost, outpost.length + 1, `${outpost}/`, since];
    return Number(this.#database.prepare(sql).run(...values).changes);
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

  /** What was taken for a change turned out to be none, or the other way round. */
  relabel(id: number, { outcome, reason, stage }: Pick<NewVisit, 'outcome' | 'reason' | 'stage'>): void {
    const before = this.get(id)!;
    const sql = 'UPDATE visits SET outcome = ?, reason = ?, stage = ? WHERE id = ?';
    this.#database.prepare(sql).run(outcome, reason, stage, id);
    this.#looks.count(before, -1);
    this.#looks.count({ ...before, outcome, stage }, 1);
  }

  add(visit: NewVisit): number {
    const v = visit;
    const id = ++this.#last;
    this.#looks.count(v, 1);
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

  /** Those levels, root 1; undefined = none are known. */
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

  /** What was done from one time to another: pages looked at (sitemaps left out), and bytes on the wire, both ways. */
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

  /** Counts of the visits behind `id`. */
  tally(id: number): VisitTally[] {
    return this.#database
      .prepare(
        `SELECT outcome, stage, outpost, count(*) AS visits, sum(up + down) AS bytes,
           sum(outcome = 'failed' OR outcome = 'refused' AND reason IN (SELECT value FROM json_each(?))) AS errors
         FROM visits WHERE id > ? GROUP BY outcome, stage, outpost`,
      )
      .all(JSON.stringify(serverTroubles), id) as unknown as VisitTally[];
  }

  /** Looks at pages, neither sitemaps nor images, that came after the visit `last`. */
  after(last: number, most: number): NamedVisit[] {
    this.#after ??= this.#database.prepare(
      `SELECT v.*, p.url, p.depth, k.title, k.media_type AS type
       FROM visits v JOIN pages p ON p.id = v.page LEFT JOIN known k ON k.page = v.page
       WHERE v.id > ? AND p.role = 0 ORDER BY v.id LIMIT ?`,
    );
    return this.#after.all(last, most) as unknown as NamedVisit[];
  }

  /** The visits behind `id`, newest first. */
  latest(id: number, most: number): LatestVisit[] {
    return this.#database
      .prepare(
        `SELECT v.id, v.page, v.time, p.url, v.outcome, v.reason, v.stage, v.status, v.up + v.down AS bytes, v.ms, v.outpost,
           EXISTS (SELECT 1 FROM known k WHERE k.page = v.page AND k.seen_time IS NOT NULL) AS seen
         FROM visits v JOIN pages p ON p.id = v.page WHERE v.id > ? ORDER BY v.id DESC LIMIT ?`,
      )
      .all(id, most)
      .map(row => ({ ...row, seen: row['seen'] === 1 })) as unknown as LatestVisit[];
  }

  /** Visits of each span of `ms` since 1970, from the visit `from` up to, not including, `before`. */
  bySpan(from: number, before: number, ms: number): { span: number; visits: number; same: number }[] {
    return this.#database
      .prepare(
        `SELECT cast(time / ? AS INTEGER) AS span, count(*) AS visits, sum(outcome = 'same') AS same FROM visits
         WHERE id >= ? AND id < ? GROUP BY span`,
      )
      .all(ms, from, before) as unknown as { span: number; visits: number; same: number }[];
  }

  /** Days (since 1970) on which a page was looked at, from the time `since` on. */
  daysOf(page: number, since: number): number[] {
    this.#days ??= this.#database.prepare(
      `SELECT DISTINCT cast(time / ${DAY} AS INTEGER) AS day FROM visits WHERE page = ? AND time >= ?`,
    );
    return this.#days.all(page, since).map(row => row['day'] as number);
  }

  /** Every stored copy: where its response lies, and of which page it is. */
  copies(): Iterable<StoredCopy> {
    return this.#database
      .prepare(
        `SELECT v.segment, v.place + v.request_length AS offset, v.length - v.request_length AS length, v.page, v.time, p.url
         FROM visits v JOIN pages p ON p.id = v.page WHERE v.segment IS NOT NULL`,
      )
      .iterate() as Iterable<unknown> as Iterable<StoredCopy>;
  }

  /** Where the response of each page's newest copy from before `until` lies. */
  newestCopies(until: number): Iterable<{ segment: number; offset: number }> {
    return this.#database
      .prepare(
        `SELECT segment, place + request_length AS offset, max(time) FROM visits
         WHERE segment IS NOT NULL AND time < ? GROUP BY page`,
      )
      .iterate(until) as Iterable<unknown> as Iterable<{ segment: number; offset: number }>;
  }

  /** Pages that a visit behind `after`, up to `upTo`, may have made others: brought, taken away, or seen again after that. */
  newsPages(after: number, upTo: number): Iterable<{ page: number; server: number; url: string }> {
    return this.#database
      .prepare(
        `SELECT DISTINCT v.page, p.server, p.url FROM visits v JOIN pages p ON p.id = v.page
         WHERE v.id > ? AND v.id <= ? AND p.role = 0 AND (v.outcome IN ('fetched', 'gone', 'moved') OR v.outcome = 'same'
           AND (v.segment IS NOT NULL OR EXISTS
             (SELECT 1 FROM visits b WHERE b.page = v.page AND b.id < v.id AND b.outcome IN ('gone', 'moved'))))
         ORDER BY v.page`,
      )
      .iterate(after, upTo) as Iterable<unknown> as Iterable<{ page: number; server: number; url: string }>;
  }

  /** Pages of which a copy is stored, with their servers. */
  storedPages(): Iterable<{ page: number; server: number }> {
    return this.#database
      .prepare(
        'SELECT k.page, p.server FROM known k JOIN pages p ON p.id = k.page WHERE k.segment IS NOT NULL AND p.role = 0',
      )
      .iterate() as Iterable<unknown> as Iterable<{ page: number; server: number }>;
  }

  of(page: number): VisitRow[] {
    return this.#ofPage.all(page) as unknown as VisitRow[];
  }
}
