/**
 * Visits and their bytes, by day and by how they ended, updated as visits are written: the account of a million visits reads
 * some hundreds of rows. They are summed in memory, and written with the batch of the visits that they count.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';
import type { Outcome } from '../errand/visit.ts';
import { hasTable } from './schema.ts';

/** Visits that one stage of the detector decided. */
export interface Decided {
  readonly stage: string;
  readonly pages: number;
  /** Among them, those that had changed. */
  readonly changed: number;
  /** Bytes that came from servers. */
  readonly down: number;
}

/** What is counted of a visit. */
interface CountedLook {
  readonly time: number;
  readonly outpost: string;
  readonly outcome: Outcome;
  readonly stage: string | null;
  readonly cause: string;
  readonly up: number;
  readonly down: number;
}

interface LookSum {
  readonly key: readonly [day: number, here: number, outcome: string, stage: string, cause: string];
  visits: number;
  up: number;
  down: number;
}

/** Names of this process's own outposts: its threads, the thread for trials, and threads that read a site's bulk face. */
const HERE = /^(?:thread-\d.*|trial|site .*)$/s;

export class Looks {
  readonly #database: DatabaseSync;
  readonly #pending = new Map<string, LookSum>();
  #add: StatementSync | undefined;
  /** The entry of the last visit, which is mostly that of the next one as well: this spares finding it. */
  #last: { readonly look: CountedLook; readonly day: number; readonly sum: LookSum } | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** A visit is added (1) or removed (-1). */
  count(look: CountedLook, by: 1 | -1): void {
    const sum = this.#sumOf(look);
    sum.visits += by;
    sum.up += by * look.up;
    sum.down += by * look.down;
  }

  #sumOf(look: CountedLook): LookSum {
    const day = Math.floor(look.time / DAY);
    const last = this.#last;
    if (
      last?.day === day &&
      last.look.outpost === look.outpost &&
      last.look.outcome === look.outcome &&
      last.look.stage === look.stage &&
      last.look.cause === look.cause
    )
      return last.sum;
    const key: LookSum['key'] = [day, Number(HERE.test(look.outpost)), look.outcome, look.stage ?? '', look.cause];
    const name = key.join(' ');
    const sum = this.#pending.get(name) ?? { key, visits: 0, up: 0, down: 0 };
    this.#pending.set(name, sum);
    this.#last = { look, day, sum };
    return sum;
  }

  /** Inside the caller's transaction. */
  save(): void {
    this.#add ??= this.#database.prepare(
      `INSERT INTO looks VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET
         visits = visits + excluded.visits, up = up + excluded.up, down = down + excluded.down`,
    );
    for (const { key, visits, up, down } of this.#pending.values()) this.#add.run(...key, visits, up, down);
    this.#pending.clear();
    this.#last = undefined;
  }

  /** Pages and images that were found changed, by day (since 1970), from the day `first` on. */
  changedByDay(first: number): Map<number, number> {
    const rows = this.#database
      .prepare(
        `SELECT day, sum(visits) AS n FROM looks
         WHERE day >= ? AND outcome = 'fetched' AND stage NOT IN ('', 'first') AND cause <> 'sitemap' GROUP BY day`,
      )
      .all(first);
    return new Map(rows.map(row => [row['day'] as number, row['n'] as number]));
  }

  /** Visits to pages seen before, by stage, the most often first; first visits have nothing to be compared with. */
  decidedBy(first: number): Decided[] {
    return this.#database
      .prepare(
        `SELECT stage, sum(visits) AS pages, sum(visits * (outcome = 'fetched')) AS changed, sum(down) AS down FROM looks
         WHERE day >= ? AND outcome IN ('fetched', 'same') AND stage NOT IN ('', 'first') AND cause <> 'sitemap'
         GROUP BY stage HAVING pages > 0 ORDER BY pages DESC`,
      )
      .all(first) as unknown as Decided[];
  }

  /** All visits ever, by how they ended, with their bytes; only ever grows. */
  totals(): { outcome: string; visits: number; up: number; down: number }[] {
    if (!hasTable(this.#database, 'looks')) return [];
    const sql = 'SELECT outcome, sum(visits) AS visits, sum(up) AS up, sum(down) AS down FROM looks GROUP BY outcome';
    return this.#database.prepare(sql).all() as unknown as ReturnType<Looks['totals']>;
  }

  /** Bytes to servers and from them, of visits from this process or of all others. */
  spentAt(from: 'here' | 'elsewhere', first: number): { up: number; down: number } {
    const row = this.#database
      .prepare(
        'SELECT coalesce(sum(up), 0) AS up, coalesce(sum(down), 0) AS down FROM looks WHERE day >= ? AND here = ?',
      )
      .get(first, Number(from === 'here'))!;
    return { up: row['up'] as number, down: row['down'] as number };
  }
}
