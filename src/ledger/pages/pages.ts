/**
 * Pages: the identity of every URL (append-only), and what visits have taught of those that were visited. Knows SQL
 * and nothing of why: the frontier decides what is written.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { ELSEWHERE } from '../outbox/border.ts';
import type { Tallies } from '../tallies.ts';
import { KNOWN_COLUMNS, type KnownRow, runKnown } from './known-row.ts';
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

  /** Id of the newest in the table, also when another process is writing it; 0 = there is none. */
  newest(): number {
    return (this.#database.prepare('SELECT max(id) AS last FROM pages').get()!['last'] as number | null) ?? 0;
  }
}
