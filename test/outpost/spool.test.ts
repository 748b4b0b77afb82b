/** The spool: what was put is there after a death, leaves in order, and a full disk is said and survived. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Spool } from '../../src/outpost/spool.ts';
import type { ErrandFrame, ParcelFrame } from '../../src/transfer/wire/frames.ts';
import { makePlace } from '../transfer/places.ts';

const errand = (id: string): ErrandFrame => ({
  kind: 'errand',
  errand: id,
  warrant: Buffer.from('w'),
  bytes: Buffer.from(`errand ${id}`),
});
const parcel = (id: string, sequence: number, size = 100, done = false): ParcelFrame => ({
  kind: 'parcel',
  errand: id,
  sequence,
  done,
  visits: 1,
  by: '',
  bytes: Buffer.alloc(size, sequence),
});
const names = (spool: Spool) => [...spool.parcels()].map(each => `${each.errand} ${each.sequence}`);

test('a spool that is opened again has what was put, in order, and drops what was cut short', async () => {
  using place = makePlace();
  const before = new Spool(place.path, 1e9);
  await before.take(errand('a'), '');
  await before.take(errand('b'), 'child');
  for (let sequence = 0; sequence < 12; sequence++) await before.put(parcel('a', sequence, 100, sequence === 11));
  await before.put(parcel('b', 0));
  before.acknowledge('a', 2);
  await before.settle();
  writeFileSync(join(place.path, 'a.12.parcel'), 'half a fra');
  const after = new Spool(place.path, 1e9);
  assert.deepEqual(names(after), [...Array.from({ length: 9 }, (_, i) => `a ${i + 3}`), 'b 0']);
  assert.deepEqual(
    [...after.errands.values()].map(({ frame, to, ended }) => [frame.errand, to, ended]),
    [
      ['a', '', true],
      ['b', 'child', false],
    ],
  );
  const [first] = [...after.parcels()];
  assert.ok(after.read(first!)!.length > 100);
  after.forget('a');
  after.forget('b');
  await after.settle();
  assert.deepEqual(readdirSync(place.path), []);
  assert.equal(after.bytes, 0);
});

test('more than it may hold makes it full until enough was acknowledged', async () => {
  using place = makePlace();
  const spool = new Spool(place.path, 500);
  for (let sequence = 0; sequence < 5; sequence++) await spool.put(parcel('a', sequence, 200));
  assert.equal(spool.full, true);
  assert.match(spool.trouble, /the limit is 500/);
  spool.acknowledge('a', 3);
  assert.equal(spool.full, false);
});

test('a full disk takes no errand, loses no parcel, and is left behind when there is room again', async context => {
  using place = makePlace();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200k', 'tmpfs', place.path], { stdio: 'ignore' });
  } catch {
    return context.skip('a small file system cannot be mounted here');
  }
  try {
    const spool = new Spool(join(place.path, 'parcels'), 1e9);
    await spool.take(errand('a'), '');
    writeFileSync(join(place.path, 'ballast'), Buffer.alloc(100_000));
    for (let sequence = 0; sequence < 10; sequence++) await spool.put(parcel('a', sequence, 30_000));
    assert.equal(spool.full, true);
    assert.equal(spool.trouble, 'The disk of the outpost is full.');
    await assert.rejects(spool.take({ ...errand('b'), bytes: Buffer.alloc(50_000) }, ''));
    assert.equal(spool.errands.has('b'), false);
    // Every parcel can still be sent, from memory where the disk refused it.
    for (const each of spool.parcels()) assert.ok(spool.read(each)!.length > 30_000);
    rmSync(join(place.path, 'ballast'));
    spool.acknowledge('a', 6);
    await spool.settle();
    await spool.retry();
    assert.equal(spool.full, false);
    assert.deepEqual(names(new Spool(join(place.path, 'parcels'), 1e9)), ['a 7', 'a 8', 'a 9']);
  } finally {
    execFileSync('umount', ['-l', place.path]);
  }
});
