/**
 * Pages: the identity of every URL (append-only), and what visits have taught of those that were visited. Knows SQL
 * and nothing of why: the frontier decides what is written.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ELSEWHERE } from '../collection/border.ts';
import type { Tallies } from '../tallies.ts';
import { FLAG_ALIAS, FLAG_SHOWN, KNOWN_COLUMNS, type KnownRow, runKnown } from './known-row.ts';
import { CHUNK, Prints } from './prints.ts';
import type { ServerPages } from './server-pages.ts';

export interface PageRow {
  readonly id: number;
  readonly high: number;
  readonly low: number;
  readonly server: number;
  readonly url: string;
  /** Page that first linked here; 0 = a seed. */
  readonly parent: number;
  readonly depth: number;
  readonly hops: number;
  readonly relevance: number;
  readonly found: number;
  readonly refused: string | null;
  /** Index into `roles`. */
  readonly role: number;
  readonly lastmod: number | null;
}

/** As much of a page as an errand says of it. */
export interface AskedPage extends Pick<PageRow, 'url' | 'role' | 'depth' | 'hops'> {
  /** Something is known of it. */
  readonly visited: boolean;
}

/** What a page is asked for, by its number in the table. */
export const roles = ['page', 'sitemap', 'image'] as const;

/** A part of a URL, with * for anything, as SQLite's GLOB takes it. */
export function globOf(pattern: string | undefined): string {
  return pattern === undefined || pattern === '' ? '*' : `*${pattern.replace(/[[?]/g, '[$&]')}*`;
}

/** Rows. */
const READ_AT_ONCE = 1000;

/** No page of its own: a dead link, a redirect, a second address. */
export const ASIDE = `(k.outcome IN ('gone', 'moved') OR k.flags & ${FLAG_ALIAS})`;
const ALL_DUE = 'known k JOIN pages p ON p.id = k.page WHERE p.role';
/** Few pages are images: they are found through an index of their own, not by passing over all others. */
const dueRoles = {
  pages: `${ALL_DUE} = 0 AND NOT ${ASIDE}`,
  aside: `known k INDEXED BY known_aside CROSS JOIN pages p ON p.id = k.page
    WHERE p.role = 0 AND k.due IS NOT NULL AND ${ASIDE}`,
  sitemaps: `${ALL_DUE} = 1`,
  'pages and images': `${ALL_DUE} <> 1 AND NOT ${ASIDE}`,
  images: 'pages p INDEXED BY pages_images CROSS JOIN known k ON k.page = p.id WHERE p.role = 2',
} as const;

export class Pages {
  readonly #database: DatabaseSync;
  readonly #tallies: Tallies;
  readonly #serverPages: ServerPages;
  readonly #insert: StatementSync;
  readonly #get: StatementSync;
  readonly #ask: StatementSync;
  readonly #findAfter: StatementSync;
  readonly #prints: Prints;
  readonly #known: StatementSync;
  readonly #addKnown: StatementSync;
  readonly #putKnown: StatementSync;
  readonly #setLastmod: StatementSync;
  readonly #setPinged: StatementSync;
  readonly #judge: StatementSync;
  readonly #setDepth: StatementSync;
  #last: number;

