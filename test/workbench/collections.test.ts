/** Several collections in one workbench: runs are started, scheduled and stopped from it, by those who may, and only below its directory. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { CollectionLine, CollectionList } from '../../src/workbench/collections/forms.ts';
import { CollectionRuns } from '../../src/workbench/collections/runs.ts';
import { CollectionShelf } from '../../src/workbench/collections/shelf.ts';
import { pause } from '../journeys/kills.ts';
import { type Running, root, start } from '../journeys/skein.ts';
import { openWeb, type Web } from '../web/web.ts';
import { noBrowser, openBrowser } from './browser.ts';

let web: Web;
let folder: string;
let collections: string;
let running: Running;
let address: URL;
let users: { name: string; role: string; address: string }[];

async function open(): Promise<void> {
  running = start(
    ['workbench', '--collections', collections, '--listen', '0', '--json', '--user', 'anna:read', 'ben:steer'],
    { cwd: folder },
  );
  let text = '';
  running.child.stdout!.on('data', chunk => {
    text += chunk;
  });
  while (!text.includes('\n')) await Promise.race([pause(50), running.ended.then(({ stderr }) => assert.fail(stderr))]);
  const told = JSON.parse(text) as { address: string; users: typeof users };
  address = new URL(told.address);
  users = told.users;
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'skein-collections-'));
  collections = join(folder, 'collections');
  mkdirSync(collections);
  // What the operator says holds for every run.
  writeFileSync(join(folder, 'skein.config.json'), JSON.stringify({ allowPrivate: true, pace: 0 }));
  web = await openWeb({ seed: 4, servers: 2, pagesPerServer: 30 });
  await open();
});

after(async () => {
  running.child.kill('SIGINT');
  await running.ended;
  await web.close();
  rmSync(folder, { recursive: true, force: true });
});

const seedsOf = () => web.origins.map(origin => `${origin}/`);
const tokenOf = (name: string) =>
  new URL(users.find(user => user.name === name)?.address ?? address.href).searchParams.get('token')!;

async function ask(
  path: string,
  body?: unknown,
  as = 'owner',
): Promise<{ status: number; body: CollectionList & { error?: string } }> {
  const response = await fetch(`${address.origin}/api/v1${path}`, {
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    headers: { authorization: `Bearer ${tokenOf(as)}`, 'content-type': 'application/json' },
  });
  return { status: response.status, body: (await response.json()) as CollectionList };
}

async function until(name: string, holds: (line: CollectionLine) => boolean): Promise<CollectionLine> {
  for (;;) {
    const { status, body } = await ask('/collections');
    assert.equal(status, 200, String(body.error));
    const line = body.collections.find(each => each.name === name);
    if (line && holds(line)) return line;
    await pause(100);
  }
}

test('a crawl makes a collection, and the other views show the one that is chosen', async () => {
  assert.deepEqual((await ask('/collections')).body, { managed: true, admin: true, collections: [] });
  assert.equal((await ask('/now')).status, 404, 'there is none yet');
  assert.equal((await fetch(`${address.origin}/readyz`)).status, 200);
  for (const [i, seed] of seedsOf().entries()) {
    const { status, body } = await ask(`/collections/site-${i}/start`, {
      command: 'crawl',
      options: { seeds: [seed] },
    });
    assert.equal(status, 200, String(body.error));
  }
  const lines = [
    await until('site-0', ({ state, pages }) => state === 'idle' && (pages ?? 0) >= 30),
    await until('site-1', ({ state, pages }) => state === 'idle' && (pages ?? 0) >= 30),
  ];
  for (const { last } of lines) assert.ok(last?.ok, String(last?.said));
  assert.equal((await ask('/servers?collection=site-1')).status, 200);
  const opened = await fetch(`${address.origin}/open/site-1`, { redirect: 'manual' });
  const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
  const shown = await fetch(`${address.origin}/api/v1/servers`, { headers: { cookie } });
  const { servers } = (await shown.json()) as { servers: { origin: string }[] };
  assert.deepEqual(
    servers.map(({ origin }) => `${origin}/`),
    [seedsOf()[1]],
  );
});

test('what runs is stopped; what fails says why and is not begun again', async () => {
  await ask('/collections/site-0/start', { command: 'watch', options: { budget: '10%' } });
  const watched = await until('site-0', ({ state }) => state === 'running');
  assert.equal(watched.command, 'watch');
  assert.equal((await ask('/collections/site-0/start', { command: 'refresh' })).status, 409);
  await pause(1500);
  await ask('/collections/site-0/stop', {});
  assert.ok((await until('site-0', ({ state }) => state === 'idle')).last?.ok);
  await ask('/collections/site-0/start', { command: 'crawl', options: { scope: ['[broken'], budget: '5' } });
  const failed = await until('site-0', ({ state, last }) => state === 'idle' && last?.command === 'crawl');
  assert.equal(failed.last!.ok, false);
  assert.match(failed.last!.said, /skein: /);
  await pause(300);
  assert.equal((await until('site-0', () => true)).state, 'idle');
});

test('only an admin starts, stops and schedules; names and options cannot lead elsewhere', async () => {
  for (const [who, what] of [
    ['anna', 'start'],
    ['ben', 'start'],
    ['ben', 'stop'],
    ['ben', 'schedule'],
  ] as const) {
    const { status } = await ask(`/collections/site-0/${what}`, { command: 'refresh', everyHours: 1 }, who);
    assert.equal(status, 403, `${who} ${what}`);
  }
  assert.equal((await ask('/collections', undefined, 'ben')).body.admin, false);
  const seeds = [seedsOf()[0]];
  for (const name of ['..', '.hidden', 'a%2Fb', '..%2Foutside', '-x', 'a%00b'])
    assert.ok(
      [400, 404].includes((await ask(`/collections/${name}/start`, { command: 'crawl', options: { seeds } })).status),
      name,
    );
  assert.ok(!existsSync(join(folder, 'outside')));
  const refused = [
    { command: 'forget' },
    { command: 'crawl', options: { seeds: ['--data=/elsewhere'] } },
    { command: 'crawl', options: { seeds: ['file:///etc/passwd'] } },
    { command: 'refresh', options: { budget: '5% --data=x' } },
    { command: 'crawl', options: { pace: -1 } },
  ];
  for (const body of refused)
    assert.equal((await ask('/collections/site-0/start', body)).status, 400, JSON.stringify(body));
  assert.equal((await ask('/collections/absent/start', { command: 'refresh' })).status, 404);
  assert.equal((await ask('/collections/absent/start', { command: 'crawl' })).status, 400);
  assert.equal((await fetch(`${address.origin}/open/..%2Foutside`, { redirect: 'manual' })).status, 404);
});

test('a schedule refreshes when it is time, goes on over a restart, and ends when it is taken back', async () => {
  await ask('/collections/site-1/schedule', { everyHours: 6 });
  const { next } = await until('site-1', ({ everyHours }) => everyHours === 6);
  running.child.kill('SIGINT');
  assert.equal((await running.ended).code, 0);
  let now = next! - 1000;
  const shelf = new CollectionShelf(collections, folder, true);
  const program = [process.execPath, join(root, 'bin', 'skein.js')];
  const runs = new CollectionRuns({ directory: collections, shelf, program, now: () => now });
  const line = async () => (await runs.lines('')).find(({ name }) => name === 'site-1')!;
  await runs.look();
  assert.equal((await line()).state, 'idle', 'not yet');
  now += 2000;
  await runs.look();
  assert.deepEqual([(await line()).state, (await line()).command], ['running', 'refresh']);
  await runs.look();
  while ((await line()).state !== 'idle') await pause(100);
  assert.ok((await line()).last);
  await runs.look();
  assert.equal((await line()).state, 'idle', 'once');
  now += 365 * 24 * 3_600_000;
  runs.schedule('site-1', 6);
  now -= 365 * 24 * 3_600_000;
  await runs.look();
  assert.equal((await line()).next, now + 6 * 3_600_000, 'a clock that ran ahead puts nothing off');
  runs.schedule('site-1', 0);
  now += 100 * 3_600_000;
  await runs.look();
  assert.equal((await line()).state, 'idle');
  await runs.close();
  shelf.close();
  await open();
});

test('a run that is killed is told as failed', async () => {
  const shelf = new CollectionShelf(collections, folder, true);
  const runs = new CollectionRuns({
    directory: collections,
    shelf,
    program: ['/bin/sh', '-c', 'echo out of luck >&2; kill -9 $$'],
  });
  await runs.start('site-0', 'refresh', {});
  const line = async () => (await runs.lines('')).find(({ name }) => name === 'site-0')!;
  while ((await line()).state !== 'idle') await pause(20);
  const { last } = await line();
  assert.deepEqual([last!.ok, last!.said], [false, 'out of luck']);
  await runs.close();
  shelf.close();
});

test('in a browser: start a crawl, watch its pages grow, choose it, set a schedule', { skip: noBrowser }, async () => {
  await using browser = await openBrowser();
  const page = await browser.context.newPage();
  await page.goto(address.href);
  await page.click('nav >> text=Collections');
  await page.waitForSelector('tr[data-collection="site-0"]');
  await page.fill('label:has-text("name of a new") input', 'third');
  await page.fill('label:has-text("seeds") textarea', seedsOf()[0]!);
  await page.click('text=Start crawl');
  await page.waitForSelector('tr[data-collection="third"]:has-text("crawl ended")');
  await page.click('[aria-label="Schedule of third"]');
  await page.fill('[aria-label^="hours between two refreshes of third"]', '12');
  await page.click('tr[data-collection="third"] >> text=Set');
  await page.waitForSelector('tr[data-collection="third"]:has-text("every 12 h")');
  await page.click('tr[data-collection="third"] a');
  await page.waitForSelector('a.which:has-text("third")');
  await page.waitForSelector('h1:has-text("Overview")');
  // Who may only read sees the same, and can start nothing.
  await page.goto(users.find(({ name }) => name === 'anna')!.address);
  await page.click('nav >> text=Collections');
  await page.waitForSelector('text=Only an admin can start and stop runs.');
  assert.equal(await page.isDisabled('[aria-label="Start refresh of third"]'), true);
});
