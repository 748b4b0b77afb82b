/** Every look at every page, in order. Append-only: history and changes are read from here. */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Outcome } from '../errand/visit.ts';

/** Names and order are those of the table `visits`. */
export interface VisitRow {
  readonly id: number;
  readonly page: number;
  readonly time: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly status: number;
  readonly stage: string | null;
  /** Share of the content blocks that differ, 0–1. */
  readonly amount: number | null;
  readonly up: number;
  readonly down: number;
  readonly cause: string;
  readonly ms: number;
  readonly outpost: string;
  readonly segment: number | null;
  readonly place: number | null;
  readonly length: number | null;
  readonly request_length: number | null;
}

export class Visits {
  readonly #add: StatementSync;
  readonly #ofPage: StatementSync;
  #last: number;

  constructor(database: DatabaseSync) {
    this.#add = database.prepare('INSERT INTO visits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#ofPage = database.prepare('SELECT * FROM visits WHERE page = ? ORDER BY id');
    this.#last = (database.prepare('SELECT max(id) AS last FROM visits').get()!['last'] as number | null) ?? 0;
  }

  get last(): number {
    return this.#last;
  }

  add(visit: Omit<VisitRow, 'id'>): number {
    const v = visit;
    const id = ++this.#last;
    this.#add.run(
      id,
      v.page,
      v.time,
      v.outcome,
      v.reason,
      v.status,
      v.stage,
      v.amount,
      v.up,
      v.down,
      v.cause,
      v.ms,
      v.outpost,
      v.segment,
      v.place,
      v.length,
      v.request_length,
    );
    return id;
  }

  of(page: number): VisitRow[] {
    return this.#ofPage.all(page) as unknown as VisitRow[];
  }
}
