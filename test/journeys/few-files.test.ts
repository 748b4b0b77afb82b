/** Few open files make a crawl slower, not wrong; a process that was stopped does not blame servers for it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWeb } from '../web/web.ts';
import { pause } from './kills.ts';
import { collected, fast, pagesOf, skein, start, workplace } from './skein.ts';

const under = (limit: string) => ['sh', '-c', `${limit}; exec "$@"`, 'sh'];

test('with 256 open files 350 servers are visited, and none is said to be late', async () => {
  await using web = await openWeb({ seed: 8, servers: 350, pagesPerServer: 1, crossLinks: 0 });
  using place = workplace();
  const seeds = web.origins.map(origin => `${origin}/`);
  const crawl = ['crawl', ...seeds, '--data', place.path, ...fast, '--depth', '0'];
  const { code, stderr } = await skein(crawl, { within: under('ulimit -n 256') });
  assert.equal(code, 0, stderr);
  assert.equal(collected(await pagesOf(place.path)).length, 350);
});

test('too few for so many threads is one sentence', async () => {
  using place = workplace();
  const crawl = ['crawl', 'http://127.0.0.1:9/', '--data', join(place.path, 'x'), ...fast, '--set', 'threads=64'];
  const { code, stderr } = await skein(crawl, { within: under('ulimit -n 256') });
  assert.equal(code, 1, stderr);
  assert.match(stderr, /^skein: Only 256 files may be open at once, too few for 64 threads\.\nRaise the limit/);
});

test('a crawl that is stopped for longer than servers may take goes on where it was', async () => {
  await using web = await openWeb({ seed: 8, pagesPerServer: 30 });
  using place = workplace();
  const held = web.hold(8);
  const running = start(['crawl', ...web.seeds, '--data', place.path, ...fast]);
  await held;
  running.child.kill('SIGSTOP');
  web.release();
  await pause(500);
  running.child.kill('SIGCONT');
  const { code, stderr } = await running.ended;
  assert.equal(code, 0, stderr);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
});
