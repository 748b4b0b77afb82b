/** A backup of a collection that is being written, and a collection made of it: whole, private, and copied once. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupCollection, restoreCollection } from '../../src/engine/house/backup.ts';
import { forgetIn } from '../../src/engine/house/forget.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { partitionDirectory } from '../../src/ledger/collection/collection.ts';
import { openWeb } from '../web/web.ts';
import { collected, crawlHere, fast, pagesOf, skein, start, workplace } from './skein.ts';

async function problems(data: string): Promise<readonly string[]> {
  const ledger = openLedger(data);
  try {
    return (await verifyCollection(ledger)).problems;
  } finally {
    ledger.close();
  }
}

test('backups made while a crawl writes are whole, each of them', async () => {
  await using web = await openWeb({ seed: 31, servers: 2, pagesPerServer: 60, latency: 10 });
  using place = workplace();
  const [data, kept] = [join(place.path, 'data'), join(place.path, 'kept')];
  const crawl = start(['crawl', ...web.seeds, '--data', data, '--scope', '*', ...fast]);
  let over = false;
  void crawl.ended.then(() => {
    over = true;
  });
  let made = 0;
  while (!over && made < 10) {
    const done = await backupCollection(data, kept).catch(() => undefined); // none is there before its first commit
    if (!done) continue;
    made++;
    assert.deepEqual(await problems(kept), [], `backup ${made}`);
  }
  assert.ok(made > 0);
  assert.equal((await crawl.ended).code, 0);
  const last = await backupCollection(data, kept);
  assert.ok(last.segments > 0);
  assert.equal((await backupCollection(data, kept)).copied, 0, 'nothing is copied twice');
  const restored = join(place.path, 'restored');
  restoreCollection(kept, restored);
  assert.deepEqual(await problems(restored), []);
  assert.deepEqual(collected(await pagesOf(restored)), collected(await pagesOf(data)));
  await crawlHere({ data: restored }, []);
  for (const name of readdirSync(kept, { recursive: true, encoding: 'utf8' })) {
    if (/-(?:wal|shm)$/.test(name)) continue;
    assert.equal(statSync(join(kept, name)).mode & 0o077, 0, `${name} is private`);
  }
});

test('what is not empty, no backup, or in the collection itself is refused in a sentence', async () => {
  await using web = await openWeb({ pagesPerServer: 2 });
  using place = workplace();
  const data = join(place.path, 'data');
  await crawlHere({ data }, web.seeds);
  const other = join(place.path, 'other');
  mkdirSync(other);
  writeFileSync(join(other, 'letter.txt'), 'mine');
  await assert.rejects(backupCollection(data, other), /files that are not a backup/);
  await assert.rejects(backupCollection(data, join(data, 'inside')), /cannot be inside its collection/);
  assert.throws(() => restoreCollection(other, join(place.path, 'new')), /no backup/);
  await backupCollection(data, join(place.path, 'kept'));
  assert.throws(() => restoreCollection(join(place.path, 'kept'), other), /not empty/);
  const { code, stderr } = await skein(['restore', join(place.path, 'kept'), '--data', data]);
  assert.notEqual(code, 0);
  assert.match(stderr, /not empty/);
});

test('a collection of several partitions is backed up, and forgets, as a whole', async () => {
  await using web = await openWeb({ seed: 33, servers: 4, pagesPerServer: 8 });
  using place = workplace();
  const data = join(place.path, 'data');
  await crawlHere({ data, scope: '*', partitions: 3 }, web.seeds);
  const gone = web.origins[0]!;
  const urls = (directory: string) =>
    [0, 1, 2].flatMap(id => {
      const ledger = openLedger(partitionDirectory(directory, id));
      const found = [...ledger.queries.pageList.rows({ order: 'url', outOfScope: true, limit: 1e6 })].map(row =>
        String(row['url']),
      );
      ledger.close();
      return found;
    });
  await backupCollection(data, join(place.path, 'kept'));
  assert.ok((await forgetIn(data, [gone])).copies > 0);
  assert.deepEqual(
    urls(data).filter(url => url.startsWith(`${gone}/`)),
    [],
  );
  await crawlHere({ data, scope: '*' }, []);
  for (const id of [0, 1, 2]) assert.deepEqual(await problems(partitionDirectory(data, id)), []);
  assert.deepEqual(
    urls(data).filter(url => url.startsWith(`${gone}/`)),
    [],
  );
  const restored = join(place.path, 'restored');
  restoreCollection(join(place.path, 'kept'), restored);
  assert.ok(urls(restored).some(url => url.startsWith(`${gone}/`)));
  for (const id of [0, 1, 2]) assert.deepEqual(await problems(partitionDirectory(restored, id)), []);
});
