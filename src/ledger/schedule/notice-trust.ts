/** How true the notices of each server have been, by kind. Few rows, in memory once they were asked for. */
import type { DatabaseSync } from 'node:sqlite';

interface TrustRow {
  /** Notices whose pages were visited since, and those of them that were true. */
  readonly pings: number;
  readonly confirmed: number;
  /** Changes that visits without a notice were to find, and found. */
  readonly expected: number;
  readonly missed: number;
}

const NOTHING: TrustRow = { pings: 0, confirmed: 0, expected: 0, missed: 0 };

export class NoticeTrust {
  readonly #database: DatabaseSync;
  readonly #servers = new Map<number, Map<string, TrustRow>>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  of(server: number, kind: string): TrustRow {
    return this.#kinds(server).get(kind) ?? NOTHING;
  }

  /** The kinds of which a server has ever sent some. */
  kinds(server: number): ReadonlyMap<string, TrustRow> {
    return this.#kinds(server);
  }

  /** In the caller's batch. */
  put(server: number, kind: string, row: TrustRow): void {
    this.#kinds(server).set(kind, row);
    const { pings, confirmed, expected, missed } = row;
    this.#database
      .prepare('INSERT OR REPLACE INTO notice_trust VALUES (?, ?, ?, ?, ?, ?)')
      .run(server, kind, pings, confirmed, expected, missed);
  }

  #kinds(server: number): Map<string, TrustRow> {
    const known = this.#servers.get(server);
    if (known) return known;
    const rows = this.#database.prepare('SELECT * FROM notice_trust WHERE server = ?').all(server);
    const kinds = new Map(rows.map(row => [row['kind'] as string, row as unknown as TrustRow]));
    this.#servers.set(server, kinds);
    return kinds;
  }
}
