/**
 * The server of the third paper: a peer that keeps books and fetches nothing, with machines that fetch for it and join and
 * vanish while it works; beside it a peer that fetches by itself.
 */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { noNats } from '../cluster/nats.ts';
import { freePort } from '../free-port.ts';
import { openWeb } from '../web/web.ts';
import { invite, startOutpost, UNAUDITED } from './outpost-processes.ts';
import { checkAllBooks, openCluster, requests, visited } from './peers.ts';

const skip = noNats() || false;

test('a peer without threads of its own crawls by outposts that join and die', { skip }, async t => {
  await using web = await openWeb({ servers: 8, pagesPerServer: 50, seed: 31, latency: 5, addresses: true });
  await using cluster = await openCluster();
  const port = await freePort();
  const crawl = [...web.seeds, '--allow-private', '--pace', '0.2', '--scope', '*', '--set', 'partitions=8'];
  const ledgers = await cluster.join('ledgers', [
    ...crawl,
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`, ...UNAUDITED],
  ]);
  const place = join(dirname(ledgers.data), 'far');
  const first = await startOutpost('first', place, await invite(ledgers.data, port));
  let second: Awaited<ReturnType<typeof startOutpost>> | undefined;
  try {
    await requests(web, 20);
    const own = await cluster.join('own');
    second = await startOutpost('second', place, await invite(ledgers.data, port));
    await requests(web, 120);
    await first.kill();
    const died = web.log.length;
    const ran = await cluster.ended();
    const found = visited([ledgers, own]);
    assert.deepEqual(
      web.mustFind().filter(url => !found.has(url)),
      [],
    );
    assert.deepEqual(
      [...found.values()].filter(({ places }) => places.length > 1),
      [],
    );
    await checkAllBooks([ledgers, own], 'at the end');
    const pages = ran.map(({ stdout }) => JSON.parse(stdout.toString()).pages as number);
    assert.ok(pages[0]! > 0, `the peer without threads has its share: ${pages}`);
    const twice = web.mustFind().filter(url => web.requests(url) > 1).length;
    t.diagnostic(
      `pages by peer: ${pages}; asked for twice: ${twice}; requests after the kill: ${web.log.length - died}`,
    );
    assert.ok(twice <= 20, `only what the dead one had under way is asked for again: ${twice}`);
  } finally {
    await Promise.all([first, second].map(each => each?.kill()));
  }
});
