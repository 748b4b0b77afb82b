/** When pages are looked at next: what is due, what is tried again, and what moves due times that no visit set. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { FLAG_ALIAS, FLAG_DOUBTED } from '../pages/known-row.ts';

/** No page of its own: a dead link, a redirect, a second address. */
const ASIDE = `(k.outcome IN ('gone', 'moved') OR k.flags & ${FLAG_ALIAS})`;
const ALL_DUE = 'known k JOIN pages p ON p.id = k.page WHERE p.role';
/** Few pages are images: they are found through an index of their own, not by passing over all others. */
const dueRoles = {
  pages: `${ALL_DUE} = 0 AND NOT ${ASIDE}`,
  aside: `known k INDEXED BY known_aside CROSS JOIN pages p ON p.id = k.page
    WHERE p.role = 0 AND k.due IS NOT NULL AND ${ASIDE}`,
  sitemaps: `${ALL_DUE} = 1`,
  /** Of which notices say that they have changed. */
  told: `told t CROSS JOIN known k ON k.page = t.page JOIN pages p ON p.id = k.page
    WHERE p.role = 0 AND k.due IS NOT NULL AND NOT ${ASIDE}`,
  'pages and images': `${ALL_DUE} <> 1 AND NOT ${ASIDE}`,
  images: 'pages p INDEXED BY pages_images CROSS JOIN known k ON k.page = p.id WHERE p.role = 2',
} as const;

/** One that can be kept fresh. */
export interface LivePage {
  readonly page: number;
  readonly server: number;
  readonly url: string;
  readonly flags: number;
  /** When a visit last found a change; of a page that never changed, when it was first seen. */
  readonly changed_time: number;
  readonly wire: number | null;
  /** Notices since it was last seen. */
  readonly pings: number;
}

export class DueTimes {
  readonly #database: DatabaseSync;
  #setPinged: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Failures whose time to be tried again came after `since` and by `now`; those that wait longest first. */
  retries(
    since: number,
    now: number,
    most = Number.MAX_SAFE_INTEGER,
  ): { page: number; server: number; depth: number; relevance: number }[] {
    return this.#database
      .prepare(
        `SELECT k.page, p.server, p.depth, p.relevance FROM known k JOIN pages p ON p.id = k.page
         WHERE k.retry_at > ? AND k.retry_at <= ? ORDER BY k.retry_at LIMIT ?`,
      )
      .all(since, now, Math.min(most, Number.MAX_SAFE_INTEGER)) as unknown as {
      page: number;
      server: number;
      depth: number;
      relevance: number;
    }[];
  }

  /** When the next retry falls due; undefined = none waits. */
  nextRetry(): { time: number; count: number } | undefined {
    const row = this.#database
      .prepare('SELECT min(retry_at) AS time, count(*) AS count FROM known WHERE retry_at IS NOT NULL')
      .get()!;
    return row['time'] === null ? undefined : { time: row['time'] as number, count: row['count'] as number };
  }

  /**
   * Pages that are due by `time` and were last asked for before `seenBefore`, most overdue first. Sitemaps come by
   * themselves, because they tell of pages; images do where they are only watched.
   */
  due(
    kind: keyof typeof dueRoles,
    time: number,
    most: number,
    seenBefore = Number.MAX_VALUE,
  ): { page: number; server: number; due: number }[] {
    return this.#database
      .prepare(
        `SELECT k.page, p.server, k.due FROM ${dueRoles[kind]}
         AND k.due <= ? AND k.time < ? ORDER BY k.due LIMIT ?`,
      )
      .all(time, seenBefore, Math.min(most, Number.MAX_SAFE_INTEGER)) as unknown as {
      page: number;
      server: number;
      due: number;
    }[];
  }

  /** Pages that are due; beyond `most` they are not counted. */
  countDue(now: number, most = Number.MAX_SAFE_INTEGER): number {
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM ${dueRoles.pages} AND k.due <= ? LIMIT ?)`;
    return this.#database.prepare(sql).get(now, most)!['n'] as number;
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
      `SELECT k.page, k.flags, k.changed_time, k.wire, k.pings, p.server, p.url FROM known k JOIN pages p ON p.id = k.page
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

  /** What refused pages for this reason has changed: they are asked for at `time`, by either clock; on all servers or one. */
  allow(reason: 'robots' | 'private-address', time: number, clock: 'retry_at' | 'due', server?: number): void {
    const ofServer = `SELECT k.page FROM known k JOIN pages p ON p.id = k.page WHERE k.reason = '${reason}' AND p.server = ?`;
    const sql = `UPDATE known SET ${clock} = ? WHERE reason = '${reason}'`;
    if (server === undefined) this.#database.prepare(sql).run(time);
    else this.#database.prepare(`${sql} AND page IN (${ofServer})`).run(time, server);
  }

  /** A page is tried again at this time. */
  setRetry(id: number, time: number): void {
    this.#database.prepare('UPDATE known SET retry_at = ? WHERE page = ?').run(time, id);
  }

  /** A notice came for a page, which is due earlier for it; `pings`: how many that makes. */
  setPinged(id: number, pings: number, due: number): void {
    this.#setPinged ??= this.#database.prepare('UPDATE known SET pings = ?, due = ? WHERE page = ?');
    this.#setPinged.run(pings, due, id);
  }

  /** No page was visited later than now; what is to come keeps its distance from the visit that set it. */
  takeBack(now: number): void {
    const sooner = (name: string) => `${name} = min(${name}, :now + max(0, ${name} - time))`;
    const past = 'seen_time = min(seen_time, :now), time = :now';
    this.#database
      .prepare(`UPDATE known SET ${sooner('due')}, ${sooner('retry_at')}, ${past} WHERE time > :now`)
      .run({ now });
  }
}
