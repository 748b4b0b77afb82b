/**
 * What people look for: a page shown for a search earns a little, one that is opened earns more, and all of it fades.
 * The schedule reads it as importance, so that the crawler keeps fresh what is used.
 *
 * Kept in memory for up to two seconds and then written with a connection that does not wait: while the feeder
 * writes, a search must not stand still for the sake of a statistic. Killing the process loses those two seconds.
 */

import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { DAY } from '../../base/clock.ts';
import { addSearched, termOf } from './searched.ts';

const OPENED = 1;
/** For the first result; the second earns half, the third a third. */
const SHOWN = 0.1;
const HALF_LIFE = 14 * DAY;
const DELAY = 2000;
/** Less than this is forgotten. */
const LEAST = 0.01;
/** Pages that may wait to be written; when the disk refuses for so long, the oldest are forgotten. */
const MOST_WAITING = 10_000;

const faded = (score: number, age: number) => score * 2 ** (-Math.max(0, age) / HALF_LIFE);
const BUSY = 5;

export class Interest {
  readonly #file: string | undefined;
  readonly #now: () => number;
  readonly #waiting = new Map<number, number>();
  /** Terms, each behind the page that stood first. */
  readonly #searched = new Map<string, number>();
  #database: DatabaseSync | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Without a file nothing is kept: whoever asks may only read. */
  constructor(file: string | undefined, now: () => number) {
    this.#file = file;
    this.#now = now;
  }

  /** `query`: of which these are the first results; empty = they were not asked for by one. */
  shown(pages: readonly number[], query: string): void {
    const term = pages.length > 0 && this.#file !== undefined ? termOf(query) : '';
    const key = `${pages[0]} ${term}`;
    if (term !== '' && this.#searched.size < MOST_WAITING) this.#searched.set(key, (this.#searched.get(key) ?? 0) + 1);
    pages.slice(0, 3).forEach((page, place) => {
      this.#add(page, SHOWN / (place + 1));
    });
  }

  opened(page: number): void {
    this.#add(page, OPENED);
  }

  /** 0 = nobody asked lately, towards 1 = many do; one open an hour ago gives 0.5. */
  of(page: number): number {
    if (this.#file === undefined) return 0;
    const row = this.#open().prepare('SELECT score, time FROM interest WHERE page = ?').get(page);
    const stored = row === undefined ? 0 : faded(Number(row['score']), this.#now() - Number(row['time']));
    return 1 - 2 ** -(stored + (this.#waiting.get(page) ?? 0));
  }

  /** Writes what waits; false when the database was busy and it still waits. */
  flush(): boolean {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return true;
    const database = this.#open();
    const now = this.#now();
    try {
      database.exec('BEGIN IMMEDIATE');
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== BUSY) throw error;
      this.#later();
      return false;
    }
    const get = database.prepare('SELECT score, time FROM interest WHERE page = ?');
    const set = database.prepare('INSERT OR REPLACE INTO interest (page, score, time) VALUES (?, ?, ?)');
    for (const [page, score] of this.#waiting) {
      const row = get.get(page);
      set.run(page, score + (row === undefined ? 0 : faded(Number(row['score']), now - Number(row['time']))), now);
    }
    addSearched(database, this.#searched);
    database.exec('COMMIT');
    this.#waiting.clear();
    this.#searched.clear();
    return true;
  }

  close(): void {
    // Nothing is asked any more, so that waiting for a writer costs nobody.
    if (this.#waiting.size > 0) this.#open().exec('PRAGMA busy_timeout = 2000');
    this.flush();
    clearTimeout(this.#timer);
    this.#database?.close();
    this.#database = undefined;
  }

  #add(page: number, score: number): void {
    if (this.#file === undefined) return;
    if (this.#waiting.size >= MOST_WAITING) this.#waiting.delete(this.#waiting.keys().next().value!);
    this.#waiting.set(page, (this.#waiting.get(page) ?? 0) + score);
    this.#later();
  }

  #later(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.flush();
    }, DELAY).unref();
  }

  #open(): DatabaseSync {
    this.#database ??= new DatabaseSync(this.#file ?? ':memory:', { timeout: 5 });
    return this.#database;
  }
}

/**
 * How often each page was wanted lately: opens, and a little for being shown, faded. Read beside whoever writes, without
 * an index of one's own; nothing where there is none, or none that can be read now.
 */
export function readInterest(file: string, now: number): ReadonlyMap<number, number> {
  const wanted = new Map<number, number>();
  if (!existsSync(file)) return wanted;
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: 100 });
    for (const row of database.prepare('SELECT page, score, time FROM interest').iterate()) {
      const score = faded(Number(row['score']), now - Number(row['time']));
      if (score >= LEAST) wanted.set(Number(row['page']), score);
    }
  } catch {
    // A schedule without it is only less well informed; the index itself says what is wrong with it when asked.
  } finally {
    database?.close();
  }
  return wanted;
}
