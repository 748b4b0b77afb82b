/** A ledger that is made again from a snapshot and changes is the ledger that they were taken from. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { Changeset } from '../../src/ledger/replica/changes.ts';
import { emptyReplica, numberOf, unpackSnapshot } from '../../src/ledger/replica/replica.ts';
import { takeSnapshot } from '../../src/ledger/replica/snapshot.ts';
import { isAltered, migrateTo, SCHEMA_VERSION } from '../../src/ledger/schema.ts';
import { type Random, randomly } from '../random.ts';
import { randomCrawl } from './random-crawl.ts';

function directories(context: TestContext): () => string {
  const made: string[] = [];
  context.after(() => {
    for (const each of made) rmSync(each, { recursive: true, force: true });
  });
  return () => {
    const directory = mkdtempSync(join(tmpdir(), 'skein-replica-'));
    made.push(directory);
    return directory;
  };
}

/** Counters are saved when a ledger is closed, and made anew where it was not. */
const DERIVED = new Set(['backward']);

/** Every row of every table that matters. */
function rowsOf(directory: string): Record<string, unknown[]> {
  const database = new DatabaseSync(join(directory, 'ledger.db'), { readOnly: true });
  try {
    const tables = database.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`).all();
    const names = tables.map(({ name }) => name as string).filter(name => !DERIVED.has(name));
    return Object.fromEntries(
      names.map(name => {
        const rows = database.prepare(`SELECT * FROM ${name}`).all();
        return [
          name,
          rows
            .filter(row => row['name'] !== 'counting' && name !== 'server_pages') // made anew from the pages
            .map(row => JSON.stringify(row))
            .sort(),
        ];
      }),
    );
  } finally {
    database.close();
  }
}

/** The first row that differs, and not all of both. */
function alike(left: Record<string, unknown[]>, right: Record<string, unknown[]>): void {
  assert.deepEqual(Object.keys(left), Object.keys(right));
  for (const [table, rows] of Object.entries(left)) {
    const differs = rows.findIndex((row, i) => row !== right[table]![i]);
    assert.equal(rows[differs], right[table]![differs], `${table}, row ${differs}`);
    assert.equal(rows.length, right[table]!.length, table);
  }
}

function clockFrom(start: number) {
  let now = start;
  return { now: () => (now += 7), ticks: () => (now += 7) };
}

/** A crawl in `directory` whose changes are taken now and then, after each part of it. */
function recorded(directory: string, random: Random, visits: number, taken: (ledger: Ledger, last: Changeset) => void) {
  const ledger = new Ledger(directory, 'write');
  ledger.outbox.changes.start();
  const crawl = randomCrawl(ledger, random, clockFrom(1e12));
  for (let done = 0; done < visits; ) {
    done += crawl.visit(1 + random.below(60));
    const changes = ledger.outbox.changes.take();
    if (changes) taken(ledger, changes);
  }
  return { ledger, crawl };
}

for (const seed of [1, 2, 3, 4]) {
  test(`changes alone make the ledger again, row by row (seed ${seed})`, context => {
    const fresh = directories(context);
    const [here, there] = [fresh(), fresh()];
    const changes: Changeset[] = [];
    const { ledger } = recorded(here, randomly(seed), 1500, (_, last) => changes.push(last));
    assert.ok(changes.length > 10, `${changes.length}`);
    const replica = emptyReplica(there, SCHEMA_VERSION);
    for (const each of changes) assert.ok(replica.apply(each));
    assert.equal(replica.number, ledger.outbox.changes.number);
    replica.finish();
    const [left, right] = [rowsOf(here), rowsOf(there)];
    for (const table of ['pages', 'known', 'visits', 'links', 'servers', 'account', 'tallies', 'looks'])
      assert.ok(left[table]!.length > 0, table);
    alike(right, left);
    ledger.close();
    const heir = new Ledger(there, 'write');
    const before = new Ledger(here, 'write');
    for (let page = 1; page <= before.pages.size; page++)
      assert.equal(heir.links.backward.of(page), before.links.backward.of(page), `links to page ${page}`);
    for (const { id } of before.servers.all())
      assert.deepEqual(
        [...heir.queries.scans.ofServer(id)],
        [...before.queries.scans.ofServer(id)],
        `pages of server ${id}`,
      );
    heir.close();
    before.close();
  });

  test(`a snapshot and the changes after it make it too, and a frontier goes on from there (seed ${seed})`, async context => {
    const fresh = directories(context);
    const [here, there] = [fresh(), fresh()];
    const random = randomly(seed + 100);
    const after: Changeset[] = [];
    let snapshot: ReturnType<typeof takeSnapshot> | undefined;
    let at = 0;
    const { ledger, crawl } = recorded(here, random, 1500, (ledger, last) => {
      if (last.number === 8) {
        snapshot = takeSnapshot(ledger.directory); // and what is committed while it is being made is not in it
        at = last.number;
      }
      if (last.number > 5) after.push(last);
    });
    const taken = await snapshot!;
    assert.equal(taken.number, at);
    const replica = await unpackSnapshot(there, taken.chunks());
    taken.remove();
    assert.deepEqual(
      readdirSync(here).filter(name => name.includes('snapshot')),
      [],
    );
    const used = after.filter(each => replica.apply(each));
    assert.equal(used[0]!.number, at + 1, 'those that are in the snapshot are passed over');
    replica.finish();
    alike(rowsOf(there), rowsOf(here));

    const pending = (of: Ledger) => [...of.queries.scans.pending()].map(({ id }) => id);
    const heir = new Ledger(there, 'write');
    assert.deepEqual(pending(heir), pending(ledger));
    ledger.close();
    heir.outbox.changes.start();
    const before = heir.pages.size;
    const visits = randomCrawl(heir, random, clockFrom(2e12)).visit(300);
    assert.ok(visits >= 300 && heir.pages.size > before, `${visits} visits, ${before} to ${heir.pages.size} pages`);
    const urls = rowsOf(there)['pages']!.map(row => (JSON.parse(row as string) as { url: string }).url);
    assert.equal(new Set(urls).size, urls.length, 'no page is known twice');
    assert.equal(heir.outbox.changes.take()!.number, replica.number + 1);
    heir.close();
    assert.ok(crawl);
  });
}

test('changes that are missing, damaged or of another ledger are refused, and leave it as it was', context => {
  const fresh = directories(context);
  const [here, other, there] = [fresh(), fresh(), fresh()];
  const changes: Changeset[] = [];
  const foreign: Changeset[] = [];
  recorded(here, randomly(7), 300, (_, last) => changes.push(last)).ledger.close();
  recorded(other, randomly(8), 300, (_, last) => foreign.push(last)).ledger.close();
  const replica = emptyReplica(there, SCHEMA_VERSION);
  replica.apply(changes[0]!);
  const damage = (bytes: Uint8Array) => Uint8Array.from(bytes, (byte, i) => (i % 97 === 3 ? 255 : byte));
  const wrong: Changeset[] = [
    changes[2]!,
    foreign[1]!,
    { number: 2, bytes: changes[2]!.bytes },
    { number: 2, bytes: changes[1]!.bytes.subarray(0, changes[1]!.bytes.length / 2) },
    { number: 2, bytes: damage(changes[1]!.bytes) },
    { number: 2, bytes: new Uint8Array(0) },
    { number: 2, bytes: new TextEncoder().encode('nothing of the kind') },
  ];
  for (const each of wrong) assert.throws(() => replica.apply(each), { code: 'damaged' });
  assert.equal(replica.number, 1);
  for (const each of changes) replica.apply(each);
  replica.finish();
  alike(rowsOf(there), rowsOf(here));
});

test('nothing is recorded before somebody asks, and a batch that wrote nothing is no change', context => {
  const directory = directories(context)();
  const ledger = new Ledger(directory, 'write');
  ledger.begin();
  ledger.settings.set('a', 1);
  ledger.commit();
  assert.equal(ledger.outbox.changes.take(), undefined);
  assert.equal(ledger.outbox.changes.number, 0);
  ledger.outbox.changes.start();
  ledger.begin();
  ledger.commit();
  assert.equal(ledger.outbox.changes.take(), undefined);
  ledger.settings.set('b', 2); // outside a batch
  assert.equal(ledger.outbox.changes.take()!.number, 1);
  assert.equal(ledger.outbox.changes.take(), undefined);
  ledger.begin();
  ledger.settings.set('b', 3);
  ledger.abandon();
  ledger.close();
  const later = new Ledger(directory, 'read');
  assert.equal(later.outbox.changes.number, 1, 'what was taken back is not counted');
  later.close();
});

test('a snapshot that is cut short or no snapshot at all is refused, and the ledger that was there stays', async context => {
  const fresh = directories(context);
  const [here, there] = [fresh(), fresh()];
  recorded(here, randomly(9), 200, () => {}).ledger.close();
  const snapshot = await takeSnapshot(here);
  const chunks: Uint8Array[] = [];
  for await (const chunk of snapshot.chunks()) chunks.push(chunk);
  snapshot.remove();
  async function* pieces(list: readonly Uint8Array[]) {
    yield* list;
  }
  const whole = Buffer.concat(chunks);
  (await unpackSnapshot(there, pieces(chunks))).finish();
  const before = rowsOf(there);
  for (const bad of [whole.subarray(0, whole.length / 2), Buffer.from('nothing of the kind')])
    await assert.rejects(unpackSnapshot(there, pieces([bad])), { code: 'damaged' });
  assert.deepEqual(rowsOf(there), before);
  assert.deepEqual(readdirSync(there), ['ledger.db']);
  assert.equal(numberOf(there), numberOf(here));
  assert.equal(numberOf(join(there, 'nowhere')), undefined);
});

/** How a ledger can be made to do something when it is read or written; as a file's author may write it, not only SQLite. */
const acts: Record<string, string> = {
  'has a trigger': 'CREATE TRIGGER late AFTER INSERT ON meta BEGIN DELETE FROM pages; END',
  'has a view': 'CREATE VIEW odd AS SELECT * FROM meta',
  'has a virtual table that is spelt in another way': `CREATE VIRTUAL TABLE odd USING fts5(x);
    UPDATE sqlite_schema SET sql = replace(sql, 'CREATE VIRTUAL', 'CREATE/**/VIRTUAL') WHERE name = 'odd'`,
  'checks rows of a table of ours': `UPDATE sqlite_schema SET sql =
    replace(sql, 'value TEXT NOT NULL', 'value TEXT NOT NULL CHECK (length(zeroblob(900000000)) > 0)') WHERE name = 'meta'`,
  'has a table of its own': 'CREATE TABLE odd (x, y AS (hex(x)))',
  'has an index that reckons': 'CREATE INDEX odd ON meta (hex(value))',
  'lacks a table': 'DROP TABLE links',
};

for (const [name, sql] of Object.entries(acts))
  test(`a snapshot that ${name} is refused`, async context => {
    const fresh = directories(context);
    const [here, there] = [fresh(), fresh()];
    recorded(here, randomly(9), 20, () => {}).ledger.close();
    const database = new DatabaseSync(join(here, 'ledger.db'), { defensive: false });
    database.exec(`PRAGMA writable_schema = ON; ${sql}`);
    database.close();
    const acting = await takeSnapshot(here);
    await assert.rejects(unpackSnapshot(there, acting.chunks()), { code: 'damaged', message: /tables that differ/ });
    acting.remove();
    assert.deepEqual(readdirSync(there), []);
  });

test('a snapshot of every version, and one that somebody has analysed, is a ledger', () => {
  for (let version = 1; version <= SCHEMA_VERSION; version++) {
    const database = new DatabaseSync(':memory:');
    migrateTo(database, version);
    assert.equal(isAltered(database), false, `version ${version}`);
    database.exec(`INSERT INTO meta VALUES ('a', '1'); ANALYZE`);
    assert.equal(isAltered(database), false, `version ${version}`);
    database.close();
  }
});

test('a snapshot that grows without end is refused', async context => {
  const there = directories(context)();
  async function* endless() {
    for (let i = 0; i < 100; i++) yield zstdCompressSync(Buffer.alloc(4_000_000));
  }
  await assert.rejects(unpackSnapshot(there, endless()), ({ cause }: Error) => /too large/.test(String(cause)));
  assert.deepEqual(readdirSync(there), []);
});
