/** Bytes by cause: spent and avoided, per server and day. Summed in memory, written with the batch. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';

export interface Sums {
  readonly visits: number;
  /** Bytes. */
  readonly spent: number;
  readonly avoided: number;
}

export interface AccountRow extends Sums {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly cause: string;
}

export class Account {
  readonly #database: DatabaseSync;
  readonly #add: StatementSync;
  /** Bytes since this process began. */
  spent = 0;
  avoided = 0;
  #pending = new Map<string, { visits: number; spent: number; avoided: number }>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#add = database.prepare(
      `INSERT INTO account VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET visits = visits + excluded.visits, spent = spent + excluded.spent,
         avoided = avoided + excluded.avoided`,
    );
  }

  add(time: number, server: number, cause: string, sums: { spent: number; avoided?: number }): void {
    const key = `${Math.floor(time / DAY)} ${server} ${cause}`;
    const entry = this.#pending.get(key) ?? { visits: 0, spent: 0, avoided: 0 };
    entry.visits += 1;
    entry.spent += sums.spent;
    entry.avoided += sums.avoided ?? 0;
    this.#pending.set(key, entry);
    this.spent += sums.spent;
    this.avoided += sums.avoided ?? 0;
  }

  /** Inside the caller's transaction. */
  save(): void {
    for (const [key, sums] of this.#pending) {
      const [day, server, cause] = key.split(' ');
      this.#add.run(Number(day), Number(server), cause!, sums.visits, sums.spent, sums.avoided);
    }
    this.#pending.clear();
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
