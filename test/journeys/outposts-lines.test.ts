/** Lines that break, clocks that are wrong, versions that differ: with real processes at both ends. */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { DAY } from '../../src/base/clock.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { PROTOCOL } from '../../src/errand/errand.ts';
import { FAR_PARCELS } from '../../src/outpost/workers/tools.ts';
import { greetParent } from '../../src/transfer/entry/greeting.ts';
import { readToken } from '../../src/transfer/entry/token.ts';
import { dial } from '../../src/transfer/websocket.ts';
import { freePort } from '../free-port.ts';
import { makeSpeaker } from '../transfer/places.ts';
import { noSshd, openSshd } from '../transfer/sshd.ts';
import { openWeb } from '../web/web.ts';
import { askedAgain, invite, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, start, workplace } from './skein.ts';

/** Milliseconds between requests to one server. */
const PACE = 100;

test('an ssh that is killed is started again, and the crawl goes on where it was', {
  skip: noSshd() || false,
}, async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 51, servers: 3, pagesPerServer: 40 });
  await using sshd = await openSshd(place.path, { node: dirname(process.execPath) });
  const data = join(place.path, 'home');
  const path = process.env['PATH'];
  process.env['PATH'] = `${sshd.bin}:${path}`;
  try {
    const home = start([
      ...[
        'crawl',
        web.seeds[0]!,
        '--data',
        data,
        '--scope',
        '*',
        '--allow-private',
        '--pace',
        String(PACE / 1000),
        '--json',
      ],
      ...['--outpost', sshd.url, ...UNAUDITED],
    ]);
    while (web.requests() < 40) await new Promise(resolve => setTimeout(resolve, 20));
    for (const pid of childrenOf(home.child.pid!)) process.kill(pid, 'SIGKILL');
    await home.says(`The connection to ${sshd.url} is back.`);
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
  } finally {
    process.env['PATH'] = path;
  }
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  assert.deepEqual(visitedTwice(data), []);
  // Those that were asked for and in no parcel yet when it was killed.
  const most = web.origins.length * (Math.ceil(FAR_PARCELS.explore.age / PACE) + 1);
  assert.ok(askedAgain(web).length <= most, `${askedAgain(web).length} pages were asked for again, more than ${most}`);
});

test('an outpost whose clock is days behind works in the time of its home', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 52, servers: 2, pagesPerServer: 10 });
  const module = join(place.path, 'behind.mjs');
  writeFileSync(module, `const { now } = Date; Date.now = () => now() - ${3 * DAY};`);
  const data = join(place.path, 'home');
  const port = await freePort();
  const token = await invite(data, port);
  const outpost = await startOutpost('late', place.path, token, { node: ['--import', pathToFileURL(module).href] });
  const started = Date.now();
  const home = start([
    ...['crawl', web.seeds[0]!, '--data', data, '--scope', '*', '--allow-private', '--pace', '0', '--json'],
    ...['--set', 'threads=0', '--listen', `127.0.0.1:${port}`],
  ]);
  try {
    const ran = await home.ended;
    assert.equal(ran.code, 0, ran.stderr);
    assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
    const ledger = openLedger(data);
    const times = ledger['database'].prepare('SELECT min(time) AS first, max(time) AS last FROM visits').get()!;
    ledger.close();
    assert.ok((times['first'] as number) > started - DAY / 24 && (times['last'] as number) < Date.now() + DAY / 24);
  } finally {
    home.child.kill('SIGKILL');
    await outpost.kill();
  }
});

test('another version is refused, and both ends say which two they are', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 53, servers: 1, pagesPerServer: 5 });
  const data = join(place.path, 'home');
  const port = await freePort();
  const address = readToken(await invite(data, port));
  const home = start([
    ...[
      'crawl',
      web.seeds[0]!,
      '--data',
      data,
      '--allow-private',
      '--set',
      'threads=0',
      '--listen',
      `127.0.0.1:${port}`,
    ],
  ]);
  try {
    const stream = await reach(address);
    const newer = makeSpeaker('near', { protocol: 99, software: '9.9.9' });
    const words = { token: '', cores: 1, room: 1, platform: '', servers: [], holding: [] };
    const both = new RegExp(`protocol ${PROTOCOL} \\(Skein [\\d.]+\\).*protocol 99 \\(Skein 9\\.9\\.9\\)`);
    await assert.rejects(greetParent(stream, newer, words), { code: 'version-mismatch', message: both });
    await home.says('protocol 99 (Skein 9.9.9)');
    home.child.kill('SIGINT');
    assert.match((await home.ended).stderr, both);
  } finally {
    home.child.kill('SIGKILL');
  }
});

/** Processes that a process of Linux has started: of home, its ssh. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

/** Dials until home listens. */
async function reach(address: Parameters<typeof dial>[0]): Promise<Awaited<ReturnType<typeof dial>>> {
  for (;;) {
    try {
      return await dial(address);
    } catch {
      await new Promise(resolve => setTimeout(resolve, 100)); // it has not started yet
    }
  }
}
