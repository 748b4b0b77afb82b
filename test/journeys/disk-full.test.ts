/** A disk that fills up in the middle of something. Needs a file system of its own, so it runs as root on Linux only. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { backupCollection } from '../../src/engine/house/backup.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { NotTaken, sinkTo } from '../../src/engine/sinks/sink.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openWeb } from '../web/web.ts';
import { collected, crawlHere, fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

function mount(...args: string[]): boolean {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
    return true;
  } catch {
    return false; // no right, or no such tool: the test says that it is skipped
  }
}

test('a full disk stops the crawl with a sentence; with room it goes on and completes', async t => {
  using place = workplace();
  if (!mount('-t', 'tmpfs', '-o', 'size=2m', 'skein-test', place.path)) {
    t.skip('a small file system can only be mounted by root');
    return;
  }
  using _mounted = { [Symbol.dispose]: () => execFileSync('umount', [place.path]) };
  await using web = await openWeb({ seed: 9, servers: 2, pagesPerServer: 200, paragraphs: 60 });
  const data = join(place.path, 'data');
  const crawl = ['crawl', ...web.seeds, '--data', data, ...fast, '--scope', '*', '--json'];
  let stops = 0;
  for (let megabytes = 3; ; megabytes += 2) {
    const { code, stderr } = await skein(crawl);
    assert.deepEqual((await skeinJson('verify', '--data', data))['problems'], [], `after stop ${stops + 1}`);
    if (code === 0) break;
    stops++;
    assert.equal(code, 5, stderr);
    assert.match(stderr, /The disk is full/);
    assert.match(stderr, /run the same command again/);
    assert.doesNotMatch(stderr, /should not happen/);
    assert.ok(megabytes < 30, 'it needs no more than this');
    mount('-o', `remount,size=${megabytes}m`, place.path);
  }
  assert.ok(stops >= 2, 'the disk was full more than once');
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
});

async function problems(data: string): Promise<readonly string[]> {
  using opened = new DisposableStack();
  return (await verifyCollection(opened.adopt(openLedger(data), each => each.close()))).problems;
}

test('a backup and a part that is brought are there whole or not at all, wherever the disk ends', async t => {
  using place = workplace();
  await using web = await openWeb({ seed: 9, pagesPerServer: 30, paragraphs: 60 });
  const [data, disk] = [join(place.path, 'data'), join(place.path, 'disk')];
  await crawlHere({ data }, web.seeds);
  const text = 'a line of a part\n'.repeat(6000);
  mkdirSync(disk);
  // The system takes as much of a write as there is room for, and says so by its length alone.
  let [whole, failed] = [0, 0];
  for (let kilobytes = 64; whole === 0; kilobytes += 24) {
    if (!mount('-t', 'tmpfs', '-o', `size=${kilobytes}k`, 'skein-test', disk))
      return t.skip('a small file system can only be mounted by root');
    using _mounted = { [Symbol.dispose]: () => execFileSync('umount', [disk]) };
    const part = sinkTo(join(disk, 'parts'));
    const taken = await part.take({ id: 'a', number: 1, text }, new AbortController().signal).then(
      () => true,
      error => assert.ok(error instanceof NotTaken, String(error)),
    );
    const file = join(disk, 'parts', 'chunks-00000001.jsonl');
    assert.equal(existsSync(file), taken === true, `${kilobytes} kB`);
    if (taken) assert.ok(readFileSync(file, 'utf8') === text, `a part in ${kilobytes} kB`);
    rmSync(join(disk, 'parts'), { recursive: true });
    const kept = join(disk, 'kept');
    const made = await backupCollection(data, kept).catch(() => undefined);
    if (made) assert.deepEqual(await problems(kept), [], `a backup in ${kilobytes} kB`);
    if (made) whole++;
    else failed++;
  }
  assert.ok(failed > 3, `${failed} disks were too small`);
});
