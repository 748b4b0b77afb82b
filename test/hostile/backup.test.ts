/**
 * Backups that somebody else made, and places for backups in which somebody else has left something: nothing is read or
 * written through a link, nothing that acts comes along, and what is made is for its owner alone.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { backupCollection, restoreCollection } from '../../src/engine/house/backup.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { copiesAt, copiesGoOn, notCopied, offsiteOf } from '../../src/home/offsite/offsite.ts';
import { crawlHere, workplace } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

const place = workplace();
const at = (name: string) => join(place.path, name);
const SEGMENT = 'segment-000001.warc.gz';

before(async () => {
  await using web = await openWeb({ pagesPerServer: 3 });
  await crawlHere({ data: at('data') }, web.seeds);
  await crawlHere({ data: at('parts'), partitions: 2 }, web.seeds);
  await backupCollection(at('data'), at('kept'));
  await backupCollection(at('parts'), at('kept-parts'));
  writeFileSync(at('secret'), 'of the user');
});
after(() => place[Symbol.dispose]());

/** A copy of the backup in which somebody has changed something. */
function changed(name: string, change: (directory: string) => void, from = 'kept'): string {
  cpSync(at(from), at(name), { recursive: true });
  change(at(name));
  return at(name);
}

function replaced(file: string, by: (file: string) => void): void {
  rmSync(file, { recursive: true, force: true });
  by(file);
}

const hostile: Record<string, (directory: string) => void> = {
  'whose segment is a link': directory =>
    replaced(join(directory, 'archive', SEGMENT), file => symlinkSync(at('secret'), file)),
  'whose ledger is a link': directory =>
    replaced(join(directory, 'ledger.db'), file => symlinkSync(join(at('data'), 'ledger.db'), file)),
  'whose archive is a link': directory =>
    replaced(join(directory, 'archive'), file => symlinkSync(join(at('data'), 'archive'), file)),
  'whose segment is a pipe that nobody writes to': directory =>
    replaced(join(directory, 'archive', SEGMENT), file => void execFileSync('mkfifo', [file])),
  'whose segment is a directory': directory => replaced(join(directory, 'archive', SEGMENT), file => mkdirSync(file)),
  'whose ledger acts when it is written': directory => {
    const database = new DatabaseSync(join(directory, 'ledger.db'));
    database.exec(`CREATE TRIGGER odd AFTER INSERT ON pages BEGIN DELETE FROM visits; END`);
    database.close();
  },
  'whose ledger has a virtual table that is spelt in another way': directory => {
    const database = new DatabaseSync(join(directory, 'ledger.db'), { defensive: false });
    database.exec(`PRAGMA writable_schema = ON; CREATE VIRTUAL TABLE odd USING fts5(x);
      UPDATE sqlite_schema SET sql = replace(sql, 'CREATE VIRTUAL', 'CREATE/**/VIRTUAL') WHERE name = 'odd'`);
    database.close();
  },
  'whose ledger is none': directory => writeFileSync(join(directory, 'ledger.db'), 'x'.repeat(5000)),
  'whose ledger is empty': directory => writeFileSync(join(directory, 'ledger.db'), ''),
};

for (const [name, change] of Object.entries(hostile))
  test(`a backup ${name} is refused in a sentence`, () => {
    const backup = changed(`backup ${name}`, change);
    const target = at(`restored ${name}`);
    assert.throws(
      () => restoreCollection(backup, target),
      error => error instanceof SkeinError && !/should not happen/.test(error.message),
    );
    assert.ok(!existsSync(target), 'nothing is left of the attempt');
  });

test('a backup whose partition is a link is refused', () => {
  const backup = changed(
    'linked parts',
    directory => {
      const [one] = readdirSync(join(directory, 'partitions'));
      const part = join(directory, 'partitions', one!);
      renameSync(part, at('moved part'));
      symlinkSync(at('moved part'), part);
    },
    'kept-parts',
  );
  assert.throws(() => restoreCollection(backup, at('restored parts')), SkeinError);
});

