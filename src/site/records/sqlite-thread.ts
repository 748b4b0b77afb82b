/** Asks a SQLite file, read-only, beside the thread that listens for its end (sqlite-process.ts). */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';

interface SqlRequest {
  readonly id: number;
  readonly sql: string;
  readonly values: readonly (string | number | bigint | null)[];
}

export type ThreadTold =
  | { readonly id: number; readonly rows: readonly Record<string, unknown>[] }
  | { readonly id: number; readonly problem: string };

const database = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000, allowExtension: false });

parentPort!.on('message', ({ id, sql, values }: SqlRequest) => {
  let told: ThreadTold;
  try {
    const statement = database.prepare(sql);
    // Times in nanoseconds and the keys of many databases are larger than a number can be.
    statement.setReadBigInts(true);
    told = { id, rows: statement.all(...values) };
  } catch (error) {
    told = { id, problem: (error as Error).message };
  }
  parentPort!.postMessage(told);
});
