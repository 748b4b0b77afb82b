/** Changes are told, each once by its id, whoever is down and whoever is killed. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { forgetIn } from '../../src/engine/house/forget.ts';
import { Desk } from '../../src/notify/desk.ts';
import type { Message } from '../../src/notify/message.ts';
import { Notifier } from '../../src/notify/notifier.ts';
import { notifyDirectory } from '../../src/notify/place.ts';
import { ruleOf } from '../../src/notify/rule.ts';
import { addRule, readRules, removeRule } from '../../src/notify/rules-file.ts';
import { tryRule } from '../../src/notify/try-rule.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { skein } from '../journeys/skein.ts';
import { noExim, startSmtp } from './smtp-server.ts';

let collection: Collection;
let site: Server;
let origin: string;
let price = 10;

interface Hook extends AsyncDisposable {
  readonly url: string;
  readonly taken: { message: Message; headers: NodeJS.Dict<string | string[]>; body: string }[];
  mode: 'take' | 'fail' | 'hang' | 'redirect';
}

async function openHook(): Promise<Hook> {
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    if (hook.mode === 'hang') return;
    if (hook.mode === 'fail') return void response.writeHead(500).end();
    if (hook.mode === 'redirect') return void response.writeHead(302, { location: `${origin}/elsewhere` }).end();
    hook.taken.push({ message: JSON.parse(body), headers: request.headers, body });
    response.end();
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const hook: Hook = {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, taken: [], mode: 'take' },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
  return hook;
}

beforeEach(async () => {
  price = 10;
  site = createServer((request, response) => {
    if (!['/', '/b'].includes(request.url ?? '')) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/html' });
    const body = `<p class=price>It costs ${price} coins</p><p>Words that stay as they are.</p>`;
    response.end(request.url === '/' ? `<title>Shop</title><a href=/b>b</a>${body}` : `<title>B</title>${body}`);
  });
  await new Promise<void>(resolve => site.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  collection = makeCollection();
  await collection.crawl([`${origin}/`]);
});

afterEach(() => {
  site.close();
  collection[Symbol.dispose]();
});

async function change(): Promise<void> {
  price++;
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
}

const pass = async (now?: () => number) => {
  const notifier = new Notifier(collection.directory, now);
  try {
    return await notifier.pass();
  } finally {
    notifier.close();
  }
};

const add = (more: object) => addRule(collection.directory, ruleOf({ name: 'prices', include: ['.price'], ...more }));

test('a webhook gets each change, signed, and none of what was there before the rule', async () => {
  await using hook = await openHook();
  await change();
  add({ channel: { kind: 'webhook', url: hook.url, secret: 'a secret of ours' } });
  assert.deepEqual(await pass(), { found: 0, sent: 0, failed: 0 });
  await change();
  assert.deepEqual(await pass(), { found: 2, sent: 2, failed: 0 });
  assert.deepEqual(await pass(), { found: 0, sent: 0, failed: 0 });
  assert.deepEqual(hook.taken.map(({ message }) => message.changes[0]!.url).toSorted(), [`${origin}/`, `${origin}/b`]);
  const [{ message, headers, body }] = hook.taken as [Hook['taken'][0]];
  assert.match(message.changes[0]!.diff, /\[-11-\] \{\+12\+\}/);
  assert.equal(headers['idempotency-key'], message.id);
  const signed = createHmac('sha256', 'a secret of ours').update(`${headers['skein-time']}.${body}`).digest('hex');
  assert.equal(headers['skein-signature'], `sha256=${signed}`);
});

test('a receiver that is down for a day gets everything in order, with ids that stay', async () => {
  await using hook = await openHook();
  let now = Date.now();
  const later = (ms: number) => {
    now += ms;
    return pass(() => now);
  };
  add({ url: `${origin}/b`, channel: { kind: 'webhook', url: hook.url } });
  await later(0);
  hook.mode = 'fail';
  await change();
  assert.deepEqual(await later(0), { found: 1, sent: 0, failed: 1 });
  hook.mode = 'redirect';
  assert.equal((await later(3_600_000)).failed, 1, 'a redirect is not followed');
  const begun = new Desk(join(notifyDirectory(collection.directory), 'prices')).next(false)!.id;
  await change();
  assert.equal((await later(86_400_000)).failed, 1);
  hook.mode = 'take';
  assert.deepEqual(await later(1000), { found: 0, sent: 0, failed: 0 }, 'it waits before it tries again');
  assert.equal((await later(86_400_000)).sent, 2);
  assert.equal(hook.taken[0]!.message.id, begun);
  assert.deepEqual(
    hook.taken.map(({ message }) => /\{\+(\d+)\+\}/.exec(message.changes[0]!.diff)![1]),
    ['11', '12'],
  );
});

test('what may still turn out to be noise waits so long, and no longer', async () => {
  await using hook = await openHook();
  add({ channel: { kind: 'webhook', url: hook.url } });
  await pass();
  await change();
  const seen = collection.clock.now();
  const after = async (ms: number) => {
    const notifier = new Notifier(collection.directory, () => seen + ms);
    const told = await notifier.pass(110_000);
    notifier.close();
    return told.found;
  };
  assert.equal(await after(60_000), 0);
  assert.equal(await after(120_000), 2);
});

test('at most one message in an hour holds all that came meanwhile', async () => {
  await using hook = await openHook();
  let now = Date.now();
  add({ atMost: 3_600_000, channel: { kind: 'webhook', url: hook.url } });
  await pass(() => now);
  await change();
  await pass(() => now);
  await change();
  await pass(() => (now += 60_000));
  assert.equal(hook.taken.length, 1);
  await change();
  await pass(() => (now += 3_600_000));
  assert.deepEqual(
    hook.taken.map(({ message }) => message.changes.length),
    [2, 4],
  );
});

test('whoever is killed while sending tells it again under the same id', async () => {
  await using hook = await openHook();
  hook.mode = 'hang';
  add({ channel: { kind: 'webhook', url: hook.url } });
  await pass();
  await change();
  const child: ChildProcess = spawn(process.execPath, [
    'bin/skein.js',
    'notify',
    'run',
    '--data',
    collection.directory,
  ]);
  const desk = new Desk(join(notifyDirectory(collection.directory), 'prices'));
  const sending = join(desk.directory, 'sending.json');
  while (!existsSync(sending) && child.exitCode === null) await new Promise(resolve => setTimeout(resolve, 20));
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { message } = JSON.parse(readFileSync(sending, 'utf8')) as { message: Message };
  hook.mode = 'take';
  assert.equal((await pass()).sent, 2);
  assert.equal(hook.taken[0]!.message.id, message.id);
  assert.equal(new Set(hook.taken.map(each => each.message.id)).size, 2);
  assert.deepEqual(desk.waiting(), []);
});

test('of a page that is forgotten nothing waits, nothing is told and no feed speaks', async () => {
  await using hook = await openHook();
  add({ channel: { kind: 'webhook', url: hook.url } });
  add({ name: 'fed', channel: { kind: 'feed' } });
  await pass();
  await change();
  hook.mode = 'fail';
  await pass();
  const desks = notifyDirectory(collection.directory);
  const kept = () =>
    readdirSync(desks, { recursive: true, withFileTypes: true })
      .filter(each => each.isFile() && readFileSync(join(each.parentPath, each.name), 'utf8').includes(`${origin}/b`))
      .map(each => each.name);
  assert.ok(kept().includes('feed.atom') && kept().length >= 4, kept().join(' '));
  await forgetIn(collection.directory, [`${origin}/b`]);
  assert.deepEqual(kept(), []);
  hook.mode = 'take';
  const notifier = new Notifier(collection.directory, () => Date.now() + 86_400_000);
  await notifier.pass();
  notifier.close();
  assert.deepEqual(
    hook.taken.map(({ message }) => message.changes.map(({ url }) => url)),
    [[`${origin}/`]],
  );
});

test('a rule that nobody keeps is tried on the last changes of its kinds', async () => {
  for (let i = 0; i < 3; i++) await change();
  const rule = ruleOf({ name: 'tried', url: '/b', include: ['.price'], only: ['12'], channel: { kind: 'feed' } });
  const tried = await tryRule(collection.directory, rule, 2);
  assert.deepEqual(
    tried.map(({ change: { url, diff }, weighed }) => [url, /\{\+(\d+)/.exec(diff)?.[1], weighed.counts]),
    [
      [`${origin}/b`, '12', true],
      [`${origin}/b`, '13', true],
    ],
  );
  assert.equal(
    (await tryRule(collection.directory, { ...rule, only: ['99'] })).filter(each => each.weighed.counts).length,
    0,
  );
  assert.deepEqual(await tryRule(collection.directory, { ...rule, kinds: ['gone'] }), []);
  assert.ok(!existsSync(notifyDirectory(collection.directory)), 'nothing is written');
});

test('commands and feeds tell, too; a rule that is removed is silent', async () => {
  const out = join(collection.directory, 'out.json');
  const feed = join(collection.directory, 'changes.atom');
  add({ url: `${origin}/b`, channel: { kind: 'command', command: `cat >> ${out}` } });
  addRule(collection.directory, ruleOf({ name: 'feed', channel: { kind: 'feed', file: feed } }));
  await pass();
  await change();
  assert.equal((await pass()).sent, 3);
  assert.equal((JSON.parse(readFileSync(out, 'utf8')) as Message).changes[0]!.url, `${origin}/b`);
  assert.match(readFileSync(feed, 'utf8'), /<entry>.*&lt;ins .*11&lt;\/ins&gt;/s);
  removeRule(collection.directory, 'prices');
  await change();
  assert.equal((await pass()).sent, 2);
});

test('mail arrives at a real server, and waits while there is none', { skip: noExim }, async () => {
  const closed = 'smtp://127.0.0.1:9';
  const mail = { kind: 'mail', to: ['you@example.org'], from: 'skein@example.org' };
  add({ url: `${origin}/b`, channel: { ...mail, server: closed } });
  let now = Date.now();
  await pass();
  await change();
  assert.equal((await pass(() => now)).failed, 1);
  await using smtp = await startSmtp(join(collection.directory, 'smtp'));
  const rules = join(notifyDirectory(collection.directory), 'rules.json');
  writeFileSync(rules, readFileSync(rules, 'utf8').replace(closed, smtp.url));
  assert.equal((await pass(() => (now += 60_000))).sent, 1);
  assert.equal(smtp.mails().length, 1);
  assert.match(smtp.mails()[0]!, /Subject: prices: B changed$/m);
});

test('rules of the config file are kept, changed and taken away with it; others stay', async () => {
  const config = join(collection.directory, 'config.json');
  const feed = join(collection.directory, 'told.atom');
  const configure = (...rules: object[]) => writeFileSync(config, JSON.stringify({ notify: rules }));
  const notify = (...words: string[]) => skein([...words, '--config', config, '--data', collection.directory]);
  add({ name: 'mine', channel: { kind: 'feed' } });
  configure({ name: 'prices', include: '.price', atMost: '1h', feed });
  const listed = await notify('notify', 'list', '--json');
  assert.equal(listed.code, 0, listed.stderr);
  assert.deepEqual(
    readRules(collection.directory).map(({ name, atMost }) => [name, atMost]),
    [
      ['mine', 0],
      ['prices', 3_600_000],
    ],
  );
  await change();
  assert.equal((await notify('notify', 'run')).code, 0);
  assert.match(readFileSync(feed, 'utf8'), /10.*11/s);
  configure({ name: 'mine', feed });
  assert.match((await notify('notify', 'list')).stderr, /two rules mine/);
  configure({ name: 'prices', includes: '.price', feed });
  assert.match((await notify('notify', 'list')).stderr, /no "includes"/);
  configure();
  await notify('notify', 'list');
  assert.deepEqual(
    readRules(collection.directory).map(({ name }) => name),
    ['mine'],
  );
});
