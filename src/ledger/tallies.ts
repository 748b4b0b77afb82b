/**
 * Counts that people ask for, updated as rows are written, so that no question reads a large table: pages by server and by the
 * reason why they are refused, visited pages by how their last visit ended, stored copies. They are summed in memory, and
 * written with the batch of the rows that they count.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hasTable } from './schema.ts';

/**
 * pages:   all, by reason of refusal (empty = none) and server
 * known:   visited ones, by outcome and reason, joined by a space
 * stored:  those with a copy
 * spurned: visited ones that are refused by now
 */
export type TallyKind = 'pages' | 'known' | 'stored' | 'spurned';

interface TallyRow {
  readonly name: string;
  readonly server: number;
  readonly n: number;
}

interface TallyChange extends Omit<TallyRow, 'n'> {
  readonly kind: TallyKind;
  n: number;
}

/** What is counted of a visited page. */
interface VisitedPage {
  readonly page: number;
  readonly outcome: string;
  readonly reason: string;
  readonly segment: number | null;
}

/** The same counts from the rows themselves, for a ledger of an older version that nobody has opened for writing since. */
const counted: Readonly<Record<TallyKind, string>> = {
  pages: `SELECT coalesce(refused, '') AS name, server, count(*) AS n FROM pages GROUP BY 1, 2`,
  known: `SELECT outcome || ' ' || reason AS name, 0 AS server, count(*) AS n FROM known GROUP BY 1`,
  stored: `SELECT '' AS name, 0 AS server, count(*) AS n FROM known WHERE segment IS NOT NULL`,
  spurned: `SELECT '' AS name, 0 AS server, count(*) AS n FROM pages p JOIN known k ON k.page = p.id
    WHERE p.refused IS NOT NULL`,
};

export class Tallies {
  readonly #database: DatabaseSync;
  #add: StatementSync | undefined;
  /** By server, a few each: every link counts, and mostly for another server than the link before. */
  readonly #pending = new Map<number, TallyChange[]>();
  /** Pages that were refused while they waited or were under way, so a visit may still come. */
  readonly #spurned = new Set<number>();
  /** The entry of the last row, which is mostly that of the next row as well: this spares finding it. */
  #last: TallyChange | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  count(kind: TallyKind, name: string, server: number, by: number): void {
    const last = this.#last;
    const same = last?.server === server && last.name === name && last.kind === kind;
    const change = same ? last : this.#changeOf(kind, name, server);
    this.#last = change;
    change.n += by;
  }

  #changeOf(kind: TallyKind, name: string, server: number): TallyChange {
    let changes = this.#pending.get(server);
    if (!changes) {
      changes = [];
      this.#pending.set(server, changes);
    }
    for (const known of changes) if (known.name === name && known.kind === kind) return known;
    const change = { kind, name, server, n: 0 };
    changes.push(change);
    return change;
  }

  /** A row of `known` is added (1) or removed (-1). */
  visited({ page, outcome, reason, segment }: VisitedPage, by: 1 | -1): void {
    this.count('known', `${outcome} ${reason}`, 0, by);
    if (segment !== null) this.count('stored', '', 0, by);
    if (by > 0 && this.#spurned.delete(page)) this.count('spurned', '', 0, 1);
  }

  /** A page is now refused for another reason than before; null = it is not refused. */
  judged(before: JudgedRow, after: JudgedRow, visited: boolean): void {
    this.count('pages', before.refused ?? '', before.server, -1);
    this.count('pages', after.refused ?? '', after.server, 1);
    if (visited) this.count('spurned', '', 0, Number(after.refused !== null) - Number(before.refused !== null));
    else if (after.refused !== null) this.#spurned.add(after.id);
    else this.#spurned.delete(after.id);
  }

  /** Inside the caller's transaction. */
  save(): void {
    const sql = 'INSERT INTO tallies VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n';
    this.#add ??= this.#database.prepare(sql);
    for (const changes of this.#pending.values())
      for (const { kind, name, server, n } of changes) if (n !== 0) this.#add.run(kind, name, server, n);
    this.#pending.clear();
    this.#last = undefined;
  }

  /** As of the last commit. */
  of(kind: TallyKind): TallyRow[] {
    const kept = `SELECT name, server, n FROM tallies WHERE kind = '${kind}' AND n <> 0`;
    const sql = hasTable(this.#database, 'tallies') ? kept : counted[kind];
    return this.#database.prepare(sql).all() as unknown as TallyRow[];
  }

  /** Pages that may be visited, without sitemaps, by server. In a batch, whose rows count as well. */
  admitted(): { server: number; pages: number }[] {
    this.save();
    const sitemaps = 'SELECT server, count(*) AS n FROM pages WHERE role = 1 AND refused IS NULL GROUP BY server';
    const sql = `SELECT t.server, t.n - coalesce(s.n, 0) AS pages FROM tallies t LEFT JOIN (${sitemaps}) s USING (server)
      WHERE t.kind = 'pages' AND t.name = '' AND t.n <> 0`;
    return this.#database.prepare(sql).all() as unknown as { server: number; pages: number }[];
  }

  total(kind: TallyKind): number {
    return this.of(kind).reduce((sum, { n }) => sum + n, 0);
  }
}

interface JudgedRow {
  readonly id: number;
  readonly server: number;
  readonly refused: string | null;
}
