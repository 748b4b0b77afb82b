/** Segments with copies in a real S3: the contract of every store, then what only copies can go wrong with. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDisk } from '../../../src/archive/store/disk-segments.ts';
import { Copier } from '../../../src/home/offsite/copier.ts';
import type { ObjectStore } from '../../../src/home/offsite/objects.ts';
import { OffsiteSegments } from '../../../src/home/offsite/offsite-segments.ts';
import { BLOCK, CopiedSource, piecesIn } from '../../../src/home/offsite/pieces.ts';
import { openS3 } from '../../../src/home/offsite/s3-objects.ts';
import { allOf, checkSegmentStore } from '../../contracts/segment-store.ts';
import { randomly } from '../../random.ts';
import { noSwift, type S3Server, startS3 } from './s3-server.ts';

if (noSwift) test('segments in S3', { skip: noSwift }, () => {});
else {
  let server: S3Server;
  let prefixes = 0;
  before(async () => {
    server = await startS3();
    await server.makeBucket('pages');
  });
  after(async () => server[Symbol.asyncDispose]());

  const objectsAt = (address: string, more: Record<string, string> = {}): ObjectStore =>
    openS3(address, { ...server.environment, ...more });

  /** A disk, and a prefix of its own. */
  const place = () => {
    const directory = mkdtempSync(join(tmpdir(), 'skein-offsite-'));
    const objects = objectsAt(`s3://pages/run-${++prefixes}/of tests`);
    const disk = openDisk(join(directory, 'archive'));
    return {
      ...{ directory, objects, disk },
      noted: () => disk.here.list().map(({ id, bytes }) => ({ id, length: bytes })),
      [Symbol.dispose]() {
        disk.close();
        objects.close();
        rmSync(directory, { recursive: true });
      },
    };
  };

  const segmentsIn = (directory: string, objects: ObjectStore) =>
    new OffsiteSegments({
      directory,
      named: () => [-1], // always ask
      open: async () => ({
        source: new CopiedSource(objects),
        async remove(id) {
          for (const { name } of (await piecesIn(objects, id)).get(id) ?? []) await objects.remove(name);
        },
        close: () => {},
      }),
    });

  checkSegmentStore('disk and S3', async () => {
    const { directory, objects, ...rest } = place();
    return {
      store: segmentsIn(directory, objects),
      again: () => segmentsIn(directory, objects),
      [Symbol.asyncDispose]: async () => rest[Symbol.dispose](),
    };
  });

  const bytesOf = (seed: number, length: number): Buffer => {
    const random = randomly(seed);
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 4) bytes.writeUInt32LE(random.below(2 ** 32), Math.min(at, length - 4));
    return bytes;
  };

  test('what was copied is read where the disk has lost it, the growing one included', async () => {
    using at = place();
    const copier = new Copier(at.directory, at.objects);
    const first = bytesOf(1, 70_000);
    for (const part of [first.subarray(0, 1000), first.subarray(1000, 30_000), first.subarray(30_000)]) {
      at.disk.append(1, part);
      await copier.turn(at.noted());
    }
    at.disk.append(2, bytesOf(2, 500));
    await copier.turn([...at.noted().slice(0, 1), { id: 2, length: 400 }]);
    assert.deepEqual(
      [...copier.copied()],
      [
        [1, 70_000],
        [2, 400],
      ],
    ); // what the ledger has committed, and no more
    copier.close();
    for (const id of [1, 2]) at.disk.removeHere(id);
    const store = segmentsIn(at.directory, at.objects);
    assert.deepEqual(await store.list(), [
      { id: 1, bytes: 70_000 },
      { id: 2, bytes: 400 },
    ]);
    assert.ok((await allOf(store, 1)).equals(first));
    const middle = Buffer.alloc(40_000);
    assert.equal(await store.read(1, 500, middle), 40_000, 'over several pieces');
    assert.ok(middle.equals(first.subarray(500, 40_500)));
    store.close();
  });

  test('a full block becomes one piece, and reads that began before find it', async () => {
    using at = place();
    const copier = new Copier(at.directory, at.objects);
    const bytes = bytesOf(3, BLOCK + 5000);
    at.disk.append(1, bytes.subarray(0, 2000));
    await copier.turn(at.noted());
    const early = new CopiedSource(at.objects);
    assert.equal((await allOf(early, 1, 3000)).length, 2000);
    at.disk.append(1, bytes.subarray(2000));
    await copier.turn(at.noted());
    copier.close();
    const names = (await at.objects.list('segment-')).map(({ bytes: length }) => length);
    assert.deepEqual(names, [BLOCK, 5000]);
    assert.ok((await allOf(early, 1, 2000)).equals(bytes.subarray(0, 2000)));
    assert.ok((await allOf(new CopiedSource(at.objects), 1, BLOCK + 9000)).equals(bytes));
  });

  test('what another run copied and this disk has otherwise is copied anew; what nobody names goes', async () => {
    using at = place();
    at.disk.append(1, bytesOf(4, 9000));
    at.disk.append(2, bytesOf(5, 900));
    const before = new Copier(at.directory, at.objects);
    await before.turn(at.noted());
    before.close();
    at.disk.removeHere(2);
    at.disk.cut(1, 5000); // as after a power cut
    at.disk.append(1, bytesOf(6, 6000));
    const copier = new Copier(at.directory, at.objects);
    await copier.turn(at.noted());
    copier.close();
    const source = new CopiedSource(at.objects);
    assert.deepEqual(await source.list(), [{ id: 1, bytes: 11_000 }]);
    assert.ok((await allOf(source, 1)).equals(await allOf(at.disk, 1)));
  });

  test('a copy that was changed is not taken back', async () => {
    using at = place();
    const copier = new Copier(at.directory, at.objects);
    at.disk.append(1, bytesOf(7, 3000));
    await copier.turn(at.noted());
    copier.close();
    const [name] = (await server.names('pages')).filter(each => each.startsWith(`run-${prefixes}/`));
    await server.overwrite('pages', encodeURI(name!), bytesOf(8, 3000));
    const whole = async () => {
      for await (const _ of new CopiedSource(at.objects).whole(1));
    };
    await assert.rejects(whole(), { code: 'damaged' });
  });

  test('each failure is one sentence, and nothing of the key is in it', async () => {
    const refused = async (objects: ObjectStore, pattern: RegExp) => {
      await assert.rejects(objects.list(''), (error: Error) => {
        assert.match(error.message, pattern);
        assert.doesNotMatch(error.message, /wonderland|alice|wrong-secret/);
        return true;
      });
      objects.close();
    };
    await refused(objectsAt('s3://nowhere/x'), /^There is no bucket nowhere at 127\.0\.0\.1:\d+\.$/);
    await refused(
      objectsAt('s3://pages/x', { AWS_SECRET_ACCESS_KEY: 'wrong-secret' }),
      /refuses the key for the bucket pages: SignatureDoesNotMatch\.$/,
    );
    await refused(
      objectsAt('s3://pages/x', { AWS_ENDPOINT_URL: 'http://127.0.0.1:9' }),
      /does not answer: ECONNREFUSED\.$/,
    );
    assert.throws(() => openS3('s3://pages/x', { HOME: '/nonexistent' }), /There are no credentials for S3\./);
    for (const bad of ['s3://', 's3://B', 'pages/x', 's3://pages/../x', 'https://pages.example.org'])
      assert.throws(() => objectsAt(bad), { code: 'bad-option' }, bad);
  });

  test('a full bucket is told, and copying goes on when there is room', async () => {
    using at = place();
    await server.makeBucket('small');
    await server.limit('small', 1000);
    const objects = objectsAt('s3://small/here');
    const copier = new Copier(at.directory, objects);
    at.disk.append(1, bytesOf(9, 1500));
    await assert.rejects(copier.turn(at.noted()), /^SkeinError: The bucket small is full\.$/);
    await server.limit('small', 0);
    await copier.turn(at.noted());
    assert.ok((await allOf(new CopiedSource(objects), 1)).equals(await allOf(at.disk, 1)));
    copier.close();
    objects.close();
  });
}
