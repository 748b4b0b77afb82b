/** What is known of the noise of servers, and of the places of pages that differed: JSON, which src/judge/ reads and writes. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';

export class Masks {
  readonly #database: DatabaseSync;
  readonly #ofServer: StatementSync;
  readonly #ofPage: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#ofServer = database.prepare('SELECT value FROM server_noise WHERE server = ?');
    this.#ofPage = database.prepare('SELECT value FROM page_noise WHERE page = ?');
  }

  /** Undefined where nothing is known. */
  ofServer<T>(server: number): T | undefined {
    return read(this.#ofServer, server) as T | undefined;
  }

  ofPage<T>(page: number): T | undefined {
    return read(this.#ofPage, page) as T | undefined;
  }

  putServer(server: number, value: unknown): void {
    this.#database.prepare('INSERT OR REPLACE INTO server_noise VALUES (?, ?)').run(server, JSON.stringify(value));
  }

  putPage(page: number, value: unknown): void {
    this.#database.prepare('INSERT OR REPLACE INTO page_noise VALUES (?, ?)').run(page, JSON.stringify(value));
  }
}

function read(statement: StatementSync, id: number): unknown {
  const row = statement.get(id);
  return row && JSON.parse(row['value'] as string);
}
