/** Bytes by cause: spent and avoided, per server and day. Summed in memory, written with the batch. */

import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../base/clock.ts';

export interface AccountRow {
  /** Days since 1970. */
  readonly day: number;
  readonly server: number;
  readonly cause: string;
  readonly visits: number;
  readonly spent: number;
  readonly avoided: number;
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

  rows(): AccountRow[] {
    return this.#database.prepare('SELECT * FROM account ORDER BY day, server, cause').all() as unknown as AccountRow[];
  }
}
