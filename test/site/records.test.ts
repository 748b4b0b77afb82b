/** Documents that no link leads to: rows of SQLite and PostgreSQL, and files whose metadata speak. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import pg from 'pg';
import sharp from 'sharp';
import { openSite } from '../../src/site/site.ts';
import { openPostgres } from './postgres-server.ts';
import { folder, type Here, PUBLIC, startSite, until, write } from './site-here.ts';

const described = {
  ...{
    name: 'papers',
    key: 'id',
    since: 'changed',
    url: '/papers/{id}',
    title: '{title}',
    columns: ['abstract'],
    every: 1,
  },
  query: 'SELECT id, title, abstract, secret, changed FROM papers WHERE public = 1',
};

async function text(here: Here, path: string): Promise<string> {
  const [page] = await here.pages([{ url: PUBLIC + path }]);
  return page?.state === 'page' ? Buffer.from(page.body).toString() : String(page?.state);
}

test('rows of SQLite become documents: only what is listed leaves, changes are told, what is gone is told', async context => {
  const place = folder(context);
  const file = join(place, 'app.db');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE papers (id INTEGER PRIMARY KEY, title, abstract, secret, public, changed)');
  const insert = database.prepare('INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, ?, ?)');
  database.exec('BEGIN');
  for (let i = 1; i <= 5000; i++)
    insert.run(i, `Paper ${i}`, `About <${i}>`, 'SECRET', i === 3 ? 0 : 1, 1_700_000_000 + i);
  database.exec('COMMIT');
  const records = join(place, 'records.json');
  writeFileSync(records, JSON.stringify({ records: [{ ...described, sqlite: file }] }));
  const here = await startSite(context, { records, goneAfter: 0.1 });
  const { cursor } = (await here.discovery()).journal;
  assert.equal(here.site.status().pages, 4999);
  const one = await text(here, 'papers/7');
  assert.match(one, /<h1>Paper 7<\/h1>[\s\S]*<dt>abstract<\/dt>\n<dd>About &#60;7&#62;<\/dd>/);
  assert.doesNotMatch(one, /SECRET|changed|1700000007/);
  assert.equal(await text(here, 'papers/3'), 'gone');
  assert.equal(here.site.journal.pages.get('/papers/7')!.time, 1_700_000_007_000);
  insert.run(7, 'Paper 7', 'Another abstract', 'SECRET', 1, 1_700_009_000);
  insert.run(8, 'Paper 8', 'About <8>', 'ANOTHER SECRET', 1, 1_700_009_000);
  insert.run(6000, 'Paper 6000', 'new', 'SECRET', 1, 1_700_009_001);
  await until(() => here.site.journal.cursor.sequence >= 2);
  database.exec('DELETE FROM papers WHERE id = 9');
  await here.site.changed();
  await until(() => here.site.journal.cursor.sequence >= 3);
  const { changes } = (await here.changes(cursor))!;
  assert.deepEqual(changes.map(({ url, operation, kind }) => `${operation} ${kind} ${url}`).sort(), [
    `create record ${PUBLIC}papers/6000`,
    `delete record ${PUBLIC}papers/9`,
    `update record ${PUBLIC}papers/7`,
  ]);
  database.close();
});

test('what looks like SQL, markup, a path or a line of the journal is text wherever it stands in a row', async context => {
  const place = folder(context);
  const file = join(place, 'app.db');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE papers (id TEXT PRIMARY KEY, title, abstract, secret, public, changed)');
  const insert = database.prepare('INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, 1, ?)');
  const keys = [
    ...["x'); DROP TABLE papers; --", "' OR '1'='1", '" UNION SELECT secret FROM papers --', '../../etc/passwd'],
    ...['?&#%00', '//evil.example/', 'a\tb\nc', '<script>alert(1)</script>', 'https://evil.example/', '\ud800', ''],
  ];
  for (const [i, key] of keys.entries()) insert.run(key, key, `${key}\n-\t1\tdelete`, 'SECRET', 1_700_000_000 + i);
  const records = join(place, 'records.json');
  writeFileSync(records, JSON.stringify({ records: [{ ...described, sqlite: file }] }));
  const here = await startSite(context, { records });
  const known = [...here.site.journal.pages.keys()];
  assert.ok(known.length >= keys.length - 2, `${known}`);
  for (const path of known) {
    assert.ok(path.startsWith('/papers/'), path);
    const page = await text(here, path.slice(1));
    assert.doesNotMatch(page, /SECRET|<script/);
  }
  assert.equal(database.prepare('SELECT count(*) AS n FROM papers').get()!['n'], keys.length);
  const { cursor } = (await here.discovery()).journal;
  await here.close();
  const again = await startSite(context, { records, data: here.data });
  assert.equal(await again.changes(cursor), undefined, 'the journal is read as it was written');
  database.close();
});

test('times and keys that are larger than a number can be are told apart', async context => {
  const place = folder(context);
  const file = join(place, 'app.db');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE papers (id INTEGER PRIMARY KEY, title, abstract, secret, public, changed)');
  const insert = database.prepare('INSERT OR REPLACE INTO papers VALUES (?, ?, ?, ?, 1, ?)');
  insert.setReadBigInts(true);
  const key = 2n ** 60n;
  const time = 1_700_000_000_000_000_000n;
  for (const i of [1n, 2n]) insert.run(key + i, `Paper ${i}`, 'one', '', time + i);
  const records = join(place, 'records.json');
  writeFileSync(records, JSON.stringify({ records: [{ ...described, sqlite: file }] }));
  const here = await startSite(context, { records });
  assert.deepEqual(
    [...here.site.journal.pages.values()].map(page => [page.path, page.time]),
    [1n, 2n].map(i => [`/papers/${key + i}`, 1_700_000_000_000]),
  );
  insert.run(key + 1n, 'Paper 1', 'two', '', time + 3n);
  await until(() => here.site.journal.cursor.sequence === 1);
  assert.match(await text(here, `papers/${key + 1n}`), /two/);
  database.close();
});

test('a query that never ends is ended, and the site goes on', async context => {
  const place = folder(context);
  const file = join(place, 'app.db');
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)');
  database.close();
  const endless =
    'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id, id AS changed, id AS title FROM n';
  const records = join(place, 'records.json');
  const source = { ...described, sqlite: file, query: endless, columns: [], timeout: 1 };
  writeFileSync(records, JSON.stringify({ records: [source] }));
  write(join(place, 'www'), 'index.html', '<p>here</p>');
  const here = await startSite(context, { records, directory: join(place, 'www') });
  assert.equal(here.site.status().pages, 1);
  const state = here.site.status().sources.find(({ name }) => name === 'records papers')!;
  assert.match(state.problem, /longer than 1 s/);
});

test('a description that is wrong is one sentence that says where', async context => {
  const place = folder(context);
  const records = join(place, 'records.json');
  const wrong: readonly [unknown, RegExp][] = [
    ['nonsense', /cannot be read/],
    [{ records: [] }, /records/],
    [{ records: [{ name: 'x' }] }, /names no "sqlite"/],
    [{ records: [{ ...described, sqlite: 'x', query: 'DELETE FROM papers' }] }, /record 1, query: one SELECT/],
    [{ records: [{ ...described, sqlite: 'x', query: 'SELECT 1; DROP TABLE papers' }] }, /one SELECT/],
    [
      { records: [{ ...described, sqlite: 'x', columns: ['a" FROM secrets --'] }] },
      /columns.0: a column is a plain name/,
    ],
    [{ records: [{ ...described, sqlite: 'x', sicne: 'y' }] }, /sicne/],
    [
      {
        records: [
          { ...described, sqlite: 'x' },
          { ...described, sqlite: 'x' },
        ],
      },
      /two records are called/,
    ],
  ];
  for (const [file, words] of wrong) {
    writeFileSync(records, typeof file === 'string' ? file : JSON.stringify(file));
    const opened = openSite({ public: PUBLIC, records, data: join(place, 'state') });
    await assert.rejects(opened, { code: 'bad-config', message: words });
  }
});

test('rows of PostgreSQL: of a hundred thousand one in a hundred changes; a server that is gone loses nothing', async context => {
  const server = await openPostgres(context);
  if (!server) return context.skip('no PostgreSQL: scripts/install-debian.sh postgresql');
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE TABLE papers (id int PRIMARY KEY, title text, abstract text, secret text, changed timestamptz)`,
  );
  await client.query(
    `INSERT INTO papers SELECT i, 'Paper ' || i, 'About ' || i, 'SECRET', '2024-01-01'::timestamptz + i * interval '1 second' FROM generate_series(1, 100000) i`,
  );
  const place = folder(context);
  const records = join(place, 'records.json');
  const query = 'SELECT id, title, abstract, secret, changed FROM papers';
  writeFileSync(records, JSON.stringify({ records: [{ ...described, query, postgres: server.url }] }));
  const here = await startSite(context, { records });
  assert.equal(here.site.status().pages, 100_000);
  const { cursor } = (await here.discovery()).journal;
  const page = await text(here, 'papers/77');
  assert.match(page, /About 77/);
  assert.doesNotMatch(page, /SECRET/);
  await client.query(`UPDATE papers SET abstract = abstract || ' again', changed = now() WHERE id % 100 = 0`);
  await until(() => here.site.journal.cursor.sequence === 1000);
  const { changes, more } = (await here.changes(cursor))!;
  assert.deepEqual([changes.length, more], [1000, false]);
  await client.end();
  await server.stop();
  await until(() => here.site.status().sources[0]!.problem !== '');
  assert.match(here.site.status().sources[0]!.problem, /cannot be read/);
  assert.doesNotMatch(here.site.status().sources[0]!.problem, /owner/, 'no user or password in what is said');
  assert.equal(here.site.status().pages, 100_000);
  assert.equal(await text(here, 'papers/77'), 'elsewhere');
  await server.start();
  await until(() => here.site.status().sources[0]!.problem === '');
  assert.match(await text(here, 'papers/77'), /About 77/);
});

test('rows of PostgreSQL that one transaction changed, counters beyond 2^53, and dates ahead', async context => {
  const server = await openPostgres(context);
  if (!server) return context.skip('no PostgreSQL: scripts/install-debian.sh postgresql');
  const client = new pg.Client(server.url);
  await client.connect();
  const counter = 2n ** 60n;
  await client.query('CREATE TABLE papers (id bigint PRIMARY KEY, title text, abstract text, changed timestamptz)');
  await client.query(
    `INSERT INTO papers SELECT ${counter} + i, 'Paper ' || i, 'one', '2024-01-01'::timestamptz FROM generate_series(1, 5000) i`,
  );
  await client.query('CREATE TABLE counted (id int PRIMARY KEY, title text, abstract text, changed bigint)');
  await client.query(`INSERT INTO counted SELECT i, 'Counted ' || i, 'one', i FROM generate_series(1, 12) i`);
  await client.query(`CREATE TABLE ahead AS SELECT id, title, abstract, now() AS changed FROM counted`);
  await client.query(`UPDATE ahead SET changed = 'infinity' WHERE id = 1`);
  await client.query(`UPDATE ahead SET changed = now() + interval '1 year' WHERE id = 2`);
  const place = folder(context);
  const records = join(place, 'records.json');
  const source = (name: string) => ({
    ...{ ...described, name, url: `/${name}/{id}`, query: `SELECT * FROM ${name}`, postgres: server.url },
  });
  writeFileSync(records, JSON.stringify({ records: ['papers', 'counted', 'ahead'].map(source) }));
  const here = await startSite(context, { records });
  const { journal } = here.site;
  assert.equal(journal.pages.size, 5024);
  // All of them at the same microsecond, and more than are read at once.
  await client.query(`UPDATE papers SET abstract = 'two', changed = now()`);
  await until(() => journal.cursor.sequence === 5000);
  assert.match(await text(here, `papers/${counter + 77n}`), /two/);
  await client.query(`UPDATE counted SET abstract = 'two', changed = 13 WHERE id = 3`);
  await until(() => journal.cursor.sequence === 5001);
  await client.query(`UPDATE ahead SET abstract = 'two', changed = now() WHERE id = 3`);
  await until(() => journal.cursor.sequence === 5002);
  await client.end();
});

test('PostgreSQL is only read, and no statement takes longer than it may', async context => {
  const server = await openPostgres(context);
  if (!server) return context.skip('no PostgreSQL: scripts/install-debian.sh postgresql');
  const client = new pg.Client(server.url);
  await client.connect();
  await client.query(
    `CREATE TABLE touched (n int); CREATE FUNCTION touch() RETURNS int LANGUAGE sql VOLATILE AS 'INSERT INTO touched VALUES (1) RETURNING n'`,
  );
  await client.query(`CREATE FUNCTION slow() RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_sleep(30)'`);
  const place = folder(context);
  const records = join(place, 'records.json');
  const source = (name: string, call: string) => ({
    ...{ ...described, name, columns: [], timeout: 1, postgres: server.url, url: `/${name}/{id}`, title: '{id}' },
    query: `SELECT ${call} AS id, now() AS changed`,
  });
  writeFileSync(records, JSON.stringify({ records: [source('writes', 'touch()'), source('sleeps', 'slow()')] }));
  const here = await startSite(context, { records });
  const [writes, sleeps] = here.site.status().sources;
  assert.match(writes!.problem, /read-only transaction/);
  assert.match(sleeps!.problem, /statement timeout/);
  assert.equal((await client.query('SELECT count(*)::int AS n FROM touched')).rows[0].n, 0);
  await client.end();
});

/** An ID3 tag of version 2.3 with these frames, before a few silent frames of MPEG. */
function mp3(frames: Readonly<Record<string, string>>): Buffer {
  const body = Buffer.concat(
    Object.entries(frames).map(([id, value]) => {
      const frame = Buffer.from(`\0${value}`, 'latin1');
      const head = Buffer.alloc(10);
      head.write(id, 'latin1');
      head.writeUInt32BE(frame.length, 4);
      return Buffer.concat([head, frame]);
    }),
  );
  const head = Buffer.from('ID3\x03\0\0\0\0\0\0', 'latin1');
  for (let i = 0; i < 4; i++) head[9 - i] = (body.length >> (7 * i)) & 127;
  const silent = Buffer.alloc(417);
  silent.set([0xff, 0xfb, 0x90, 0x64]);
  return Buffer.concat([head, body, silent, silent, silent]);
}

