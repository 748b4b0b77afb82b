/** The seeds: pages that no page led to. */
import type { DatabaseSync } from 'node:sqlite';

export interface SeedRow {
  readonly id: number;
  readonly url: string;
  readonly server: number;
  /** When it was given, milliseconds since 1970. */
  readonly found: number;
  /** Of its last visit; null = it was never visited. */
  readonly time: number | null;
  readonly outcome: string | null;
  readonly reason: string | null;
  readonly status: number | null;
}

export class Seeds {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** In the order in which they were given. */
  all(): SeedRow[] {
    return this.#database
      .prepare(
        `SELECT p.id, p.url, p.server, p.found, k.time, k.outcome, k.reason, k.status
         FROM pages p JOIN servers s ON s.id = p.server AND s.seeded = 1 LEFT JOIN known k ON k.page = p.id
         WHERE p.parent = 0 AND p.role = 0 AND p.hops = 0 AND p.refused IS NULL ORDER BY p.id`,
      )
      .all() as unknown as SeedRow[];
  }

  /** A page that a link had led to before is a seed now. */
  add(id: number): void {
    this.#database.prepare('UPDATE pages SET parent = 0, hops = 0 WHERE id = ? AND parent <> 0').run(id);
  }

  /** Nothing asks for the page any more: no schedule and no retry. */
  settle(id: number): void {
    this.#database.prepare('UPDATE known SET due = NULL, retry_at = NULL WHERE page = ?').run(id);
  }
}
