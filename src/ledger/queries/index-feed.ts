/** What whoever feeds a search index asks the ledger: what is known, and what happened since, page after page. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { KnownRow } from '../pages/known-row.ts';

interface LinkRow extends Pick<KnownRow, 'page' | 'outcome' | 'reason' | 'flags' | 'moved_to'> {
  /** Packed links; null = it has none. */
  readonly targets: Uint8Array | null;
}

/** A visit with its outcome, and what is known of its page by now. */
export type Visited = readonly [
  ...[visit: number, page: number, time: number, found: string],
  ...[outcome: KnownRow['outcome'], reason: string, flags: number, segment: number | null, changed: number],
];

/** When the copy that people read was last another, by news or not. */
const COPIED = 'max(k.changed_time, coalesce((SELECT edited FROM followed f WHERE f.page = k.page), 0))';
const VISITED = `SELECT v.id, v.page, v.time, v.outcome, k.outcome, k.reason, k.flags, k.segment, ${COPIED}
  FROM visits v JOIN known k ON k.page = v.page`;
const CHANGED = `v.outcome IN ('fetched', 'gone', 'moved')`;

export class IndexFeed {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** The newest visit; id 0 = there is none. */
  newest(): { readonly id: number; readonly time: number } {
    const row = this.#ask('SELECT id, time FROM visits ORDER BY id DESC LIMIT 1').get();
    return { id: Number(row?.['id'] ?? 0), time: Number(row?.['time'] ?? 0) };
  }

  timeOf(visit: number): number | undefined {
    return this.#ask('SELECT time FROM visits WHERE id = ?').get(visit)?.['time'] as number | undefined;
  }

  /** Counters of links are ahead of those that were saved. */
  get counting(): boolean {
    return this.#ask(`SELECT 1 FROM meta WHERE name = 'counting'`).get() !== undefined;
  }

  /** Known pages with their links, behind the page `after`. */
  links(after: number, most: number): LinkRow[] {
    const sql = `SELECT k.page, k.outcome, k.reason, k.flags, k.moved_to, l.targets FROM known k LEFT JOIN links l ON l.page = k.page
       WHERE k.page > ? ORDER BY k.page LIMIT ?`;
    return this.#ask(sql).all(after, most) as unknown as LinkRow[];
  }

  linksOf(page: number): Uint8Array | null {
    const row = this.#ask('SELECT targets FROM links WHERE page = ?').get(page);
    return (row?.['targets'] as Uint8Array | undefined) ?? null;
  }

  /** Known pages behind the page `after`. */
  pages(after: number, most: number): number[] {
    const rows = this.#ask('SELECT page FROM known WHERE page > ? ORDER BY page LIMIT ?').all(after, most);
    return rows.map(row => row['page'] as number);
  }

  visits(after: number, most: number): Visited[] {
    return this.#ask(`${VISITED} WHERE v.id > ? ORDER BY v.id LIMIT ?`, true).all(after, most) as unknown as Visited[];
  }

  /** Visits that changed what there was, up to and including `last`. */
  changes(after: number, last: number, most: number): Visited[] {
    const where = `v.id > ? AND v.id <= ? AND ${CHANGED} AND v.stage IS NOT 'first'`;
    const sql = `${VISITED} WHERE ${where} ORDER BY v.id LIMIT ?`;
    return this.#ask(sql, true).all(after, last, most) as unknown as Visited[];
  }

  countVisits(after: number): number {
    return this.#count('SELECT count(*) AS n FROM visits WHERE id > ?', after);
  }

  /** Pages that visits found changed, gone or new. */
  countChanged(after: number): number {
    return this.#count(`SELECT count(DISTINCT v.page) AS n FROM visits v WHERE v.id > ? AND ${CHANGED}`, after);
  }

  /** Known pages behind the page `after`; `there`: only those that could be seen at the last look. */
  countPages(after: number, there = false): number {
    const only = there ? `AND outcome IN ('fetched', 'same')` : '';
    return this.#count(`SELECT count(*) AS n FROM known WHERE page > ? ${only}`, after);
  }

  #count(sql: string, after: number): number {
    return this.#ask(sql).get(after)!['n'] as number;
  }

  #ask(sql: string, arrays = false): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#database.prepare(sql);
    if (arrays) statement.setReturnArrays(true);
    this.#statements.set(sql, statement);
    return statement;
  }
}
