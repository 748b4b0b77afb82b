import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { SkeinError } from '../../src/base/errors.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { attend } from '../../src/cli/services.ts';
import { findHome, type HomeClient, runningHome } from '../../src/home/door.ts';
import type { SteerOrder } from '../../src/home/orders.ts';
import { crawlSupply, type Supply } from '../../src/home/supply.ts';
import { chosen, makeCollection } from '../journeys/collection.ts';
import { skein } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';

/** A crawl that goes on until it is stopped, and the door to it. */
async function running(directory: string, seeds: readonly string[], more: Record<string, unknown> = {}) {
  const values = chosen(directory, { scope: ['*'], ...more });
  const opened = await openHome(values, seeds);
  const attended = await attend(opened, {
    command: 'crawl',
    data: directory,
    keep: '',
    workbench: undefined,
  });
  const supply: Supply = { ...crawlSupply(opened, 0), worthWaiting: () => true };
  const ended = opened.run(supply);
  return {
    opened,
    client: findHome(directory)!,
    async stop() {
      opened.home.stop();
      await ended;
      await attended.leave();
      await attended.closeWorkbench();
      await opened.close();
    },
  };
}

async function until(reached: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await reached())) await new Promise(resolve => setTimeout(resolve, 20));
}

const refused = (client: HomeClient, order: SteerOrder, code: string) =>
  assert.rejects(client.order(order), (error: unknown) => error instanceof SkeinError && error.code === code);

test('orders are obeyed, answered with the state that came of them, and logged', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 2, servers: 2, pagesPerServer: 30 });
  const { directory } = collection;
  const run = await running(directory, web.seeds, { pace: 0.02, connections: 1 });
  const { client, opened } = run;

  assert.equal((await client.order({ kind: 'pause' })).state.state, 'paused');
  await until(() => opened.home.dispatch.posts.idle);
  const asked = web.requests();
  const { state } = await client.order({ kind: 'pace', seconds: 0 });
  assert.equal(state.settings.pace, 0);
  const seed = `${web.origins[1]}/p/29.html`;
  assert.match((await client.order({ kind: 'add', urls: [seed, seed] })).done, /added/);
  assert.equal(web.requests(), asked);
  assert.equal((await client.order({ kind: 'resume' })).state.state, 'working');
  await until(() => web.requests(seed) > 0);

  assert.equal((await client.order({ kind: 'limit', pages: 5000 })).state.settings.limit, 5000);
  assert.equal((await client.order({ kind: 'limit', pages: null })).state.settings.limit, null);
  const filters = await client.order({ kind: 'filters', scope: '127.0.0.1', keep: 'type=text/html' });
  assert.equal(filters.state.settings.keep, 'type=text/html');

  await refused(client, { kind: 'filters', scope: '', keep: 'nonsense' }, 'bad-option');
  await refused(client, { kind: 'budget', amount: '10%' }, 'refused');
  await refused(client, { kind: 'add', urls: ['ftp://nobody.test/'] }, 'bad-seed');
  await refused(client, { kind: 'retry', url: 'http://nobody.test/' }, 'not-found');
  await refused(client, { kind: 'server', origin: 'http://nobody.test', action: 'pause' }, 'not-found');
  await run.stop();

  const log = readFileSync(join(directory, 'skein.log'), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  assert.deepEqual(
    log.map(line => line.order?.kind ?? line.msg),
    ['started', 'pause', 'pace', 'add', 'resume', 'limit', 'limit', 'filters', 'ended'],
  );
});

test('a server can be paused and excluded, and stays excluded in later runs', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 4, servers: 2, pagesPerServer: 300, crossLinks: 2 });
  const [first, second] = web.origins as [string, string];
  const run = await running(collection.directory, web.seeds, { pace: 0.1, connections: 1 });
  const requestsTo = (origin: string) => web.log.filter(line => line.url.startsWith(origin)).length;
  await until(() => requestsTo(second) > 3);
  await run.client.order({ kind: 'pause' });
  const { state } = await run.client.order({ kind: 'server', origin: second, action: 'exclude' });
  assert.deepEqual(state.settings.excluded, [second]);
  await run.client.order({ kind: 'server', origin: first, action: 'pace', seconds: 0 });
  await run.client.order({ kind: 'resume' });
  await until(
    () =>
      run.opened.frontier.backlog.waiting().wake === Number.POSITIVE_INFINITY && run.opened.home.dispatch.posts.idle,
  );
  const asked = requestsTo(second);
  await run.stop();
  const again = await running(collection.directory, [], { pace: 0 });
  await until(
    () =>
      again.opened.frontier.backlog.waiting().wake === Number.POSITIVE_INFINITY &&
      again.opened.home.dispatch.posts.idle,
  );
  assert.equal(requestsTo(second), asked, 'it is left alone in the next run too');
  await again.client.order({ kind: 'server', origin: second, action: 'include' });
  await until(() => requestsTo(second) > asked);
  await again.stop();
});

test('a failure is tried again when someone says so', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 6, pagesPerServer: 8 });
  const broken = `${web.origins[0]}/p/3.html`;
  web.fault(broken, 'reset');
  const run = await running(collection.directory, web.seeds);
  const outcome = () => run.opened.ledger.pages.known(run.opened.frontier.admission.find(broken))?.outcome;
  await until(() => outcome() === 'failed');
  web.heal(broken);
  await run.client.order({ kind: 'retry', url: broken });
  await until(() => outcome() === 'fetched');
  assert.match((await run.client.order({ kind: 'ping', url: broken })).done, /checks it earlier/);
  await run.stop();
});

test('the door opens only to who can read home.json, and closes behind the run', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ pagesPerServer: 3 });
  const file = join(collection.directory, 'home.json');
  const run = await running(collection.directory, web.seeds);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const { port, token } = JSON.parse(readFileSync(file, 'utf8')) as { port: number; token: string };
  const knock = async (authorization: string, path = '/state') =>
    (await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })).status;
  assert.equal(await knock(''), 401);
  assert.equal(await knock(`Bearer ${token}x`), 401);
  assert.equal(await knock(`Bearer ${token}`), 200);
  assert.equal(await knock(`Bearer ${token}`, '/etc/passwd'), 404);
  const kept = readFileSync(file, 'utf8');
  await run.stop();
  assert.equal(existsSync(file), false);
  assert.equal(await runningHome(collection.directory), undefined);
  writeFileSync(file, kept); // as a killed home leaves it
  assert.equal(await runningHome(collection.directory), undefined);
});

test('a second terminal steers the first', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ pagesPerServer: 5 });
  const run = await running(collection.directory, web.seeds);
  const data = ['--data', collection.directory];
  const paused = await skein(['steer', 'pause', ...data]);
  assert.equal(paused.code, 0, paused.stderr);
  assert.equal(run.opened.home.state, 'paused');
  const status = await skein(['status', ...data]);
  assert.match(status.stdout.toString(), /A crawl is paused/);
  await run.stop();
  const late = await skein(['steer', 'resume', ...data]);
  assert.equal(late.code, 3);
  assert.match(late.stderr, /No Skein is running/);
});
