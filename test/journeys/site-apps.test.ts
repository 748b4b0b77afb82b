/** Apps with the middleware, and `skein site` beside a server that makes its pages: home crawls them, and is told from then on. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { serve } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { type SiteMiddleware, site } from '../../src/site/middleware.ts';
import { freePort } from '../free-port.ts';
import { folder, page, startSite } from '../site/site-here.ts';
import { makeCollection } from './collection.ts';

const long = Array.from({ length: 500 }, (_, i) => `word${(i * 7919) % 601}`).join(' ');
const front = page('Front', '<a href="/other">Other</a>');

interface App {
  other: string;
}

const makeApp = (): App => ({ other: page('Other', `${long} one`) });
const bodyOf = ({ other }: App, path: string): string => (path === '/' ? front : other);

const frameworks: Record<string, (app: App, middleware: SiteMiddleware, port: number) => Promise<() => unknown>> = {
  Express: async (app, middleware, port) => {
    const made = express();
    made.use(middleware);
    for (const path of ['/', '/other']) made.get(path, (_, response) => void response.send(bodyOf(app, path)));
    const server = await new Promise<Server>(resolve => {
      const opened = made.listen(port, '127.0.0.1', () => resolve(opened));
    });
    return () => server.close();
  },
  Fastify: async (app, middleware, port) => {
    const made = fastify();
    made.register(middleware.fastify);
    for (const path of ['/', '/other'])
      made.get(path, (_, reply) => reply.type('text/html; charset=utf-8').send(bodyOf(app, path)));
    await made.listen({ port, host: '127.0.0.1' });
    return () => made.close();
  },
  Hono: async (app, middleware, port) => {
    const made = new Hono();
    made.use(middleware.hono);
    for (const path of ['/', '/other']) made.get(path, context => context.html(bodyOf(app, path)));
    const server = await new Promise<Server>(resolve => {
      const opened = serve({ fetch: made.fetch, port, hostname: '127.0.0.1' }, () => resolve(opened as Server));
    });
    return () => server.close();
  },
};

/** Crawls, is told of a change of `/other`, and has it as a difference from the site. */
async function follow(origin: string, app: App, changed: () => Promise<void>): Promise<void> {
  using collection = makeCollection();
  await collection.crawl([`${origin}/`]);
  const notAudited = { budget: '100', audit: 0 };
  await collection.refresh(notAudited);
  collection.pass(1);
  app.other = page('Other', `${long} two`);
  await changed();
  await collection.refresh(notAudited);
  const visit = collection.visits(`${origin}/other`).at(-1)!;
  assert.deepEqual([visit.outcome, visit.cause], ['fetched', 'delta']);
  const [face] = collection.look(ledger => ledger.schedule.faces.all().filter(({ kind }) => kind === 'cursor'));
  assert.deepEqual([face?.trouble, face?.failures], ['', 0]);
}

for (const [name, start] of Object.entries(frameworks)) {
  test(`${name}: home crawls the app, and gets what changed from its middleware`, async context => {
    const app = makeApp();
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const middleware = site({
      ...{ public: origin, data: join(folder(context), 'state'), requestsAMinute: 100_000 },
      pages: url =>
        ['/', '/other']
          .filter(path => url === undefined || new URL(url).pathname === path)
          .map(path => ({ url: path, body: path === '/' ? front : app.other })),
    });
    context.after(() => middleware.close());
    context.after(await start(app, middleware, port));
    await middleware.ready;
    await follow(origin, app, () => middleware.changed('/other'));
  });
}

/** A web server whose pages are made by a program, and that passes the face of the site on, as nginx does. */
async function openDynamic(context: TestContext, app: App, faceAt: () => string) {
  const server = createServer((asked, response) => {
    const path = asked.url!;
    if (!path.startsWith('/.well-known/')) {
      const isPage = path === '/' || path === '/other';
      const body = isPage ? bodyOf(app, path) : 'nothing';
      return response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(body);
    }
    const { method, headers } = asked;
    const passed = request(faceAt() + path, { method, headers }, (answer: IncomingMessage) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.writeHead(502).end());
    return asked.pipe(passed);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('beside a server that makes its pages: home gets what changed through the site', async context => {
  const app = makeApp();
  let at = '';
  const origin = await openDynamic(context, app, () => at);
  const here = await startSite(context, { public: `${origin}/`, upstream: origin });
  at = here.at;
  await follow(origin, app, () => here.site.changed('/other'));
});
