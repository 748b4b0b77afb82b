/** PostgreSQL through `pg`: one connection whose every transaction is read-only, with a time limit that the server keeps. */
import { SkeinError } from '../../base/errors.ts';
import type { PostgresRecords, RecordRow } from './describe.ts';
import { type RecordRows, rowsOf } from './rows.ts';

export async function openPostgres(described: PostgresRecords): Promise<RecordRows> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: described.postgres,
    max: 1,
    // Kept by the server, whatever a query says.
    options: `-c default_transaction_read_only=on -c statement_timeout=${described.timeout * 1000}`,
    connectionTimeoutMillis: described.timeout * 1000,
    query_timeout: described.timeout * 1000 + 2000,
    idleTimeoutMillis: 60_000,
    application_name: 'skein site',
    allowExitOnIdle: true,
  });
  pool.on('error', () => {}); // a connection that broke while idle: the next query opens another, or says why it cannot
  const ask = async (sql: string, values: readonly unknown[]): Promise<readonly RecordRow[]> => {
    try {
      return (await pool.query(sql, [...values])).rows as RecordRow[];
    } catch (error) {
      throw new SkeinError(
        'refused',
        `The database ${placeOf(described.postgres)} cannot be read: ${(error as Error).message}.`,
      );
    }
  };
  return { ...rowsOf(described, n => `$${n}`, ask), close: () => pool.end() };
}

/** Without user and password, which belong in no log. */
function placeOf(address: string): string {
  const { hostname, pathname } = new URL(address);
  return `${hostname}${pathname}`;
}
