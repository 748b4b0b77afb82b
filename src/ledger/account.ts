/**
 * Bytes by cause, spent and avoided, per server and day; and bytes that crossed home's own line to outposts elsewhere. They are
 * summed in memory and written with the batch.
 */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';
import type { Draft } from '../base/draft.ts';
import { hasTable } from './schema.ts';

export interface Sums {
  readonly visits: number;
  /** Bytes. */
  readonly spent: number;
  readonly avoided: number;
}

interface AccountRow extends Sums {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly cause: string;
}

/** Bytes that home sent, and that came. */
export interface LineSums {
  readonly up: number;
  readonly down: number;
}

const NEVER: ReadonlySet<number> = new Set();

/** What it costs to ask for a page. */
interface PagePrice {
  readonly server: number;
  /** Bytes on the wire of its last full answer. */
  readonly wire: number;
  /** When it was first seen, milliseconds since 1970. */
  readonly found: number;
  /** Days (since 1970) on which it was looked at. */
  readonly visited: ReadonlySet<number>;
}

export class Account {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  /** By day. */
  #line = new Map<number, LineSums>();
  /** Bytes since this process began. */
  spent = 0;
  avoided = 0;
  #pending = new Map<string, Draft<AccountRow>>();
  /** The entry of the last visit, which is mostly that of the next one as well: this spares finding it. */
  #last: Draft<AccountRow> | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#add = database.prepare(
      `INSERT INTO account VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET visits = visits + excluded.visits, spent = spent + excluded.spent,
         avoided = avoided + excluded.avoided`,
    );
  }

  add(time: number, server: number, cause: string, sums: { spent: number; avoided?: number }): void {
    const day = Math.floor(time / DAY);
    const last = this.#last;
    const same = last?.day === day && last.server === server && last.cause === cause;
    const entry = same ? last : this.#entryOf(day, server, cause);
    this.#last = entry;
    entry.visits += 1;
    entry.spent += sums.spent;
    entry.avoided += sums.avoided ?? 0;
    this.spent += sums.spent;
    this.avoided += sums.avoided ?? 0;
  }

  /** So many bytes went to outposts on other machines and came from them. */
  addLine(time: number, { up, down }: LineSums): void {
    if (up + down === 0) return;
    const day = Math.floor(time / DAY);
    const before = this.#line.get(day) ?? { up: 0, down: 0 };
    this.#line.set(day, { up: before.up + up, down: before.down + down });
  }

  /** The same, from the day `first` on. */
  line(first = 0): LineSums {
    if (!hasTable(this.#database, 'line')) return { up: 0, down: 0 };
    const sums = 'SELECT coalesce(sum(up), 0) AS up, coalesce(sum(down), 0) AS down FROM line WHERE day >= ?';
    const { up, down } = this.#database.prepare(sums).get(first) as unknown as LineSums;
    return { up, down };
  }

  #saveLine(): void {
    if (this.#line.size === 0) return;
    const add = this.#database.prepare(
      'INSERT INTO line VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET up = up + excluded.up, down = down + excluded.down',
    );
    for (const [day, { up, down }] of this.#line) add.run(day, up, down);
    this.#line.clear();
  }

  #entryOf(day: number, server: number, cause: string): Draft<AccountRow> {
    const key = `${day} ${server} ${cause}`;
    const known = this.#pending.get(key);
    if (known) return known;
    const entry = { day, server, cause, visits: 0, spent: 0, avoided: 0 };
    this.#pending.set(key, entry);
    return entry;
  }

  /** Inside the caller's transaction. */
  save(): void {
    for (const { day, server, cause, visits, spent, avoided } of this.#pending.values()) {
      this.#add.run(day, server, cause, visits, spent, avoided);
    }
    this.#pending.clear();
    this.#last = undefined;
    this.#saveLine();
  }

  /** Of one server, from the day `first` on. */
  ofServer(server: number, first: number): Omit<AccountRow, 'server'>[] {
    return this.#database
      .prepare('SELECT day, cause, visits, spent, avoided FROM account WHERE server = ? AND day >= ?')
      .all(server, first) as unknown as Omit<AccountRow, 'server'>[];
  }

  /** Of one day. */
  ofDay(day: number): Pick<Sums, 'spent' | 'avoided'> {
    return this.#database
      .prepare(
        'SELECT coalesce(sum(spent), 0) AS spent, coalesce(sum(avoided), 0) AS avoided FROM account WHERE day = ?',
      )
      .get(day) as unknown as Pick<Sums, 'spent' | 'avoided'>;
  }

  /** Days with visits, from the day `first` on, oldest first. */
  days(first: number): number[] {
    const rows = this.#database.prepare('SELECT DISTINCT day FROM account WHERE day >= ? ORDER BY day').all(first);
    return rows.map(row => row['day'] as number);
  }

  /**
   * The cost of each of these pages; pages without a body so far are left out. This is one statement, because two for each page
   * took twice as long. `since`: visits count from this time on, milliseconds since 1970.
   */
  *pricesOf(pages: readonly number[], since: number): Iterable<PagePrice> {
    const visited = `SELECT group_concat(cast(v.time / ${DAY} AS INTEGER)) FROM visits v WHERE v.page = k.page AND v.time >= ?2`;
    const prices = this.#database.prepare(
      `SELECT p.server, k.wire, k.first_time, (${visited}) FROM json_each(?1) wanted CROSS JOIN known k ON k.page = wanted.value
       JOIN pages p ON p.id = k.page WHERE k.wire IS NOT NULL`,
    );
    prices.setReturnArrays(true);
    type Row = [server: number, wire: number, found: number, days: string | null];
    for (const row of prices.iterate(JSON.stringify(pages), since) as Iterable<unknown> as Iterable<Row>) {
      const [server, wire, found, days] = row;
      yield { server, wire, found, visited: days === null ? NEVER : new Set(days.split(',').map(Number)) };
    }
  }

  /** Bytes ever spent. */
  total(): number {
    return this.#database.prepare('SELECT coalesce(sum(spent), 0) AS n FROM account').get()!['n'] as number;
  }

  /** From the day `first` on. */
  rows(first = 0): AccountRow[] {
    return this.#database
      .prepare('SELECT * FROM account WHERE day >= ? ORDER BY day, server, cause')
      .all(first) as unknown as AccountRow[];
  }
}

/** One line for each day, server or cause, in the order in which they first appear. */
export function summed<K extends 'day' | 'server' | 'cause'>(
  rows: readonly AccountRow[],
  by: K,
): (Pick<AccountRow, K> & Sums)[] {
  const lines = new Map<AccountRow[K], Pick<AccountRow, K> & { visits: number; spent: number; avoided: number }>();
  for (const row of rows) {
    const key = { [by]: row[by] } as Pick<AccountRow, K>;
    const line = lines.get(row[by]) ?? { ...key, visits: 0, spent: 0, avoided: 0 };
    line.visits += row.visits;
    line.spent += row.spent;
    line.avoided += row.avoided;
    lines.set(row[by], line);
  }
  return [...lines.values()];
}
