/** SQLite: a process that reads the file, started anew when a query took too long or the process died. */
import { existsSync } from 'node:fs';
import { SkeinError } from '../../base/errors.ts';
import { AskedProcess, moduleHere } from './asked-process.ts';
import type { RecordRow, SqliteRecords } from './describe.ts';
import { type RecordRows, rowsOf } from './rows.ts';

export function openSqlite(described: SqliteRecords): RecordRows {
  const { sqlite, timeout } = described;
  const reader = new AskedProcess({ thread: moduleHere('sqlite-thread'), data: sqlite });
  const limit = { seconds: timeout, late: `a query takes longer than ${timeout} s` };
  const ask = async (sql: string, values: readonly unknown[]): Promise<readonly RecordRow[]> => {
    if (!existsSync(sqlite)) throw unreadable(sqlite, 'the file is not there');
    try {
      return (await reader.ask({ sql, values }, limit)) as readonly RecordRow[];
    } catch (error) {
      throw unreadable(sqlite, (error as Error).message);
    }
  };
  return { ...rowsOf(described, n => `?${n}`, ask), close: async () => reader.end('it is closed') };
}

function unreadable(file: string, why: string): SkeinError {
  return new SkeinError('refused', `The database ${file} cannot be read: ${why}.`);
}
