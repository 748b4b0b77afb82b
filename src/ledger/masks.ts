/** What is known of the noise of servers, and of the places of pages that differed: JSON, which src/judge/ reads and writes. */
import type { DatabaseSync } from 'node:sqlite';

export class Masks {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Undefined where nothing is known. */
  ofServer<T>(server: number): T | undefined {
    return this.#get('server_noise', 'server', server) as T | undefined;
  }

  ofPage<T>(page: number): T | undefined {
    return this.#get('page_noise', 'page', page) as T | undefined;
  }

  putServer(server: number, value: unknown): void {
    this.#database.prepare('INSERT OR REPLACE INTO server_noise VALUES (?, ?)').run(server, JSON.stringify(value));
  }

  putPage(page: number, value: unknown): void {
    this.#database.prepare('INSERT OR REPLACE INTO page_noise VALUES (?, ?)').run(page, JSON.stringify(value));
  }

  #get(table: string, key: string, id: number): unknown {
    const row = this.#database.prepare(`SELECT value FROM ${table} WHERE ${key} = ?`).get(id);
    return row && JSON.parse(row['value'] as string);
  }
}
