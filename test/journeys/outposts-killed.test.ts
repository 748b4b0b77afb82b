/** kill -9 of every level in turn, home included, while a crawl goes on through all of them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { FAR_PARCELS } from '../../src/outpost/workers/tools.ts';
import { freePort } from '../free-port.ts';
import { openWeb, type Web } from '../web/web.ts';
import { invite, type OutpostProcess, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, type Running, skeinJson, start, workplace } from './skein.ts';

/** Milliseconds between requests to one server. */
const PACE = 200;
/**
 * Pages of one server that an outpost has asked for and not yet on its disk: those of the parcel that it is filling, by the
 * parcel's age, and the one that is on its way. All that was on its disk is delivered when it starts again, and what home
 * had not acknowledged when home died is sent again.
 */
const AT_HAND = Math.ceil(FAR_PARCELS.explore.age / PACE) + 1;

/** Requests made again. */
function repeated(web: Web): number {
  return web.mustFind().reduce((sum, url) => sum + web.requests(url) - 1, 0);
}

test('no page is lost and none that arrived is asked for again, whoever dies', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 5, servers: 8, pagesPerServer: 40, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const a = await startOutpost('a', place.path, await invite(data, port));
  const b = await startOutpost('b', place.path, await invite(a.directory, a.port));
  const c = await startOutpost('c', place.path, await invite(b.directory, b.port));
  const outposts: readonly OutpostProcess[] = [c, b, a];
  const crawl = [
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--json'],
    ...[
      '--pace',
      String(PACE / 1000),
      '--set',
      'threads=0',
      '--listen',
      `127.0.0.1:${port}`,
      '--levels',
      '3',
      ...UNAUDITED,
    ],
  ];
  let home: Running = start([...crawl, '--max-pages', '1']);
  try {
    await Promise.all(outposts.map(each => each.running.says('Serving')));
    await home.ended;
    home = start(crawl);
    for (const [turn, outpost] of outposts.entries()) {
      await requests(web, 50 + turn * 60);
      await outpost.kill();
      outpost.again();
    }
    await requests(web, 240);
    home.child.kill('SIGKILL');
    await home.ended;
    home = start(crawl);
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    // Each outpost died once, and may have been at all servers.
    const most = outposts.length * web.origins.length * AT_HAND;
    assert.ok(repeated(web) <= most, `${repeated(web)} requests were made again, more than ${most}`);
    const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
    assert.deepEqual(books.problems, []);
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all(outposts.map(each => each.kill()));
  }
});

test('what an outpost had on its disk when it died is delivered when it starts again, and not asked for again', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 6, servers: 2, pagesPerServer: 60, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const outpost = await startOutpost('a', place.path, await invite(data, port));
  const home = start([
    ...['crawl', ...web.seeds, '--data', data, '--scope', '*', '--allow-private', '--json'],
    ...['--pace', String(PACE / 1000), '--set', 'threads=0', '--listen', `127.0.0.1:${port}`, ...UNAUDITED],
  ]);
  try {
    await requests(web, 10);
    home.child.kill('SIGSTOP'); // nothing is acknowledged from here on
    await requests(web, 70);
    await outpost.kill();
    outpost.again();
    home.child.kill('SIGCONT');
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    const most = web.origins.length * AT_HAND;
    assert.ok(repeated(web) <= most, `${repeated(web)} requests were made again, more than ${most}`);
  } finally {
    home.child.kill('SIGKILL');
    await outpost.kill();
  }
});

/** Waits until the web was asked so often. */
async function requests(web: Web, count: number): Promise<void> {
  while (web.requests() < count) await new Promise(resolve => setTimeout(resolve, 50));
}
