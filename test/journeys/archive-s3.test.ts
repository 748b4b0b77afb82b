/** `--archive s3://…`: the disk of the machine is lost, and everything is read as it was. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { openDisk } from '../../src/archive/store/disk-segments.ts';
import { backupCollection } from '../../src/engine/house/backup.ts';
import { forgetIn } from '../../src/engine/house/forget.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { notCopied } from '../../src/home/offsite/offsite.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { noSwift, type S3Server, startS3 } from '../home/offsite/s3-server.ts';
import { openWeb } from '../web/web.ts';
import { crawlHere, fast, skein, skeinJson, start, workplace } from './skein.ts';

if (noSwift) test('an archive in S3', { skip: noSwift }, () => {});
else {
  let server: S3Server;
  before(async () => {
    server = await startS3();
    await server.makeBucket('pages');
    Object.assign(process.env, server.environment);
  });
  after(async () => server[Symbol.asyncDispose]());

  const loseDisk = (data: string) => {
    const archive = join(data, 'archive');
    for (const name of readdirSync(archive)) rmSync(join(archive, name), { recursive: true });
  };

  const segmentsOn = (data: string) => {
    const disk = openDisk(join(data, 'archive'));
    return disk.here.list();
  };

  const looking = <T>(data: string, look: (ledger: Ledger) => T): T => {
    const ledger = openLedger(data);
    const told = look(ledger);
    void Promise.resolve(told).finally(() => ledger.close());
    return told;
  };

  const problems = async (data: string) => (await looking(data, verifyCollection)).problems;
  const left = (data: string) => looking(data, notCopied);

  test('what was crawled is read from the copies, byte by byte, and gone on with', async () => {
    await using web = await openWeb({ seed: 51, servers: 2, pagesPerServer: 30 });
    using place = workplace();
    const data = join(place.path, 'data');
    const extras = { archive: { segmentBytes: 60_000 } };
    await crawlHere({ data, scope: '*', archive: 's3://pages/whole' }, web.seeds, extras);
    const segments = segmentsOn(data);
    assert.ok(segments.length > 2, String(segments.length));
    assert.equal((await skeinJson('status', '--data', data))['notCopied'], 0);
    const url = `${web.origins[0]!}/`;
    const read = async () => {
      const exported = await skein(['export', '--format', 'jsonl', '--data', data]);
      const index = await skein(['export', '--format', 'cdxj', '--data', data]);
      const { stdout, stderr } = await skein(['cat', url, '--data', data]);
      assert.equal(exported.code, 0, exported.stderr);
      return [exported.stdout.toString(), index.stdout.toString(), stdout.toString(), stderr];
    };
    const before = await read();
    assert.ok(before[0]!.length > 10_000);
    loseDisk(data);
    assert.deepEqual(await read(), before);
    const verified = await skein(['verify', '--data', data]);
    assert.equal(verified.code, 0, verified.stdout.toString() + verified.stderr);
    const kept = join(place.path, 'kept');
    await backupCollection(data, kept);
    assert.deepEqual(segmentsOn(kept), segments, 'a backup has them all');
    // The next run remembers the place, brings back what it writes to, and copies what it adds.
    await crawlHere({ data, scope: '*' }, [], extras);
    assert.equal(segmentsOn(data).at(-1)!.id, segments.at(-1)!.id);
    assert.deepEqual(await problems(data), []);
    assert.equal((await skein(['search', 'page', '--data', data])).code, 0);
    await forgetIn(data, [url]);
    assert.deepEqual(await problems(data), []);
    assert.equal(left(data), 0);
    const named = new Set(segmentsOn(data).map(({ id }) => id));
    for (const name of await server.names('pages')) {
      const id = /whole\/segment-(\d+)/.exec(name)?.[1];
      assert.ok(id === undefined || named.has(Number(id)), `${name} holds what was forgotten`);
    }
  });

  test('a killed run is gone on with, and the copies become whole', async () => {
    await using web = await openWeb({ seed: 52, servers: 2, pagesPerServer: 60, latency: 20 });
    using place = workplace();
    const data = join(place.path, 'data');
    const args = ['crawl', ...web.seeds, '--data', data, '--scope', '*', ...fast];
    const run = start([...args, '--archive', 's3://pages/killed']);
    while ((await server.names('pages')).every(name => !name.startsWith('killed/segment'))) await Promise.resolve();
    run.child.kill('SIGKILL');
    await run.ended;
    assert.equal((await skein(args)).code, 0);
    assert.equal(left(data), 0);
    loseDisk(data);
    assert.deepEqual(await problems(data), []);
  });

  test('a place that takes nothing is refused at once, in one sentence, and nothing is made', async () => {
    await using web = await openWeb({ seed: 53, servers: 1, pagesPerServer: 3 });
    using place = workplace();
    const data = join(place.path, 'data');
    const { code, stderr } = await skein([
      'crawl',
      ...web.seeds,
      '--data',
      data,
      ...fast,
      '--archive',
      's3://nowhere/x',
    ]);
    assert.notEqual(code, 0);
    assert.match(stderr, /^skein: There is no bucket nowhere at 127[^\n]*\nCreate it, or correct its name\.\n$/m);
    const crawl = (archive?: string, into = data) => crawlHere({ data: into, ...(archive && { archive }) }, web.seeds);
    await assert.rejects(crawl('ftp://x'), /ftp:\/\/x is not a place for an archive/);
    const right = process.env['AWS_ENDPOINT_URL'];
    process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:9';
    await assert.rejects(crawl('s3://pages/x'), /127\.0\.0\.1:9 does not answer: ECONNREFUSED/);
    process.env['AWS_ENDPOINT_URL'] = right;
    assert.throws(() => readdirSync(data));
    await crawl('s3://pages/mine');
    await assert.rejects(
      crawl('s3://pages/mine', join(place.path, 'other')),
      /holds the archive of another collection/,
    );
    // One that was remembered and is gone stops nothing.
    process.env['AWS_ENDPOINT_URL'] = 'http://127.0.0.1:9';
    const later = await skein(['crawl', ...web.seeds, '--data', data, ...fast, '--depth', '9']);
    process.env['AWS_ENDPOINT_URL'] = right;
    assert.equal(later.code, 0, later.stderr);
    assert.match(later.stderr, /The archive cannot be copied: 127\.0\.0\.1:9 does not answer: ECONNREFUSED\./);
  });
}
