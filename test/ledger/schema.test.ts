/** A ledger of an older version is brought up to date and keeps what it holds; one of a newer version is left alone. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { migrate, steps } from '../../src/ledger/schema.ts';

const URL_OF_PAGE = 'http://a.test/';

function directory(context: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'skein-schema-'));
  context.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A ledger with one page, as a Skein left it that knew the first step only. */
function old(path: string): void {
  const database = new DatabaseSync(join(path, 'ledger.db'));
  database.exec(`${steps[0]}; PRAGMA user_version = 1`);
  const add = 'INSERT INTO pages VALUES (1, 3, 4, 1, ?, 0, 0, 0, 0, 5, NULL, 0, NULL)';
  database.prepare(add).run(URL_OF_PAGE);
  database.close();
}

test('a ledger of the first version is read as it is, and brought up to date by the next writer', context => {
  const path = directory(context);
  old(path);
  const reader = new Ledger(path, 'read');
  assert.equal(reader.pages.get(1)?.url, URL_OF_PAGE);
  reader.close();
  const writer = new Ledger(path, 'write');
  assert.equal(writer.pages.get(1)?.url, URL_OF_PAGE);
  const fresh = new DatabaseSync(':memory:');
  migrate(fresh);
  const shape = (database: DatabaseSync) =>
    database.prepare('SELECT type, name, sql FROM sqlite_schema ORDER BY name').all();
  assert.deepEqual(shape(writer['database']), shape(fresh), 'it is what a new one is');
  writer.close();
});

test('a ledger of a newer version is neither read nor written', context => {
  const path = directory(context);
  old(path);
  const file = join(path, 'ledger.db');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA user_version = ${steps.length + 1}`);
  database.close();
  for (const mode of ['read', 'write'] as const) {
    assert.throws(() => new Ledger(path, mode), /this Skein knows versions up to/, mode);
  }
});

test('docs/ledger.md explains every table and column', () => {
  const guide = readFileSync(new URL('../../docs/ledger.md', import.meta.url), 'utf8');
  const named = new Set([...guide.matchAll(/`(\w+)`/g)].map(match => match[1]!));
  const fresh = new DatabaseSync(':memory:');
  migrate(fresh);
  const sql = `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`;
  const rows = fresh.prepare(sql).all() as { table: string; column: string }[];
  assert.ok(rows.length > 80);
  const missing = rows.filter(({ table, column }) => !named.has(table) || !named.has(column));
  assert.deepEqual(missing, []);
});
