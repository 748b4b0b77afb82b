/** SQLite: a process that reads the file, started anew when a query took too long or the process died. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { SkeinError } from '../../base/errors.ts';
import type { RecordRow, SqliteRecords } from './describe.ts';
import { type RecordRows, rowsOf } from './rows.ts';
import type { ThreadTold } from './sqlite-thread.ts';

const MODULE = new URL(
  import.meta.url.endsWith('.ts') ? './sqlite-process.ts' : './sqlite-process.js',
  import.meta.url,
);

export function openSqlite(described: SqliteRecords): RecordRows {
  const reader = new SqliteReader(described);
  return {
    ...rowsOf(
      described,
      n => `?${n}`,
      (sql, values) => reader.ask(sql, values),
    ),
    close: async () => reader.end('it is closed'),
  };
}

interface WaitingQuery {
  readonly resolve: (rows: readonly RecordRow[]) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

class SqliteReader {
  readonly #described: SqliteRecords;
  readonly #waiting = new Map<number, WaitingQuery>();
  #process: ChildProcess | undefined;
  #last = 0;

  constructor(described: SqliteRecords) {
    this.#described = described;
  }

  ask(sql: string, values: readonly unknown[]): Promise<readonly RecordRow[]> {
    const { sqlite, timeout } = this.#described;
    if (!existsSync(sqlite)) return Promise.reject(this.#failed('the file is not there'));
    const process = this.#open();
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.end(`a query takes longer than ${timeout} s`), timeout * 1000);
      this.#waiting.set(id, { resolve, reject, timer });
      process.send({ id, sql, values });
    });
  }

  /** Whatever is under way fails with `why`; the next question starts a new process. */
  end(why: string): void {
    this.#process?.kill('SIGKILL');
    this.#process = undefined;
    for (const id of this.#waiting.keys()) this.#settle({ id, problem: why });
  }

  #open(): ChildProcess {
    if (this.#process) return this.#process;
    const options = { execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] } as const;
    const started = fork(MODULE, [this.#described.sqlite], { ...options, execArgv: [], stdio: [...options.stdio] });
    started.on('message', told => this.#settle(told as ThreadTold));
    started.on('error', error => this.end(error.message));
    started.on('exit', () => {
      if (this.#process === started) this.end('the process that reads it has ended');
    });
    // Neither it nor its channel keeps us alive: questions that are under way do, by their timers.
    started.unref();
    started.channel?.unref();
    this.#process = started;
    return started;
  }

  #settle(told: ThreadTold): void {
    if (told.id === 0 && 'problem' in told) this.end(told.problem);
    const waiting = this.#waiting.get(told.id);
    if (waiting === undefined) return;
    this.#waiting.delete(told.id);
    clearTimeout(waiting.timer);
    if ('rows' in told) waiting.resolve(told.rows);
    else waiting.reject(this.#failed(told.problem));
  }

  #failed(why: string): SkeinError {
    return new SkeinError('refused', `The database ${this.#described.sqlite} cannot be read: ${why}.`);
  }
}