test('a restore that is refused or killed midway leaves nothing in the way of the next one', () => {
  const bad = changed('bad end', directory => {
    rmSync(join(directory, 'ledger.db'));
    symlinkSync(at('secret'), join(directory, 'ledger.db'));
  });
  const good = changed('good end', () => {});
  assert.throws(() => restoreCollection(bad, at('tried')), SkeinError);
  assert.equal(existsSync(at('tried')), false);
  mkdirSync(at('tried'));
  assert.throws(() => restoreCollection(bad, at('tried')), SkeinError);
  assert.deepEqual(readdirSync(at('tried')), []);
  // As kill -9 leaves it, and as it is when somebody has begun to work there.
  mkdirSync(join(at('tried'), 'archive'));
  writeFileSync(join(at('tried'), 'archive', SEGMENT), 'half of it');
  writeFileSync(join(at('tried'), 'restore.part'), '');
  writeFileSync(join(at('tried'), 'lock.db'), '');
  assert.throws(() => restoreCollection(good, at('tried')), /not empty/);
  rmSync(join(at('tried'), 'lock.db'));
  restoreCollection(good, at('tried'));
  assert.deepEqual(readdirSync(at('tried')).sort(), ['archive', 'ledger.db']);
  assert.throws(() => restoreCollection(good, at('tried')), /not empty/, 'a whole collection stays');
});

test('only segments and the ledger come along, and for their owner alone', () => {
  const backup = changed('open', directory => {
    writeFileSync(join(directory, 'archive', 'authorized_keys'), 'x');
    writeFileSync(join(directory, 'skein.config.json'), '{}');
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
      chmodSync(join(directory, name), statSync(join(directory, name)).isDirectory() ? 0o755 : 0o644);
  });
  const mask = process.umask(0o022);
  try {
    restoreCollection(backup, at('restored'));
  } finally {
    process.umask(mask);
  }
  assert.deepEqual(readdirSync(at('restored')).sort(), ['archive', 'ledger.db']);
  assert.deepEqual(readdirSync(join(at('restored'), 'archive')), [SEGMENT]);
  for (const name of ['', 'archive', `archive/${SEGMENT}`, 'ledger.db'])
    assert.equal(statSync(join(at('restored'), name)).mode & 0o077, 0, `${name} is private`);
});

test('a backup is not written through links that somebody has left in its place', async () => {
  const secret = () => readFileSync(at('secret'), 'utf8');
  for (const [name, lay] of [
    ['segment', (to: string) => symlinkSync(at('secret'), join(to, 'archive', SEGMENT))],
    ['ledger', (to: string) => symlinkSync(at('secret'), join(to, 'ledger.db'))],
    ['new ledger', (to: string) => symlinkSync(at('secret'), join(to, 'ledger.db.new'))],
  ] as const) {
    const to = at(`laid ${name}`);
    mkdirSync(join(to, 'archive'), { recursive: true });
    lay(to);
    await backupCollection(at('data'), to).catch(error => assert.ok(error instanceof SkeinError));
    assert.equal(secret(), 'of the user', name);
  }
  const to = at('laid archive');
  mkdirSync(to);
  mkdirSync(at('others'));
  symlinkSync(at('others'), join(to, 'archive'));
  await assert.rejects(backupCollection(at('data'), to), SkeinError);
  assert.deepEqual(readdirSync(at('others')), []);
});

test('copies elsewhere are those of the collection that was backed up: they are read, and left as they are', async () => {
  const backup = changed('with copies', directory => {
    const database = new DatabaseSync(join(directory, 'ledger.db'));
    database.prepare('INSERT INTO meta VALUES (?, ?)').run('archive', '{"to":"s3://pages/one","id":"x"}');
    database.close();
  });
  restoreCollection(backup, at('twin'));
  const ledger = openLedger(at('twin'));
  try {
    const offsite = offsiteOf(ledger)!;
    assert.deepEqual(offsite, { to: 's3://pages/one', id: 'x', readOnly: true });
    assert.equal(copiesGoOn(ledger), false);
    assert.equal(notCopied(ledger), undefined);
    const before = { ...process.env };
    // Nobody listens there: whoever asked would fail.
    const nowhere = { AWS_ENDPOINT_URL: 'http://127.0.0.1:9', AWS_ACCESS_KEY_ID: 'k', AWS_SECRET_ACCESS_KEY: 's' };
    Object.assign(process.env, nowhere);
    try {
      const copies = await copiesAt(offsite)();
      await copies.remove(1);
      copies.close();
    } finally {
      for (const name of Object.keys(nowhere)) {
        if (before[name] === undefined) delete process.env[name];
        else process.env[name] = before[name];
      }
    }
  } finally {
    ledger.close();
  }
});
