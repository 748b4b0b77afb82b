import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDisk } from '../../../src/archive/store/disk-segments.ts';
import { checkSegmentStore } from '../../contracts/segment-store.ts';

async function disk() {
  const directory = mkdtempSync(join(tmpdir(), 'skein-segments-'));
  return {
    directory,
    store: openDisk(join(directory, 'archive')),
    again: () => openDisk(join(directory, 'archive')),
    [Symbol.asyncDispose]: async () => rmSync(directory, { recursive: true }),
  };
}

checkSegmentStore('disk', disk);

test('other files of the directory are nobody’s segments', async () => {
  await using opened = await disk();
  opened.store.append(1, Buffer.from('one'));
  for (const name of ['segment-000001-3.cdxj', 'segment-2.warc.gz', 'segment-000003.warc.gz.new', 'index.cdxj'])
    writeFileSync(join(opened.directory, 'archive', name), 'x');
  assert.deepEqual(opened.store.here.list(), [{ id: 1, bytes: 3 }]);
  opened.store.close();
});

test('a file that may not be read is no missing segment', { skip: process.getuid?.() === 0 }, async () => {
  await using opened = await disk();
  opened.store.append(1, Buffer.from('one'));
  chmodSync(join(opened.directory, 'archive', readdirSync(join(opened.directory, 'archive'))[0]!), 0);
  const again = opened.again();
  await assert.rejects(again.read(1, 0, Buffer.alloc(3)), { code: 'EACCES' });
  opened.store.close();
});