  constructor(database: DatabaseSync, tallies: Tallies, serverPages: ServerPages) {
    this.#database = database;
    this.#tallies = tallies;
    this.#serverPages = serverPages;
    this.#insert = database.prepare('INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#get = database.prepare('SELECT * FROM pages WHERE id = ?');
    this.#ask = database.prepare(
      'SELECT url, role, depth, hops, EXISTS (SELECT 1 FROM known WHERE page = id) FROM pages WHERE id = ?',
    );
    this.#ask.setReturnArrays(true);
    this.#findAfter = database.prepare('SELECT * FROM pages WHERE id > ? AND high = ? AND low = ?');
    this.#prints = new Prints(database);
    this.#known = database.prepare('SELECT * FROM known WHERE page = ?');
    const known = `INTO known VALUES (${Array(KNOWN_COLUMNS).fill('?').join(', ')})`;
    this.#addKnown = database.prepare(`INSERT OR IGNORE ${known}`);
    this.#putKnown = database.prepare(`INSERT OR REPLACE ${known}`);
    this.#setLastmod = database.prepare('UPDATE pages SET lastmod = ? WHERE id = ?');
    this.#setPinged = database.prepare('UPDATE known SET pings = ?, due = ? WHERE page = ?');
    this.#judge = database.prepare('UPDATE pages SET refused = ?, server = ? WHERE id = ?');
    this.#setDepth = database.prepare('UPDATE pages SET depth = ? WHERE id = ?');
    this.#last = this.newest();
  }

  /** Number of pages ever seen; ids run from 1 to this. */
  get size(): number {
    return this.#last;
  }

  /** The same without those that stand for pages of other partitions. */
  get own(): number {
    const stubs = this.#tallies.of('pages').filter(({ name }) => name === ELSEWHERE);
    return this.#last - stubs.reduce((sum, { n }) => sum + n, 0);
  }

  /** There is no stored copy of any page. */
  empty(): boolean {
    return this.#database.prepare('SELECT 1 FROM known WHERE segment IS NOT NULL LIMIT 1').get() === undefined;
  }

  add(page: Omit<PageRow, 'id'>): number {
    const id = ++this.#last;
    const { high, low, server, url, parent, depth, hops, relevance, found, refused, role, lastmod } = page;
    this.#insert.run(id, high, low, server, url, parent, depth, hops, relevance, found, refused, role, lastmod);
    this.#tallies.count('pages', refused ?? '', server, 1);
    this.#serverPages.add(server, id);
    if (id % CHUNK === 0) this.#prints.add(id);
    return id;
  }

  get(id: number): PageRow | undefined {
    return this.#get.get(id) as unknown as PageRow | undefined;
  }

  /** For an errand: a row of few columns, as a list, costs half of the whole as an object. */
  ask(id: number): AskedPage {
    const row = this.#ask.get(id) as unknown as [string, number, number, number, number];
    return { url: row[0], role: row[1], depth: row[2], hops: row[3], visited: row[4] === 1 };
  }

  /** By fingerprint: for whoever has no fingerprints in memory. */
  find(high: number, low: number): PageRow | undefined {
    const covered = this.#prints.covered();
    for (const id of this.#prints.candidates(high, low, covered)) {
      const page = this.get(id);
      if (page?.high === high) return page;
    }
    return this.#findAfter.get(covered, high, low) as unknown as PageRow | undefined;
  }

  known(id: number): KnownRow | undefined {
    return this.#known.get(id) as unknown as KnownRow | undefined;
  }

  /** `before`: the row that it replaces. */
  putKnown(row: KnownRow, before = this.known(row.page)): void {
    runKnown(this.#putKnown, row);
    if (before) this.#tallies.visited(before, -1);
    this.#tallies.visited(row, 1);
  }

  /** The same for a first visit: SQLite need not be able to take half a replacement back, a fifth of the time. */
  addKnown(row: KnownRow): void {
    if (runKnown(this.#addKnown, row) === 0) this.putKnown(row);
    else this.#tallies.visited(row, 1);
  }

  /** What its last visit took for a change was none; `time` says which visit is meant. */
  relabel(of: Pick<KnownRow, 'page' | 'time' | 'changed_time' | 'change' | 'due'>): void {
    const { page, time, changed_time, change, due } = of;
    const row = this.known(page);
    if (row?.time === time) {
      const same = { ...row, outcome: 'same', reason: 'unchanged', due } as const;
      this.putKnown(same, row);
    }
    this.#database
      .prepare('UPDATE known SET changed_time = ?, change = ? WHERE page = ? AND changed_time = ?')
      .run(changed_time, change, page, time);
  }

  setLastmod(id: number, time: number): void {
    this.#setLastmod.run(time, id);
  }

  /** A notice came for a page, which is due earlier for it; `pings`: how many that makes. */
  setPinged(id: number, pings: number, due: number): void {
    this.#setPinged.run(pings, due, id);
  }

  /** The images of a page are known now. */
  setShown(id: number): void {
    this.#database.prepare(`UPDATE known SET flags = flags | ${FLAG_SHOWN} WHERE page = ?`).run(id);
  }

  /** A page is refused for another reason than it was, or for none any more (null). */
  judge(id: number, refused: string | null, server: number): void {
    const before = this.get(id)!;
    this.#judge.run(refused, server, id);
    if (before.server !== server) this.#serverPages.add(server, id);
    this.#tallies.judged(before, { id, refused, server }, this.known(id) !== undefined);
  }

  /** Redirects of a page that stands for one of another partition lead here: what came before it. */
  setOrigin(id: number, parent: number, hops: number): void {
    this.#database.prepare('UPDATE pages SET parent = ?, hops = ? WHERE id = ?').run(parent, hops, id);
  }

  setDepth(id: number, depth: number): void {
    this.#setDepth.run(depth, id);
  }

  /** Every page, as far as the tables in memory need it. */
  every(): Iterable<Pick<PageRow, 'id' | 'high' | 'low' | 'depth' | 'server' | 'refused' | 'role'>> {
    return this.#rows('SELECT id, high, low, depth, server, refused, role FROM pages WHERE id > ?', 'id');
  }

  /** Pages of a server at these places of its list, 0 to 1; whether they may be visited is not asked. */
  someOf(server: number, places: readonly number[]): number[] {
    const ids = [...this.#serverPages.of(server)];
    return ids.length === 0 ? [] : [...new Set(places.map(place => ids[Math.floor(place * ids.length)]!))];
  }

  /** Fingerprints of a server's pages. */
  *ofServer(server: number): Iterable<{ id: number; high: number; low: number }> {
    const page = this.#database.prepare('SELECT id, high, low FROM pages WHERE id = ? AND server = ?');
    for (const id of new Set(this.#serverPages.of(server))) {
      const row = page.get(id, server);
      if (row) yield row as unknown as { id: number; high: number; low: number };
    }
  }

  /** Pages that were never visited and may be, oldest first. */
  pending(): Iterable<Pick<PageRow, 'id' | 'server' | 'depth' | 'relevance' | 'role'>> {
    return this.#rows(
      `SELECT p.id, p.server, p.depth, p.relevance, p.role FROM pages p LEFT JOIN known k ON k.page = p.id
       WHERE k.page IS NULL AND p.refused IS NULL AND p.id > ?`,
      'id',
    );
  }

  /** Ids of pages refused for this reason. */
  refusedFor(reason: string): number[] {
    const rows = this.#database.prepare('SELECT id FROM pages WHERE refused = ?').all(reason);
    return rows.map(row => row['id'] as number);
  }

  /** Facts of pages that were fetched, for the tables that find duplicates and traps. `original`: its own copy is kept. */
  fetched(): Iterable<{
    page: number;
    facts: Uint8Array;
    near: number | null;
    original: number;
    url: string;
    server: number;
  }> {
    return this.#rows(
      `SELECT k.page, k.facts, k.near, k.segment IS NOT NULL AND k.same_as IS NULL AS original, p.url, p.server
       FROM known k JOIN pages p ON p.id = k.page WHERE k.facts IS NOT NULL AND k.page > ?`,
      'page',
    );
  }

  /** The first page of each server that robots.txt kept us from. */
  firstForbidden(): { page: number; server: number }[] {
    const sql = `SELECT min(k.page) AS page, p.server FROM known k JOIN pages p ON p.id = k.page
      WHERE k.reason = 'robots' GROUP BY p.server`;
    return this.#database.prepare(sql).all() as unknown as { page: number; server: number }[];
  }

  /** The rules of a server's robots.txt are new: what the old ones forbade is asked for at `time`, by either clock. */
  allow(server: number, time: number, clock: 'retry_at' | 'due'): void {
    const forbidden = `SELECT k.page FROM known k JOIN pages p ON p.id = k.page WHERE k.reason = 'robots' AND p.server = ?`;
    const sql = `UPDATE known SET ${clock} = ? WHERE reason = 'robots' AND page IN (${forbidden})`;
    this.#database.prepare(sql).run(time, server);
  }

  /** Failures whose time to be tried again came after `since` and by `now`. */
  retries(since: number, now: number): { page: number; server: number; depth: number; relevance: number }[] {
    return this.#database
      .prepare(
        `SELECT k.page, p.server, p.depth, p.relevance FROM known k JOIN pages p ON p.id = k.page
         WHERE k.retry_at > ? AND k.retry_at <= ? ORDER BY k.retry_at`,
      )
      .all(since, now) as unknown as { page: number; server: number; depth: number; relevance: number }[];
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

  /** No page was visited later than now; what is to come keeps its distance from the visit that set it. */
  takeBack(now: number): void {
    const sooner = (name: string) => `${name} = min(${name}, :now + max(0, ${name} - time))`;
    const past = 'seen_time = min(seen_time, :now), time = :now';
    this.#database
      .prepare(`UPDATE known SET ${sooner('due')}, ${sooner('retry_at')}, ${past} WHERE time > :now`)
      .run({ now });
  }

  /** Pages that are due; beyond `most` they are not counted. */
  countDue(now: number, most = Number.MAX_SAFE_INTEGER): number {
    const sql = `SELECT count(*) AS n FROM (SELECT 1 FROM ${dueRoles.pages} AND k.due <= ? LIMIT ?)`;
    return this.#database.prepare(sql).get(now, most)!['n'] as number;
  }

  /** Id of the newest in the table, also when another process is writing it; 0 = there is none. */
  newest(): number {
    return (this.#database.prepare('SELECT max(id) AS last FROM pages').get()!['last'] as number | null) ?? 0;
  }

  /** A page is tried again at this time. */
  setRetry(id: number, time: number): void {
    this.#database.prepare('UPDATE known SET retry_at = ? WHERE page = ?').run(time, id);
  }

  /** All rows whose key is above `?`, in its order, some at a time: by the database's own iterator each costs twice that. */
  *#rows<T>(sql: string, key: keyof T & string): Iterable<T> {
    const next = this.#database.prepare(`${sql} ORDER BY ${key} LIMIT ${READ_AT_ONCE}`);
    for (let rows: T[], last = 0; ; last = rows.at(-1)![key] as number) {
      rows = next.all(last) as T[];
      yield* rows;
      if (rows.length < READ_AT_ONCE) return;
    }
  }
}
