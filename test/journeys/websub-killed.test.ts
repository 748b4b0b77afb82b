/** A watch that a hub tells is killed: what changed while it was away is delivered when it is back, and looked at. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { request as secureRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { ATOM } from '../../src/site/faces/atom.ts';
import { freePort } from '../free-port.ts';
import { folder, page, startSite, until, write } from '../site/site-here.ts';
import { makeCollection } from './collection.ts';
import { fast, start } from './skein.ts';

type Answer = (asked: IncomingMessage, response: ServerResponse) => void;

async function open(context: TestContext, answer: Answer): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Passes a request on, as nginx does before a site and before a door. */
function pass(asked: IncomingMessage, response: ServerResponse, to: string): void {
  const send = to.startsWith('https:') ? secureRequest : request;
  const { method, headers } = asked;
  const passed = send(to + asked.url, { method, headers, rejectUnauthorized: false, agent: false }, answer => {
    response.writeHead(answer.statusCode!, answer.headers);
    answer.pipe(response);
  });
  passed.on('error', () => response.writeHead(502).end());
  asked.pipe(passed);
}

test('a watch that is killed is told by the hub, when it is back, what changed meanwhile', async context => {
  using collection = makeCollection();
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const front = page('Front', '<a href="/a.html">A</a>');
  let [at, feedAnswers, text] = ['', true, page('A', 'one')];
  const origin = await open(context, (asked, response) => {
    const path = asked.url!;
    // The hub alone may tell: the cursor is closed, and the feed once it was read.
    if (path === '/.well-known/skein/hub' || (path === ATOM && feedAnswers)) return pass(asked, response, at);
    if (path !== '/' && path !== '/a.html') return response.writeHead(path === ATOM ? 503 : 404).end();
    const link = `<${ATOM}>; rel="alternate"; type="application/atom+xml"`;
    const headers = { 'content-type': 'text/html', ...(path === '/' && { link }) };
    return response.writeHead(200, headers).end(path === '/' ? front : text);
  });
  const options = { directory: root, public: `${origin}/`, hubs: ['own'], allowPrivate: true };
  const here = await startSite(context, options);
  at = here.at;
  await collection.crawl([`${origin}/`]);
  const port = await freePort();
  const relay = await open(context, (asked, response) => pass(asked, response, `https://127.0.0.1:${port}`));
  const door = ['--listen', `127.0.0.1:${port}`, '--set', `public=${relay}`];
  const watch = () => start(['watch', '--data', collection.directory, '--budget', '100000', ...door, ...fast]);
  const first = watch();
  await until(() => here.site.status().subscribers.length === 1);
  first.child.kill('SIGKILL');
  await first.ended;
  feedAnswers = false;
  text = page('A', 'two, while nobody listened');
  write(root, 'a.html', text);
  await until(() => (here.site.status().subscribers[0]?.problem ?? '') !== '');
  assert.ok(here.site.status().subscribers[0]!.behind > 0);
  const second = watch();
  context.after(async () => {
    second.child.kill('SIGKILL');
    await second.ended;
  });
  await until(() => here.site.status().subscribers[0]!.behind === 0);
  const told = () => collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'websub'));
  await until(() => (told()?.notices ?? 0) > 0);
  await until(
    () =>
      collection.visits(`${origin}/a.html`).at(-1)!.outcome === 'fetched' &&
      collection.visits(`${origin}/a.html`).length > 1,
  );
  second.child.kill('SIGTERM');
  assert.equal((await second.ended).code, 0);
});
