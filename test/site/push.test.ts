/** Telling others: the small hub with its subscribers, hubs of others, IndexNow. Everything is a real server on loopback. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { utimesSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readDelivery } from '../../src/home/notices/reading/websub.ts';
import { parseFeed } from '../../src/notices/feed.ts';
import { folder, type Here, PUBLIC, page, startSite, until, write } from './site-here.ts';

const TOPIC = `${PUBLIC}.well-known/skein/atom.xml`;

interface Got {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** A server that remembers what it was sent, and answers what it is told to. */
async function listener(context: TestContext, answer: (got: Got) => { status: number; body?: string }) {
  const got: Got[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url!, 'http://127.0.0.1');
    const one = { method: request.method!, url, headers: request.headers, body };
    got.push(one);
    const { status, body: text } = answer(one);
    response.writeHead(status).end(text);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { got, at: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const agrees = ({ method, url }: Got) => ({
  status: 200,
  body: method === 'GET' ? url.searchParams.get('hub.challenge')! : '',
});

/** `from`: as the web server before it says. */
function ask(here: Here, form: Record<string, string>, from?: string): Promise<Response> {
  const headers = from === undefined ? {} : { 'x-forwarded-for': from };
  return fetch(`${here.at}/.well-known/skein/hub`, { method: 'POST', body: new URLSearchParams(form), headers });
}

test('a subscriber that means it is sent what changed, signed, until its lease ends or it says no', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root, hubs: ['own'], allowPrivate: true });
  const { hub, topics } = await here.discovery();
  assert.deepEqual(
    [new URL(hub!).pathname, topics],
    ['/.well-known/skein/hub', [`${here.at}/.well-known/skein/atom.xml`]],
  );
  const subscriber = await listener(context, agrees);
  const callback = `${subscriber.at}/callback?id=7`;
  const form = { 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': callback, 'hub.secret': 'secret' };
  assert.equal((await ask(here, form)).status, 202);
  await until(() => here.site.status().subscribers.length === 1);
  const { searchParams } = subscriber.got[0]!.url;
  assert.deepEqual([searchParams.get('id'), searchParams.get('hub.topic')], ['7', TOPIC]);
  assert.equal(searchParams.get('hub.lease_seconds'), '864000');
  write(root, 'a.html', page('A', 'two'));
  await until(() => subscriber.got.some(({ method }) => method === 'POST'));
  const told = subscriber.got.find(({ method }) => method === 'POST')!;
  const signature = createHmac('sha256', 'secret').update(told.body).digest('hex');
  assert.equal(told.headers['x-hub-signature'], `sha256=${signature}`);
  assert.match(told.headers.link as string, /rel="hub".*rel="self"/);
  const feed = parseFeed(Buffer.from(told.body), TOPIC);
  assert.deepEqual([feed.self, feed.entries.map(({ url }) => url)], [TOPIC, [`${PUBLIC}a.html`]]);
  await ask(here, { ...form, 'hub.mode': 'unsubscribe' });
  await until(() => here.site.status().subscribers.length === 0);
});

test('whatever dates the files of a large rebuild have, a subscriber misses none of them', async context => {
  const root = folder(context);
  const put = (n: number, text: string) => {
    const file = join(root, `${n}.html`);
    writeFileSync(file, page(`Page ${n}`, text));
    utimesSync(file, 1_700_000_000 - n, 1_700_000_000 - n);
  };
  for (let n = 0; n < 1500; n++) put(n, 'one');
  const here = await startSite(context, { directory: root, hubs: ['own'], allowPrivate: true });
  const subscriber = await listener(context, agrees);
  await ask(here, { 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': `${subscriber.at}/x` });
  await until(() => here.site.status().subscribers.length === 1);
  for (let n = 0; n < 1500; n++) put(n, 'two');
  await here.site.changed();
  await until(() => here.site.status().subscribers[0]!.behind === 0 && here.site.journal.cursor.sequence === 1500);
  const told = new Set<string>();
  let state = {};
  for (const { body } of subscriber.got.filter(({ method }) => method === 'POST')) {
    const read = readDelivery({ kind: 'websub', url: TOPIC, state }, Buffer.from(body));
    for (const { url } of read.notices) told.add(url);
    state = read.state;
  }
  assert.equal(told.size, 1500);
});

test('a subscription survives a restart, with what happened meanwhile; a failing one is tried again', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const options = { directory: root, hubs: ['own'], allowPrivate: true };
  const first = await startSite(context, options);
  let failing = true;
  const subscriber = await listener(context, got => (got.method === 'POST' && failing ? { status: 503 } : agrees(got)));
  await ask(first, { 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': `${subscriber.at}/` });
  await until(() => first.site.status().subscribers.length === 1);
  write(root, 'a.html', page('A', 'two'));
  await until(() => first.site.status().subscribers[0]!.problem !== '');
  await first.close();
  failing = false;
  const before = subscriber.got.length;
  const again = await startSite(context, { ...options, data: first.data });
  await until(() => subscriber.got.length > before);
  assert.match(subscriber.got.at(-1)!.body, /a\.html/);
  await until(() => again.site.status().subscribers[0]!.problem === '');
});

test('nobody is subscribed who did not agree, and bad forms are refused in words', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root, hubs: ['own'], allowPrivate: true });
  const refuses = await listener(context, () => ({ status: 404 }));
  const echoes = await listener(context, () => ({ status: 200, body: 'yes' }));
  const good = { 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': `${refuses.at}/` };
  await ask(here, good);
  await ask(here, { ...good, 'hub.callback': `${echoes.at}/` });
  await until(() => refuses.got.length === 1 && echoes.got.length === 1);
  write(root, 'a.html', page('A', 'two'));
  await until(() => here.site.journal.cursor.sequence === 1);
  assert.deepEqual(here.site.status().subscribers, []);
  for (const wrong of [
    { 'hub.mode': 'publish' },
    { 'hub.topic': 'https://other.example/' },
    { 'hub.callback': 'ftp://127.0.0.1/' },
    { 'hub.callback': 'nonsense' },
    { 'hub.secret': 'x'.repeat(200) },
    { 'hub.lease_seconds': 'forever' },
  ]) {
    const answer = await ask(here, { ...good, ...wrong });
    assert.equal(answer.status, 400, JSON.stringify(wrong));
    assert.ok(((await answer.json()) as { message: string }).message.length > 10);
  }
});

test('a callback at a private address is never asked, unless the owner allows it', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root, hubs: ['own'] });
  const victim = await listener(context, agrees);
  for (const callback of [
    victim.at,
    victim.at.replace('127.0.0.1', 'localhost'),
    victim.at.replace('127.0.0.1', '[::ffff:127.0.0.1]'),
  ]) {
    await ask(here, { 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': `${callback}/` });
  }
  await new Promise(resolve => setTimeout(resolve, 300));
  assert.deepEqual([victim.got, here.site.status().subscribers], [[], []]);
});

