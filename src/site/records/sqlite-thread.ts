/** Asks a SQLite file, read-only, beside the thread that listens for its end (answering.ts). */
import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { ProcessAnswer } from './asked-process.ts';

interface SqlQuestion {
  readonly sql: string;
  readonly values: readonly (string | number | bigint | null)[];
}

const database = new DatabaseSync(workerData as string, { readOnly: true, timeout: 5000, allowExtension: false });

parentPort!.on('message', ({ id, question }: { readonly id: number; readonly question: SqlQuestion }) => {
  let told: ProcessAnswer;
  try {
    const statement = database.prepare(question.sql);
    // Times in nanoseconds and the keys of many databases are larger than a number can be.
    statement.setReadBigInts(true);
    told = { id, answer: statement.all(...question.values) };
  } catch (error) {
    told = { id, problem: (error as Error).message };
  }
  parentPort!.postMessage(told);
});
