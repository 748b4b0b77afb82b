/** What a power cut may take is bounded: the archive is synced while it grows, beside the loop. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openArchive } from '../../src/archive/archive.ts';
import { systemClock } from '../../src/base/clock.ts';
import { Batch } from '../../src/home/batch.ts';
import { Acknowledgements } from '../../src/home/machines/acknowledgements.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { temporary, testParcel } from '../archive/pages.ts';

test('the archive is synced about once a second while batches are committed, and what the disk says is heard', async t => {
  const directory = temporary(t);
  const ledger = new Ledger(directory, 'write');
  const archive = openArchive(join(directory, 'archive'), { segmentBytes: 30_000 });
  archive.recover({ segment: 0, length: 0 });
  let syncs = 0;
  const sync = archive.sync.bind(archive);
  let last: Promise<void> = Promise.resolve();
  archive.sync = () => {
    syncs++;
    last = sync();
    return last;
  };
  let now = 10_000;
  const batch = new Batch({ ledger, archive, clock: { ...systemClock, ticks: () => now } }, new Acknowledgements());
  for (let i = 0; i < 40; i++) {
    batch.open(1);
    archive.append(testParcel(i, i + 1).members);
    batch.commit();
    now += 250;
    await last; // however slow the disk is
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  assert.ok(syncs >= 9 && syncs <= 11, `${syncs} in ten seconds`);
  assert.ok(ledger.storage.segments.all().length >= 3, 'it rolled meanwhile');
  archive.sync = () => Promise.reject(new Error('EIO: the disk is broken'));
  now += 1000;
  batch.open(1);
  batch.commit();
  await new Promise(resolve => setTimeout(resolve, 5));
  batch.open(1);
  assert.throws(() => batch.commit(), /the disk is broken/);
  archive.sync = sync;
  await archive.close();
  ledger.abandon();
  ledger.close();
});
