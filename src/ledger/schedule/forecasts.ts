/** Changes that visits found, beside those that were foretold: one cell for each server, kind of page and day. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { DAY } from '../../base/clock.ts';
import { hasTable } from '../schema.ts';

interface ForecastCell {
  readonly server: number;
  /** 0: pages that were never seen to change before the visit, 1: pages that were; calibration.ts has more. */
  readonly kind: number;
  /** Days since 1970. */
  readonly day: number;
  readonly looks: number;
  /** Sum of the probabilities of a change. */
  readonly foretold: number;
  readonly found: number;
}

export class Forecasts {
  readonly #database: DatabaseSync;
  #add: StatementSync | undefined;
  #ofServer: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Counts one visit. */
  add(time: number, cell: Pick<ForecastCell, 'server' | 'kind' | 'foretold'>, changed: boolean): void {
    this.#add ??= this.#database.prepare(
      `INSERT INTO forecasts VALUES (?, ?, ?, 1, ?, ?) ON CONFLICT DO UPDATE SET looks = looks + 1,
         foretold = foretold + excluded.foretold, found = found + excluded.found`,
    );
    this.#add.run(cell.server, cell.kind, Math.floor(time / DAY), cell.foretold, changed ? 1 : 0);
  }

  /** One change that was counted was none; false = there is no such cell. */
  takeBack(time: number, server: number, kind: number): boolean {
    const sql = 'UPDATE forecasts SET found = max(0, found - 1) WHERE server = ? AND kind = ? AND day = ?';
    return this.#database.prepare(sql).run(server, kind, Math.floor(time / DAY)).changes > 0;
  }

  /** The cells of a server and day whose kind is below a bound become other kinds, higher by a number. */
  setApart(server: number, day: number, { below, by }: { readonly below: number; readonly by: number }): void {
    this.#database
      .prepare(
        `INSERT INTO forecasts SELECT server, kind + ?, day, looks, foretold, found FROM forecasts
           WHERE server = ? AND day = ? AND kind < ?
         ON CONFLICT DO UPDATE SET looks = looks + excluded.looks, foretold = foretold + excluded.foretold,
           found = found + excluded.found`,
      )
      .run(by, server, day, below);
    this.#database.prepare('DELETE FROM forecasts WHERE server = ? AND day = ? AND kind < ?').run(server, day, below);
  }

  /** What visits to one server have shown from the day `first` on. */
  ofServer(server: number, first: number): Pick<ForecastCell, 'looks' | 'foretold' | 'found'> {
    this.#ofServer ??= this.#database.prepare(
      `SELECT coalesce(sum(looks), 0) AS looks, coalesce(sum(foretold), 0) AS foretold,
         coalesce(sum(found), 0) AS found FROM forecasts WHERE server = ? AND day >= ?`,
    );
    return this.#ofServer.get(server, first) as unknown as Pick<ForecastCell, 'looks' | 'foretold' | 'found'>;
  }

  /** From the day `first` on. An older version wrote none. */
  since(first: number): ForecastCell[] {
    if (!hasTable(this.#database, 'forecasts')) return [];
    const sql = 'SELECT * FROM forecasts WHERE day >= ? ORDER BY server, kind, day';
    return this.#database.prepare(sql).all(first) as unknown as ForecastCell[];
  }
}
