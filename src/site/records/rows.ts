/** Rows of a database, as a source reads them: the port behind which SQLite and PostgreSQL stand, and the SQL of both. */
import { columnsOf, type DatabaseRecords, type RecordRow } from './describe.ts';

export interface RecordRows {
  /** At most `most` rows with a key beyond `key`, in its order; undefined = from the first. */
  after(key: unknown, most: number): Promise<readonly RecordRow[]>;
  /** The same in the order of the since-column and the key, from `since` on, beyond `key` where it is given. */
  since(since: unknown, key: unknown, most: number): Promise<readonly RecordRow[]>;
  one(key: unknown): Promise<RecordRow | undefined>;
  close(): Promise<void>;
}

/** Rejects when the database is gone, refuses, or takes too long. */
type AskDatabase = (sql: string, values: readonly unknown[]) => Promise<readonly RecordRow[]>;

/** `place(1)` is how the first value is written. The owner's query is the only SQL that is not from here. */
export function rowsOf(
  described: DatabaseRecords,
  place: (n: number) => string,
  ask: AskDatabase,
): Omit<RecordRows, 'close'> {
  const { query, key, since } = described;
  const [k, s] = [`"${key}"`, `"${since}"`];
  const columns = columnsOf(described).map(each => `"${each}"`);
  const select = `SELECT ${columns.join(', ')} FROM (${query}\n) AS records`;
  return {
    after: (from, most) =>
      from === undefined
        ? ask(`${select} ORDER BY ${k} LIMIT ${most}`, [])
        : ask(`${select} WHERE ${k} > ${place(1)} ORDER BY ${k} LIMIT ${most}`, [from]),
    since: (from, beyond, most) =>
      beyond === undefined
        ? ask(`${select} WHERE ${s} >= ${place(1)} ORDER BY ${s}, ${k} LIMIT ${most}`, [from])
        : ask(
            `${select} WHERE ${s} >= ${place(1)} AND (${s} > ${place(1)} OR ${k} > ${place(2)}) ORDER BY ${s}, ${k} LIMIT ${most}`,
            [from, beyond],
          ),
    one: async wanted => (await ask(`${select} WHERE ${k} = ${place(1)} LIMIT 1`, [wanted]))[0],
  };
}
