/**
 * The border of a partition: what goes to other partitions, and how much of what came from them was taken. What goes out
 * is written in the transaction of the visit that found it, a batch for each partition and commit, numbered without gaps.
 * Whoever takes a batch in writes its number in the same transaction, so that each counts once, however often it comes.
 *
 * Invariant: a batch stays here until its receiver has it durably (`drop`). Numbers are never used twice.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { hasTable } from '../schema.ts';
import { type Crossing, encodeCrossings } from './crossing.ts';

/** Why a page is not visited here: another partition has it, and this row stands for it. */
export const ELSEWHERE = 'elsewhere';

/** What one partition sends another, at once. */
export interface BorderBatch {
  /** Partitions. */
  readonly from: number;
  readonly to: number;
  /** The first that ever goes from one to the other is 1. */
  readonly number: number;
  /** As crossing.ts encodes them. */
  readonly crossings: Uint8Array;
}

interface BorderWay {
  /** Last batch that was sent there, and last that is not here any more. */
  sent: number;
  dropped: number;
  /** Last batch that was taken from there; `durable`: and is committed. */
  taken: number;
  durable: number;
}

/** Bytes of a batch: an engine takes messages of a megabyte. */
const MOST_BYTES = 500_000;
/** Batches that are read at once. */
const SOME = 16;

export class Border {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #ways = new Map<number, BorderWay>();
  readonly #changed = new Set<number>();
  #pending = new Map<number, Crossing[]>();

  constructor(database: DatabaseSync) {
    this.#database = database;
    if (!hasTable(database, 'border')) return; // a ledger of an earlier version, which is only read
    const first = `(SELECT min(number) FROM outbox WHERE target = partition)`;
    const rows = database.prepare(`SELECT partition, sent, taken, ${first} AS first FROM border`).all();
    for (const { partition, sent, taken, first } of rows as unknown as BorderRow[]) {
      this.#ways.set(partition, { sent, dropped: first === null ? sent : first - 1, taken, durable: taken });
    }
  }

  send(to: number, crossing: Crossing): void {
    const crossings = this.#pending.get(to);
    if (crossings) crossings.push(crossing);
    else this.#pending.set(to, [crossing]);
  }

  /** Something was found that is not written yet. */
  get pending(): boolean {
    return this.#pending.size > 0;
  }

  /** The open batch has found or taken something that its commit will write. */
  get unsaved(): boolean {
    return this.#pending.size > 0 || this.#changed.size > 0;
  }

  /** Partitions for which batches are here. */
  get waiting(): number[] {
    return [...this.#ways].filter(([, { sent, dropped }]) => sent > dropped).map(([to]) => to);
  }

  /** Number of the last batch for each partition, as of the last commit where no batch is open. */
  get sent(): Map<number, number> {
    return new Map([...this.#ways].map(([to, { sent }]) => [to, sent]));
  }

  /** Number of the last batch for a partition that is not here any more. */
  dropped(to: number): number {
    return this.#way(to).dropped;
  }

  /** The next batches for a partition after this number, some at a time; only what is committed. */
  batches(from: number, to: number, after: number): BorderBatch[] {
    const rows = this.#prepared(
      'SELECT number, crossings FROM outbox WHERE target = ? AND number > ? ORDER BY number LIMIT ?',
    ).all(to, after, SOME);
    return (rows as unknown as Pick<BorderBatch, 'number' | 'crossings'>[]).map(row => ({ from, to, ...row }));
  }

  /** The receiver has them durably, up to this number. In a transaction. */
  drop(to: number, upTo: number): void {
    const way = this.#way(to);
    if (upTo <= way.dropped) return;
    this.#prepared('DELETE FROM outbox WHERE target = ? AND number <= ?').run(to, upTo);
    way.dropped = Math.min(upTo, way.sent);
  }

  /** Number of the last batch taken from a partition; `durable`: of those that are committed. */
  taken(from: number): { readonly last: number; readonly durable: number } {
    const { taken, durable } = this.#way(from);
    return { last: taken, durable };
  }

  /** In the transaction that takes it in. */
  took(from: number, number: number): void {
    this.#way(from).taken = number;
    this.#changed.add(from);
  }

  /** Inside the caller's transaction, as the last of it. */
  save(): void {
    if (!this.unsaved) return;
    const insert = this.#prepared('INSERT INTO outbox VALUES (?, ?, ?)');
    for (const [to, crossings] of this.#pending) {
      const way = this.#way(to);
      for (const bytes of encoded(crossings)) insert.run(to, ++way.sent, bytes);
      this.#changed.add(to);
    }
    this.#pending = new Map();
    const put = this.#prepared('INSERT OR REPLACE INTO border VALUES (?, ?, ?)');
    for (const partition of this.#changed) {
      const { sent, taken } = this.#way(partition);
      put.run(partition, sent, taken);
    }
  }

  /** The transaction is committed. */
  saved(): void {
    for (const partition of this.#changed) this.#way(partition).durable = this.#way(partition).taken;
    this.#changed.clear();
  }

  /** Each is asked many times a second. */
  #prepared(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) this.#statements.set(sql, (statement = this.#database.prepare(sql)));
    return statement;
  }

  #way(partition: number): BorderWay {
    let way = this.#ways.get(partition);
    if (!way) {
      way = { sent: 0, dropped: 0, taken: 0, durable: 0 };
      this.#ways.set(partition, way);
    }
    return way;
  }
}

/** In batches that fit into a message. */
function encoded(crossings: readonly Crossing[]): Uint8Array[] {
  const bytes = encodeCrossings(crossings);
  if (bytes.length <= MOST_BYTES || crossings.length === 1) return [bytes];
  const half = crossings.length >>> 1;
  return [...encoded(crossings.slice(0, half)), ...encoded(crossings.slice(half))];
}

interface BorderRow {
  readonly partition: number;
  readonly sent: number;
  readonly taken: number;
  readonly first: number | null;
}
