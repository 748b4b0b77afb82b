/** Settings: what a collection remembers by name, as JSON. */
import type { DatabaseSync } from 'node:sqlite';
import type { Servers } from '../servers.ts';

export interface Settings {
  get<T>(name: string): T | undefined;
  /** Undefined deletes the setting. Inside a transaction. */
  set(name: string, value: unknown): void;
  /** A setting that is a list which grows; no part of it is lost where a crash came between two ledgers. */
  list(name: string): string[];
  /** Origins of the servers that a seed is on. */
  seeded(): string[];
}

/** Those of one ledger. */
export class LedgerSettings implements Settings {
  readonly #database: DatabaseSync;
  readonly #servers: Servers;

  constructor(database: DatabaseSync, servers: Servers) {
    this.#database = database;
    this.#servers = servers;
  }

  get<T>(name: string): T | undefined {
    const row = this.#database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
    return row ? (JSON.parse(row['value'] as string) as T) : undefined;
  }

  set(name: string, value: unknown): void {
    if (value === undefined) this.#database.prepare('DELETE FROM meta WHERE name = ?').run(name);
    else this.#database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, JSON.stringify(value));
  }

  list(name: string): string[] {
    return this.get<string[]>(name) ?? [];
  }

  seeded(): string[] {
    return [...this.#servers.all()].filter(server => server.seeded).map(server => server.origin);
  }
}
