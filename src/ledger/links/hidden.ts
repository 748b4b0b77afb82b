/** Documents to which no link leads: they came through a site's own face, from its databases or media folders. */
import type { DatabaseSync } from 'node:sqlite';

type HiddenKind = 'record' | 'media';

export class HiddenPages {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  add(page: number, kind: HiddenKind): void {
    this.#database.prepare('INSERT OR REPLACE INTO hidden VALUES (?, ?)').run(page, kind);
  }

  /** Undefined: links lead to it, as to any page. */
  of(page: number): HiddenKind | undefined {
    const row = this.#database.prepare('SELECT kind FROM hidden WHERE page = ?').get(page);
    return row?.['kind'] as HiddenKind | undefined;
  }

  get size(): number {
    return this.#database.prepare('SELECT count(*) AS n FROM hidden').get()!['n'] as number;
  }
}
