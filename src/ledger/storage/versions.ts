/** Stored versions as retention sees them: which a page has, and looks of long ago that left nothing. */
import type { DatabaseSync } from 'node:sqlite';
import type { NamedCopy } from './dropped.ts';

/** A version, and what says how much it is worth keeping. */
interface RankedVersion extends NamedCopy {
  /** How many newer versions of its page there are; 0 = it is the newest. */
  readonly newer: number;
  /** Share of the words that it changed; null = not known. */
  readonly amount: number | null;
}

/** All versions, with how many newer ones there are; but for those that are all that is left of a page. */
const RANKED = `SELECT * FROM (
    SELECT id AS visit, page, time, segment, place, length, request_length, amount,
      row_number() OVER (PARTITION BY page ORDER BY id DESC) - 1 AS newer
    FROM visits WHERE segment IS NOT NULL) v
  WHERE newer > 0 AND NOT EXISTS
    (SELECT 1 FROM known k WHERE k.page = v.page AND k.segment = v.segment AND k.place = v.place)`;

export class HeldVersions {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /**
   * Versions that are beyond the newest so many of their page or older than a time, oldest first, some at a time. Never a
   * page's newest.
   */
  beyond({ versions, before }: { readonly versions: number; readonly before: number }, most: number): RankedVersion[] {
    const sql = `${RANKED} AND (newer >= ? OR time < ?) ORDER BY visit LIMIT ?`;
    return this.#database.prepare(sql).all(versions, before, most) as unknown as RankedVersion[];
  }

  /**
   * The versions that are worth least, some at a time, never a page's newest: those of pages that have the most, and of
   * one page the oldest.
   */
  leastWorth(most: number): RankedVersion[] {
    const sql = `${RANKED} ORDER BY newer DESC, visit LIMIT ?`;
    return this.#database.prepare(sql).all(most) as unknown as RankedVersion[];
  }

  /** Bytes of copies that visits have stored from a visit on, as far as they are still kept. */
  bytesFrom(visit: number): number {
    const sql = 'SELECT coalesce(sum(length), 0) AS n FROM visits WHERE id >= ? AND segment IS NOT NULL';
    return this.#database.prepare(sql).get(visit)!['n'] as number;
  }

  /** Times of the visits next to a number that is none any more. */
  timesAround(visit: number): { readonly before?: number; readonly after?: number } {
    const time = (sql: string) => this.#database.prepare(sql).get(visit)?.['time'] as number | undefined;
    const [before, after] = [
      time('SELECT time FROM visits WHERE id < ? ORDER BY id DESC LIMIT 1'),
      time('SELECT time FROM visits WHERE id > ? ORDER BY id LIMIT 1'),
    ];
    return { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  }

  /**
   * Deletes looks from before a time that keep no copy, but for each page's newest, and those that found it gone or back: they
   * say whether a reader of then had it. Returns how many. In a transaction.
   */
  deleteLooks(before: number, newest: number): number {
    const saw = "outcome NOT IN ('failed', 'refused')";
    const none = "IN ('gone', 'moved')";
    const last = `SELECT l.outcome FROM visits l WHERE l.page = visits.page AND l.id < visits.id AND l.${saw}
      ORDER BY l.id DESC LIMIT 1`;
    const turn = `page > 0 AND ${saw} AND (outcome ${none}) <> (coalesce((${last}), '') ${none})`;
    const old = `id < ? AND time < ? AND segment IS NULL AND NOT (${turn})`;
    const later = 'EXISTS (SELECT 1 FROM visits l WHERE l.page = visits.page AND l.id > visits.id)';
    this.#database
      .prepare(`DELETE FROM levels WHERE visit IN (SELECT id FROM visits WHERE ${old})`)
      .run(newest, before);
    this.#database
      .prepare(`DELETE FROM found WHERE visit IN (SELECT id FROM visits WHERE ${old} AND ${later})`)
      .run(newest, before);
    const sql = `DELETE FROM visits WHERE ${old} AND (page = 0 OR ${later})`;
    return Number(this.#database.prepare(sql).run(newest, before).changes);
  }
}