test('hubs of others and IndexNow are told, with a key that the site shows', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const hub = await listener(context, () => ({ status: 204 }));
  const engine = await listener(context, () => ({ status: 200 }));
  const here = await startSite(context, {
    ...{ directory: root, hubs: [`${hub.at}/`], indexNow: [`${engine.at}/indexnow`], allowPrivate: true },
  });
  write(root, 'a.html', page('A', 'two'));
  write(root, 'b.html', page('B', 'one'));
  await until(() => hub.got.length > 0 && engine.got.length > 0);
  const published = new URLSearchParams(hub.got[0]!.body);
  assert.deepEqual([published.get('hub.mode'), published.get('hub.url')], ['publish', TOPIC]);
  const told = JSON.parse(engine.got[0]!.body) as { host: string; key: string; keyLocation: string; urlList: string[] };
  assert.equal(told.host, 'example.org');
  assert.deepEqual(told.urlList.sort(), [`${PUBLIC}a.html`, `${PUBLIC}b.html`]);
  assert.match(told.key, /^[0-9a-f]{32}$/);
  const key = await here.get(new URL(told.keyLocation).pathname);
  assert.equal(await key.text(), told.key);
  await until(() => here.site.status().told.every(({ behind }) => behind === 0));
  assert.match(
    await (await here.get('/.well-known/skein/atom.xml')).text(),
    new RegExp(`<link rel="hub" href="${hub.at}/"/>`),
  );
});

test('a stranger alone takes not all the places of a hub, neither of subscribers nor of those that are being asked', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, {
    directory: root,
    hubs: ['own'],
    allowPrivate: true,
    requestsAMinute: 100_000,
  });
  const stranger = await listener(context, agrees);
  const wish = (at: string) => ({ 'hub.mode': 'subscribe', 'hub.topic': TOPIC, 'hub.callback': at });
  const count = () => here.site.status().subscribers.length;
  /** Whether one more got a place; waits for those that are being asked. */
  const joins = async (at: string, from: string) => {
    const before = count();
    if ((await ask(here, wish(at), from)).status !== 202) return false;
    await until(() => count() > before);
    return true;
  };
  let got = 0;
  while (got < 200 && (await joins(`${stranger.at}/${got}`, '192.0.2.1'))) got++;
  assert.equal(got, 50);
  assert.equal(await joins(`${stranger.at}/more`, '192.0.2.2'), false, 'nor by way of others, for the same host');
  const port = new URL(stranger.at).port;
  assert.equal(await joins(`http://localhost:${port}/`, '192.0.2.1'), false, 'nor for other hosts');
  assert.equal((await ask(here, wish(`${stranger.at}/7`), '192.0.2.1')).status, 202, 'a lease is renewed');
  // Callbacks that take the question and never answer.
  const mute = createServer(() => {});
  await new Promise<void>(resolve => mute.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    mute.closeAllConnections();
    mute.close();
  });
  const silent = `http://localhost:${(mute.address() as AddressInfo).port}`;
  const answers: number[] = [];
  for (let i = 0; i < 40; i++) answers.push((await ask(here, wish(`${silent}/${i}`), '192.0.2.3')).status);
  assert.equal(answers.filter(status => status === 202).length, 4);
  assert.equal(await joins(`http://localhost:${port}/other`, '192.0.2.4'), true);
});
