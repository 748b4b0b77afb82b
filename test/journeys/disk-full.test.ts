/** A disk that fills up in the middle of a crawl. Needs a file system of its own, so it runs as root on Linux only. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWeb } from '../web/web.ts';
import { collected, fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

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
