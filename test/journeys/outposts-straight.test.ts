/** Parcels past the parent: an outpost of an outpost delivers at home's door itself while it can, and else as before. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openLedger } from '../../src/engine/open-ledger.ts';
import type { Machine } from '../../src/home/machines/machines.ts';
import { OUTPOSTS_FILE } from '../../src/home/machines/placement.ts';
import { FAR_PARCELS } from '../../src/outpost/workers/tools.ts';
import { readToken, writeToken } from '../../src/transfer/entry/token.ts';
import { freePort } from '../free-port.ts';
import { openRelay } from '../transfer/places.ts';
import { openWeb, type Web } from '../web/web.ts';
import { invite, type OutpostProcess, startOutpost, UNAUDITED, visitedTwice } from './outpost-processes.ts';
import { collected, pagesOf, type Running, skein, skeinJson, start, workplace } from './skein.ts';

/** Milliseconds between requests to one server, until `hurry`: long enough for what is waited for to happen before the end. */
const PACE = 400;

interface Machines extends AsyncDisposable {
  readonly data: string;
  readonly a: OutpostProcess;
  /** Below a. It stands for all servers, so that a has nothing to bring itself. */
  readonly b: OutpostProcess;
  /** The crawl, as a home of its own. */
  crawl(...more: string[]): Running;
}

interface Ports {
  readonly home: number;
  /** Where a finds home, and where the pass says that home is. */
  readonly dialled: number;
  readonly told: number;
}

async function openMachines(place: string, web: Web, { home, dialled, told }: Ports): Promise<Machines> {
  const data = join(place, 'home');
  const token = await invite(data, home, '--address', `127.0.0.1:${told}`);
  const a = await startOutpost('a', place, writeToken({ ...readToken(token), port: dialled }));
  const homes: Running[] = [];
  const crawl = (...more: string[]) => {
    const running = start([
      ...['crawl', ...web.seeds, '--data', data, '--scope', '*', '--allow-private', '--pace', String(PACE / 1000)],
      ...['--set', 'threads=0', '--listen', `127.0.0.1:${home}`, '--levels', '2', '--json', ...UNAUDITED, ...more],
    ]);
    homes.push(running);
    return running;
  };
  // A first page, so that both have met their parents before the servers are shared.
  assert.equal((await crawl('--max-pages', '1').ended).code, 0);
  const servers = [...new Set(web.origins.map(origin => new URL(origin).hostname))];
  const b = await startOutpost('b', place, await invite(a.directory, a.port, '--servers', servers.join(',')));
  await b.running.says('Serving');
  return {
    ...{ data, a, b, crawl },
    async [Symbol.asyncDispose]() {
      for (const { child } of homes) child.kill('SIGKILL');
      await Promise.all([a, b].map(each => each.kill()));
    },
  };
}

/** How the parcels of b come home, as home last said. */
function wayOfB(data: string): string {
  const file = join(data, OUTPOSTS_FILE);
  const { machines } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { machines: Machine[] }) : {};
  return machines?.find(({ name }) => name === 'a')?.outposts[0]?.way ?? '';
}

async function until(what: () => boolean, { child }: Running): Promise<void> {
  while (!what()) {
    assert.equal(child.exitCode, null, 'the crawl ended before');
    await new Promise(resolve => setTimeout(resolve, 20));
  }
}

/** Lets a crawl come to its end. */
async function hurry(data: string): Promise<void> {
  const { code, stderr } = await skein(['steer', 'pace', '0.01', '--data', data]);
  assert.equal(code, 0, stderr);
}

/** The crawl ended with every page, each once. */
async function checkWhole(running: Running, data: string, web: Web): Promise<void> {
  const ran = await running.ended;
  assert.equal(ran.code, 0, ran.stderr);
  assert.deepEqual(collected(await pagesOf(data)), web.mustFind());
  assert.deepEqual(visitedTwice(data), []);
  const ledger = openLedger(data);
  const by = ledger['database'].prepare('SELECT DISTINCT outpost FROM visits ORDER BY 1').all();
  const left = ledger.outbox.errands.all();
  ledger.close();
  assert.ok(by.some(row => row['outpost'] === 'a/b'));
  assert.deepEqual(left, []);
  const { problems } = await skeinJson<{ problems: string[] }>('verify', '--data', data);
  assert.deepEqual(problems, []);
}

test('an outpost of an outpost that reaches home delivers there, and nothing of it passes through its parent', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 21, servers: 4, pagesPerServer: 25, addresses: true });
  const home = await freePort();
  await using through = await openRelay(home);
  await using straight = await openRelay(home);
  const ports = { home, dialled: through.port, told: straight.port };
  await using machines = await openMachines(place.path, web, ports);
  const { data } = machines;
  const before = through.bytes;
  const running = machines.crawl();
  await until(() => wayOfB(data) === 'straight', running);
  await hurry(data);
  await checkWhole(running, data, web);
  const passed = through.bytes - before;
  assert.ok(passed < straight.bytes / 5, `${passed} bytes came from a, ${straight.bytes} from b`);
  assert.match((await skein(['outposts', '--data', data])).stdout.toString(), /b .*straight/);
});

test('one that does not reach home delivers through its parent', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 22, servers: 3, pagesPerServer: 20, addresses: true });
  const home = await freePort();
  await using machines = await openMachines(place.path, web, { home, dialled: home, told: await freePort() });
  await checkWhole(machines.crawl('--pace', '0.1'), machines.data, web);
  assert.equal(wayOfB(machines.data), 'through a');
});

test('nothing is lost and nothing comes twice when the straight line is cut and the outpost killed', async () => {
  using place = workplace();
  await using web = await openWeb({ seed: 23, servers: 4, pagesPerServer: 80, addresses: true });
  const home = await freePort();
  await using relay = await openRelay(home);
  await using machines = await openMachines(place.path, web, { home, dialled: home, told: relay.port });
  const { b, data } = machines;
  const running = machines.crawl();
  await until(() => wayOfB(data) === 'straight' && web.requests() > 40, running);
  relay.cut();
  await until(() => wayOfB(data) === 'through a', running);
  await until(() => relay.count > 1 && wayOfB(data) === 'straight', running);
  const asked = web.requests();
  await until(() => web.requests() > asked + 20, running);
  await b.kill();
  b.again();
  await b.running.says('Serving');
  await hurry(data);
  await checkWhole(running, data, web);
  // Pages that were asked for and not on the disk when it was killed.
  const again = web.mustFind().reduce((sum, url) => sum + web.requests(url) - 1, 0);
  const most = web.origins.length * (Math.ceil(FAR_PARCELS.explore.age / PACE) + 1);
  assert.ok(again <= most, `${again} requests were made again, more than ${most}`);
});
