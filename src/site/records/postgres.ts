/** PostgreSQL through `pg`: one connection whose every transaction is read-only, with a time limit that the server keeps. */
import type { CustomTypesConfig, types as Types } from 'pg';
import { SkeinError } from '../../base/errors.ts';
import type { PostgresRecords, RecordRow } from './describe.ts';
import { type RecordRows, rowsOf } from './rows.ts';

export async function openPostgres(described: PostgresRecords): Promise<RecordRows> {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({
    connectionString: described.postgres,
    max: 1,
    // Kept by the server, whatever a query says. Times come in one zone, so that their texts stand in their order.
    options: `-c default_transaction_read_only=on -c statement_timeout=${described.timeout * 1000} -c TimeZone=UTC -c DateStyle=ISO`,
    types: exact(pg.types),
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

/**
 * Where the last row was is asked for again, so nothing may be rounded: a Date has no microseconds, and rows of one
 * transaction, which all have the same ones, would come again for ever.
 */
function exact(types: typeof Types): CustomTypesConfig {
  const { DATE, TIMESTAMP, TIMESTAMPTZ, INT8 } = types.builtins;
  const own = new Map<number, (text: string) => unknown>([
    ...[DATE, TIMESTAMP, TIMESTAMPTZ].map(id => [id, String] as const),
    [INT8, BigInt],
  ]);
  const getTypeParser = (id: number, format: 'text') => own.get(id) ?? types.getTypeParser(id, format);
  return { getTypeParser } as CustomTypesConfig;
}

/** Without user and password, which belong in no log. */
function placeOf(address: string): string {
  const { hostname, pathname } = new URL(address);
  return `${hostname}${pathname}`;
}
