/** Machines that come and go while a paced crawl runs: who joins gets a share, what the dead had goes to the living. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { freePort } from '../free-port.ts';
import { openWeb, type Web } from '../web/web.ts';
import { invite, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, type Running, start, workplace } from './skein.ts';

/** Milliseconds between requests to one server. */
const PACE = 200;

function crawl(web: Web, data: string, port: number): Running {
  return start([
    ...['crawl', ...web.seeds, '--data', data, '--scope', '*', '--allow-private', '--pace', String(PACE / 1000)],
    ...['--json', '--set', 'threads=0', '--listen', `127.0.0.1:${port}`, ...UNAUDITED],
  ]);
}

async function requests(web: Web, count: number): Promise<void> {
  while (web.requests() < count) await new Promise(resolve => setTimeout(resolve, 50));
}

function visitsOf(data: string, outpost: string): number {
  const ledger = openLedger(data);
  const row = ledger['database'].prepare('SELECT count(*) AS n FROM visits WHERE outpost = ?').get(outpost);
  ledger.close();
  return row!['n'] as number;
}

test('a machine that joins a crawl whose servers all have an outpost gets its share of them', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 61, servers: 4, pagesPerServer: 50, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const first = await startOutpost('first', place.path, await invite(data, port));
  const token = await invite(data, port);
  const home = crawl(web, data, port);
  let second: Awaited<ReturnType<typeof startOutpost>> | undefined;
  try {
    await requests(web, 20);
    second = await startOutpost('second', place.path, token);
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    const share = visitsOf(data, 'second') / web.mustFind().length;
    assert.ok(share > 0.1, `it made ${Math.round(share * 100)} % of the visits`);
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all([first, second].map(each => each?.kill()));
  }
});

test('what a killed outpost had is visited by another long before its lease is over', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 62, servers: 4, pagesPerServer: 30, addresses: true });
  const data = join(place.path, 'home');
  const port = await freePort();
  const outposts = [
    await startOutpost('one', place.path, await invite(data, port)),
    await startOutpost('two', place.path, await invite(data, port)),
  ];
  const home = crawl(web, data, port);
  try {
    await home.says('The outpost one is here.');
    await home.says('The outpost two is here.');
    await requests(web, 30);
    await outposts[0]!.kill();
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    assert.deepEqual(visitedTwice(data), []);
    assert.doesNotMatch(ran.stderr, /one is lost/, 'its lease was waited for');
  } finally {
    home.child.kill('SIGKILL');
    await Promise.all(outposts.map(each => each.kill()));
  }
});
