/** The faces of a site inside node:http, Express, Fastify and Hono: one suite, run in each of them as its users do. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { bodyHash } from '../../src/notices/site/pages.ts';
import { type SiteMiddleware, site, type ToldPage } from '../../src/site/middleware.ts';
import { folder, PUBLIC, page, reader, until } from './site-here.ts';

interface App {
  readonly at: string;
  close(): unknown;
}

const port = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const HELLO = page('Hello', 'from the app');

const frameworks: Readonly<Record<string, (middleware: SiteMiddleware) => Promise<App>>> = {
  'node:http': async middleware => {
    const server = createServer((request, response) =>
      middleware(request, response, () => response.writeHead(200, { 'content-type': 'text/html' }).end(HELLO)),
    );
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    return { at: port(server), close: () => server.close() };
  },
  Express: async middleware => {
    const app = express();
    app.use(middleware);
    app.get('/hello', (_, response) => void response.type('html').send(HELLO));
    const server = await new Promise<Server>(resolve => {
      const made = app.listen(0, '127.0.0.1', () => resolve(made));
    });
    return { at: port(server), close: () => server.close() };
  },
  Fastify: async middleware => {
    const app = fastify();
    app.register(middleware.fastify);
    app.get('/hello', (_, reply) => reply.type('text/html').send(HELLO));
    return { at: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
  },
  Hono: async middleware => {
    const app = new Hono();
    app.use(middleware.hono);
    app.get('/hello', context => context.html(HELLO));
    const server = await new Promise<Server>(resolve => {
      const made = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(made as Server));
    });
    return { at: port(server), close: () => server.close() };
  },
};

function pagesOf(context: TestContext): { pages: Map<string, string>; middleware: SiteMiddleware } {
  const pages = new Map([
    ['/hello', HELLO],
    ['/other', page('Other', 'one')],
  ]);
  const told = (url: string): ToldPage => ({ url, body: pages.get(url)! });
  const middleware = site({
    public: PUBLIC,
    data: join(folder(context), 'state'),
    requestsAMinute: 100_000,
    goneAfter: 0.2,
    pages: url =>
      (url === undefined ? [...pages.keys()] : [new URL(url).pathname]).filter(key => pages.has(key)).map(told),
  });
  context.after(() => middleware.close());
  return { pages, middleware };
}

for (const [name, start] of Object.entries(frameworks)) {
  test(`${name}: the app answers as before, and the site tells what the app says`, async context => {
    const { pages, middleware } = pagesOf(context);
    const app = await start(middleware);
    context.after(() => app.close());
    await middleware.ready;
    const here = reader(app.at);
    const hello = await here.get('/hello');
    assert.equal(await hello.text(), HELLO);
    assert.match(hello.headers.get('link') ?? '', /<\/\.well-known\/skein>; rel="skein"/);
    const { journal, pages: count } = await here.discovery();
    assert.equal(count, 2);
    assert.equal(await here.changes(journal.cursor), undefined);
    const old = Buffer.from(pages.get('/other')!);
    pages.set('/other', page('Other', 'two'));
    await middleware.changed('/other');
    const { changes } = (await here.changes(journal.cursor))!;
    assert.deepEqual(
      changes.map(({ url, operation }) => [url, operation]),
      [[`${PUBLIC}other`, 'update']],
    );
    const wanted = [{ url: `${PUBLIC}other`, have: bodyHash(old) }];
    const [other] = await here.pages(wanted, () => old);
    assert.equal(Buffer.from((other as { body: Uint8Array }).body).toString(), pages.get('/other'));
    const sitemap = await here.get('/.well-known/skein/sitemap-1.xml');
    assert.match(await sitemap.text(), /https:\/\/example\.org\/hello/);
    const head = await fetch(`${app.at}/.well-known/skein/sitemap.xml`, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
    assert.equal((await here.get('/.well-known/resourcesync')).status, 200);
    const key = await here.get(`/${middleware.status()!.indexNowKey}.txt`);
    assert.equal(await key.text(), middleware.status()!.indexNowKey);
    assert.equal((await here.get('/.well-known/skein/nothing')).status, 404);
    pages.delete('/other');
    await middleware.changed('/other');
    await until(() => middleware.status()!.pages === 1);
  });
}

test('an app that makes its pages itself is walked through its own door', async context => {
  const data = join(folder(context), 'state');
  const app = express();
  let words = 'one';
  const listening = new Promise<Server>(resolve => {
    const made = app.listen(0, '127.0.0.1', () => resolve(made));
  });
  const server = await listening;
  context.after(() => server.close());
  const middleware = site({ public: PUBLIC, upstream: port(server), data });
  context.after(() => middleware.close());
  app.use(middleware);
  app.get('/robots.txt', (_, response) => void response.type('txt').send('User-agent: *\nDisallow: /secret'));
  app.get(
    '/',
    (_, response) =>
      void response.send(
        '<a href="/a">a</a> <a href="/secret">s</a> <a href="/moved">m</a> <a href="https://example.org/b?x=1">b</a>',
      ),
  );
  app.get('/a', (_, response) => void response.send(page('A', words)));
  app.get('/b', (_, response) => void response.send(page('B', 'always')));
  app.get('/secret', (_, response) => void response.send(page('Secret', 'x')));
  app.get('/moved', (_, response) => void response.redirect('/c'));
  app.get('/c', (_, response) => void response.send(page('C', 'x')));
  await middleware.ready;
  const here = reader(port(server));
  const urls = async () =>
    [...(await (await here.get('/.well-known/skein/sitemap-1.xml')).text()).matchAll(/<loc>([^<]*)/g)].map(
      ([, url]) => url,
    );
  assert.deepEqual(
    await urls(),
    ['', 'a', 'b?x=1', 'c'].map(path => PUBLIC + path),
  );
  const { cursor } = (await here.discovery()).journal;
  words = 'two';
  await middleware.changed();
  const told = (await here.changes(cursor))!.changes;
  assert.deepEqual(
    told.map(({ url }) => url),
    [`${PUBLIC}a`],
  );
});

test('options that are wrong are said at once', () => {
  assert.throws(() => site({ public: 'https://example.org/' }), { code: 'bad-option' });
  assert.throws(() => site({ public: 'nonsense:', directory: '.' }), { code: 'bad-option' });
  assert.throws(() => site({ public: PUBLIC, directory: '/nowhere/at/all' }), { code: 'not-found' });
  assert.throws(() => site({ public: PUBLIC, directory: '.', token: 'short' }), { code: 'bad-option' });
  assert.throws(() => site({ public: PUBLIC, upstream: 'http://127.0.0.1/path' }), { code: 'bad-option' });
});
