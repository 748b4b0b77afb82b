/**
 * The shared search cache and the site's own search box, as an owner and a user of home meet them: `skein site` before a
 * server that makes its pages, `skein serve` at home, and nothing that says who asked.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { freePort } from '../free-port.ts';
import { folder, until } from '../site/site-here.ts';
import { html, prose } from './pages.ts';
import { fast, skein, start } from './skein.ts';

const TOKEN = 'a-token-of-sixteen-characters';

async function serving(context: TestContext, answer: (request: IncomingMessage) => string | undefined) {
  const server = createServer((request, response) => {
    const body = answer(request);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html' }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function begin(context: TestContext, words: readonly string[]): void {
  const { child, ended } = start(words);
  context.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
}

async function succeeds(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await skein(words);
  assert.equal(code, 0, stderr);
  return stdout.toString();
}

test('terms that were searched at home are suggested by the site, and its box answers from home', async context => {
  const pages = new Map([
    ['/', html('Harbour', [prose(1, 40)], ['/ferry', '/moss'])],
    ['/ferry', html('Timetable of the ferry', ['The ferry leaves at noon.', prose(2, 60)], ['/'])],
    ['/moss', html('Moss garden', ['Please do not hurry the moss.', prose(3, 60)], ['/'])],
  ]);
  const app = await serving(context, ({ url }) => pages.get(url!));
  const other = await serving(context, ({ url }) =>
    url === '/' ? html('Another ferry', ['A ferry of others.']) : undefined,
  );
  const [sitePort, searchPort] = [await freePort(), await freePort()];
  const site = `http://127.0.0.1:${sitePort}`;
  const directory = folder(context);
  const [data, state, tokenFile] = ['home', 'state', 'token'].map(name => join(directory, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(tokenFile, `${TOKEN}\n`);
  begin(context, [
    ...['site', '--upstream', app, '--front', '--public', site, '--listen', `127.0.0.1:${sitePort}`, '--data', state],
    ...['--token-file', tokenFile, '--terms', '--search', `http://127.0.0.1:${searchPort}/`],
    ...['--requests-a-minute', '100000'],
  ]);
  const ask = async (path: string) => {
    const answer = await fetch(`${site}/.well-known/skein${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const ready = async (path: string) => (await ask(path).catch(() => ({ status: 0 }))).status === 200;
  await until(() => ready(''));
  await succeeds('crawl', `${site}/`, `${other}/`, '--data', data, ...fast);
  // Twice each, but for what only one person may have asked, and what may be about a person.
  const queries = ['ferry timetable', 'Ferry  Timetable', 'moss', 'ferry ada@example.org', 'ferry ada@example.org'];
  for (const query of queries) await succeeds('search', query, '--data', data);
  await succeeds('subscriptions', '--token', `${site}=${TOKEN}`, '--data', data);
  await succeeds('refresh', '--budget', '1', '--data', data, ...fast);
  assert.equal(JSON.parse((await ask('/popular')).text).terms.length, 0, 'nothing is told unless the user says so');
  await succeeds('subscriptions', '--share-terms', site, '--data', data);
  await succeeds('subscriptions', '--share-terms', other, '--data', data);
  await succeeds('refresh', '--budget', '1', '--data', data, ...fast);
  const term = { term: 'ferry timetable', url: `${site}/ferry`, title: 'Timetable of the ferry' };
  assert.deepEqual(JSON.parse((await ask('/popular')).text), { terms: [term] });
  assert.deepEqual(JSON.parse((await ask('/suggest?q=tim')).text), { terms: [term] });
  assert.deepEqual(JSON.parse((await ask('/suggest?q=moss')).text), { terms: [] });
  const kept = JSON.parse(readFileSync(join(state, 'terms.json'), 'utf8'));
  assert.deepEqual(kept, [{ ...term, count: 2 }], 'a term, a count and a page: nothing else');
  const shared = await succeeds('subscriptions', '--data', data);
  assert.match(shared, /Search terms are shared with http.*last sent/);
  assert.match(shared, new RegExp(`${other}: nothing sent yet`), 'nobody has searched for what is there');

  assert.equal((await ask('/search?q=ferry')).status, 503, 'home does not serve yet, and the box is told so');
  begin(context, ['serve', '--data', data, '--listen', `127.0.0.1:${searchPort}`, '--rate', '1000']);
  await until(() => ready('/search?q=ferry'));
  const found = JSON.parse((await ask('/search?q=ferry')).text);
  assert.equal(found.hits[0].url, `${site}/ferry`);
  assert.ok(
    found.hits.every(({ url }: { url: string }) => url.startsWith(`${site}/`)),
    'nothing of other sites',
  );
  // `others` stands on the other site alone.
  for (const q of [
    'others) OR (moss',
    'f(")) OR others OR (g(")',
    '"moss) OR others OR ("',
    'others | moss) (',
    'others',
  ]) {
    const { status, text } = await ask(`/search?q=${encodeURIComponent(q)}`);
    assert.equal(status, 200, `${q}: ${text}`);
    const { hits, total, facets, corrected } = JSON.parse(text);
    assert.ok(hits.every(({ url }: { url: string }) => url.startsWith(`${site}/`)));
    assert.equal(total, hits.length, `${q}: nor how many there are elsewhere`);
    assert.doesNotMatch(JSON.stringify([facets, corrected]), new RegExp(new URL(other).host), q);
  }
  const script = await ask('/widget.js');
  assert.match(script.text, /customElements\.define\('skein-search'/);
  assert.equal((await ask('/search?q=')).status, 400);
});
