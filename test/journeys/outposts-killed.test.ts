/** kill -9 of every level in turn, home included, while a crawl goes on through all of them. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openWeb, type Web } from '../web/web.ts';
import { freePort, invite, type OutpostProcess, startOutpost, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, type Running, skeinJson, start, workplace } from './skein.ts';

const SERVERS = 8;
const PAGES = 40;
const DEATHS = 4;
/** Pages that a machine may have asked for and not yet sent: some of each server, as many as a loaded machine gets to. */
const AT_HAND = 32;

test('no page is lost and none that arrived is asked for again, whoever dies', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 5, servers: SERVERS, pagesPerServer: PAGES, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const a = await startOutpost('a', place.path, await invite(data, port));
  const b = await startOutpost('b', place.path, await invite(a.directory, a.port));
  const c = await startOutpost('c', place.path, await invite(b.directory, b.port));
  const outposts: readonly OutpostProcess[] = [c, b, a];
  const crawl = [
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0.2', '--json'],
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`, '--levels', '3'],
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
    // Whoever dies takes the parcels along that it was filling: the last seconds of the servers that it was at.
    assert.deepEqual(visitedTwice(data), []);
    const again = web.mustFind().reduce((sum, url) => sum + web.requests(url) - 1, 0);
    assert.ok(again <= DEATHS * AT_HAND, `${again} requests were made again`);
    const books = await skeinJson<{ problems: string[] }>('verify', '--data', data);
    assert.deepEqual(books.problems, []);
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all(outposts.map(each => each.kill()));
  }
});

/** Waits until the web was asked so often. */
async function requests(web: Web, count: number): Promise<void> {
  while (web.requests() < count) await new Promise(resolve => setTimeout(resolve, 50));
}
