/**
 * What a ledger's commits changed, as SQLite's own session tells it: rows by primary key with their new values, applied
 * in order to a copy (replica.ts). One session lives over several commits, so that a row which each of them rewrites
 * (counts, servers) is told once.
 *
 * Changes are numbered. The number of the newest one stands in the ledger itself, written by the first commit that belongs
 * to it: a ledger says by itself how far it is, and a copy refuses what does not follow.
 *
 * Left out is what can be made again and rewrites large values: the backward counters, which are written when a ledger is
 * closed, after the last changes were taken.
 */
import type { DatabaseSync, Session, StatementSync } from 'node:sqlite';

/** Setting of the ledger that holds the number of its newest changes. */
const NUMBER = 'changes';

export interface Changeset {
  /** From 1 on, without gaps. */
  readonly number: number;
  readonly bytes: Uint8Array;
}

export class Changes {
  readonly #database: DatabaseSync;
  #session: Session | undefined;
  #count: StatementSync | undefined;
  #number = 0;
  /** Rows that were ever written through this connection, as they were when the last changes were taken. */
  #written = 0;
  /** A commit since then has written the next number. */
  #marked = false;
  /** Called after each commit, when nothing is open. */
  committed: () => void = () => {};

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Of the newest changes in the ledger, 0 = none were ever recorded. */
  get number(): number {
    return this.#session ? this.#number : numberIn(this.#database);
  }

  /** Of the changes to which the commit of the open batch will belong, which writes something. */
  get next(): number {
    return this.#marked ? this.#number : this.#number + 1;
  }

  /** Something was committed, or is about to be, since changes were last taken. */
  get waiting(): boolean {
    return this.#session !== undefined && (this.#marked || this.#total() !== this.#written);
  }

  /** From here on everything that is committed is recorded. Not within a batch. */
  start(): void {
    if (this.#session) return;
    this.#number = numberIn(this.#database);
    this.#begin();
  }

  /** Within a batch, before it is committed. */
  mark(): void {
    if (!this.#session || this.#marked || this.#total() === this.#written) return;
    this.#number++;
    this.#database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(NUMBER, String(this.#number));
    this.#marked = true;
  }

  /** What was committed since the last call; undefined = nothing. Not within a batch. */
  take(): Changeset | undefined {
    if (!this.#session) return undefined;
    this.mark();
    if (!this.#marked) return undefined;
    const bytes = this.#session.patchset();
    this.#session.close();
    this.#begin();
    return { number: this.#number, bytes };
  }

  /** Nothing more is recorded. */
  stop(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #begin(): void {
    this.#session = this.#database.createSession();
    this.#written = this.#total();
    this.#marked = false;
  }

  #total(): number {
    this.#count ??= this.#database.prepare('SELECT total_changes() AS n');
    return this.#count.get()!['n'] as number;
  }
}

export function numberIn(database: DatabaseSync): number {
  const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(NUMBER);
  return row ? Number(row['value']) : 0;
}