const pdf = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj
4 0 obj<</Title(Annual report)/Author(Jane Roe)/Producer(Secret tool)>>endobj
trailer<</Root 1 0 R/Info 4 0 R>>
`;

test('pictures, sound and PDF files become documents of what their metadata say', async context => {
  const media = folder(context);
  const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: '#123' } });
  const exif = { IFD0: { ImageDescription: 'A heron at dawn', Make: 'Camera Co', Artist: 'Jane Roe' } };
  write(media, 'birds/heron.jpg', await picture.withExif(exif).jpeg().toBuffer());
  write(media, 'song.mp3', mp3({ TIT2: 'Night train', TPE1: 'The Band', TALB: 'Secret album' }));
  write(media, 'report.pdf', pdf);
  write(media, 'broken.pdf', 'no pdf at all');
  write(media, 'notes.txt', 'not media');
  const records = join(folder(context), 'records.json');
  const columns = ['ImageDescription', 'Artist', 'artist', 'Author', 'pages'];
  writeFileSync(records, JSON.stringify({ records: [{ name: 'files', media, url: '/media/{path}', columns }] }));
  const here = await startSite(context, { records });
  assert.deepEqual(
    [...here.site.journal.pages.keys()].sort(),
    ['broken.pdf', 'birds/heron.jpg', 'report.pdf', 'song.mp3'].map(path => `/media/${path}`).sort(),
  );
  const heron = await text(here, 'media/birds/heron.jpg');
  assert.match(heron, /<title>A heron at dawn<\/title>[\s\S]*Jane Roe/);
  assert.doesNotMatch(heron, /Camera Co/);
  const song = await text(here, 'media/song.mp3');
  assert.match(song, /<title>Night train<\/title>[\s\S]*The Band/);
  assert.doesNotMatch(song, /Secret album/);
  const report = await text(here, 'media/report.pdf');
  assert.match(report, /<title>Annual report<\/title>[\s\S]*Jane Roe[\s\S]*<dd>1<\/dd>/);
  assert.doesNotMatch(report, /Secret tool/);
  assert.match(await text(here, 'media/broken.pdf'), /<title>broken\.pdf<\/title>/);
  assert.equal(here.site.journal.pages.get('/media/song.mp3')!.kind, 'media');
  // Whoever may write into the folder turns what was listed into a way out of it, or into a pipe.
  const outside = folder(context);
  write(outside, 'private.mp3', mp3({ TIT2: 'Nobody hears this', TPE1: 'Me', TALB: 'x' }));
  rmSync(join(media, 'song.mp3'));
  symlinkSync(join(outside, 'private.mp3'), join(media, 'song.mp3'));
  rmSync(join(media, 'report.pdf'));
  execFileSync('mkfifo', [join(media, 'report.pdf')]);
  for (const name of ['song.mp3', 'report.pdf']) assert.equal(await here.site.read(`/media/${name}`), undefined, name);
});
