/** A hub on loopback tells a watch that a page has changed: subscribed, verified, signed, and the page is looked at. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { chosen, makeCollection } from './collection.ts';
import { html, openPages, prose } from './pages.ts';

/** Asks the door as a hub does; its certificate is its own. */
function knock(url: string, body?: string, headers: Record<string, string> = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: body ? 'POST' : 'GET', headers, rejectUnauthorized: false }, answer => {
      let text = '';
      answer.on('data', (bytes: Buffer) => (text += bytes));
      answer.on('end', () => resolve(`${answer.statusCode} ${text}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('a watch subscribes to the hub that a feed names, and what the hub delivers is looked at', {
  timeout: 60_000,
}, async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const asked = Promise.withResolvers<URLSearchParams>();
  const hub = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming) text += chunk;
    response.writeHead(202).end();
    asked.resolve(new URLSearchParams(text));
  });
  await new Promise<void>(resolve => hub.listen(0, '127.0.0.1', resolve));
  const hubUrl = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/`;
  const topic = `${pages.origin}/feed.xml`;
  const link = '<link rel="alternate" type="application/atom+xml" href="/feed.xml">';
  const front = html('Front', [prose(1)], ['/page.html']).replace('</head>', `${link}</head>`);
  pages.set('/', { body: front, tagged: true });
  pages.set('/page.html', { body: html('Page', [prose(2)]), tagged: true });
  const entry = (date: string) => `<entry><link href="${pages.origin}/page.html"/><updated>${date}</updated></entry>`;
  const feed = (date: string) =>
    `<feed><link rel="hub" href="${hubUrl}"/><link rel="self" href="${topic}"/>${entry(date)}</feed>`;
  pages.set('/feed.xml', { body: feed('2020-01-01T00:00:00Z'), headers: { 'content-type': 'application/atom+xml' } });
  await collection.crawl([`${pages.origin}/`]);
  const port = 27_000 + (process.pid % 2000);
  const stop = new AbortController();
  const options = { budget: '100000', listen: `127.0.0.1:${port}`, public: `https://127.0.0.1:${port}` };
  const watching = keepFresh('watch', chosen(collection.directory, { ...options, signal: stop.signal }), {
    clockShift: collection.clockShift,
  });
  try {
    const form = await asked.promise;
    assert.deepEqual([form.get('hub.mode'), form.get('hub.topic')], ['subscribe', topic]);
    const callback = form.get('hub.callback')!;
    const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.topic': topic, 'hub.challenge': 'c' });
    assert.equal(await knock(`${callback}?${query}&hub.lease_seconds=3600`), '200 c');
    pages.set('/page.html', { body: html('Page', [prose(7), 'Another edition.']), tagged: true });
    const body = feed(new Date(collection.clock.now()).toISOString());
    const forged = { 'x-hub-signature': `sha256=${'0'.repeat(64)}` };
    assert.equal(await knock(callback, body, forged), '202 ');
    const signature = createHmac('sha256', form.get('hub.secret')!).update(body).digest('hex');
    assert.equal(await knock(callback, body, { 'x-hub-signature': `sha256=${signature}` }), '202 ');
    while (collection.visits(`${pages.origin}/page.html`).length < 2)
      await new Promise(resolve => setTimeout(resolve, 200));
    assert.equal(collection.visits(`${pages.origin}/page.html`).at(-1)!.outcome, 'fetched');
  } finally {
    stop.abort();
    await watching;
    hub.closeAllConnections();
    hub.close();
  }
  const face = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'websub'))!;
  assert.deepEqual([face.words, face.notices, face.trouble], [1, 1, '']);
});

test('a hub that never verifies is asked ever more rarely, says so, and costs nothing else', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  let asked = 0;
  const hub = createServer((incoming, response) => {
    asked++;
    incoming.resume();
    response.writeHead(202).end();
  });
  await new Promise<void>(resolve => hub.listen(0, '127.0.0.1', resolve));
  const hubUrl = `http://127.0.0.1:${(hub.address() as AddressInfo).port}/`;
  const link = '<link rel="alternate" type="application/atom+xml" href="/feed.xml">';
  pages.set('/', { body: html('Front', [prose(1)]).replace('</head>', `${link}</head>`), tagged: true });
  const feed = `<feed><link rel="hub" href="${hubUrl}"/><link rel="self" href="${pages.origin}/feed.xml"/></feed>`;
  pages.set('/feed.xml', { body: feed, headers: { 'content-type': 'application/atom+xml' } });
  await collection.crawl([`${pages.origin}/`]);
  const port = 29_000 + (process.pid % 2000);
  const door = { budget: '10', listen: `127.0.0.1:${port}`, public: `https://127.0.0.1:${port}` };
  try {
    for (let day = 0; day < 12; day++) {
      await collection.refresh(door);
      collection.pass(1);
    }
  } finally {
    hub.closeAllConnections();
    hub.close();
  }
  const face = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'websub'))!;
  assert.equal(face.trouble, 'the hub has not confirmed the subscription yet');
  assert.deepEqual([face.words, face.state.lease], [0, undefined]);
  assert.ok(asked >= 4 && asked <= 9, `asked ${asked} times in twelve days`);
  assert.equal(collection.visits(`${pages.origin}/`).at(-1)!.outcome, 'same', 'pages are looked at as ever');
});
