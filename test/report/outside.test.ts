/**
 * `report --external` asks servers that nobody chose: each is asked by its own robots.txt, read as a crawl reads it, wherever
 * a redirect leads, and servers of one address share a pace.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { checkOutside } from '../../src/report/outside.ts';

const options = { userAgent: 'skein', pace: 0, anyPrivate: true, named: () => false };

interface Asked {
  readonly path: string;
  readonly time: number;
}

async function serve(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    asked.push({ path: request.url!, time: performance.now() });
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const pages = () => asked.map(({ path }) => path).filter(path => path !== '/robots.txt');
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, pages };
}

const RULES = 'User-agent: *\nDisallow: /secret\n';

/** Ways in which the rules do not come as they were meant; with each of them nothing may be asked. */
const broken: Record<string, (response: ServerResponse) => void> = {
  'a body that breaks off': response => {
    response.writeHead(200, { 'content-length': 500 });
    response.write('User-agent: *\n');
    setTimeout(() => response.destroy(), 20);
  },
  'false gzip': response => response.writeHead(200, { 'content-encoding': 'gzip' }).end(RULES),
  'gzip that breaks off': response =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(RULES).subarray(0, 20)),
  'an error of the server': response => response.writeHead(503).end(),
  'too many requests': response => response.writeHead(429).end(),
};

for (const [name, robots] of Object.entries(broken))
  test(`where robots.txt is ${name}, nothing is asked`, async t => {
    const server = await serve(t, (request, response) =>
      request.url === '/robots.txt' ? robots(response) : response.end(),
    );
    const found = await checkOutside([`${server.origin}/secret`], options);
    assert.deepEqual(server.pages(), []);
    assert.deepEqual(found.size, 0, 'and nothing is said of the page');
  });

test('rules that are packed, or elsewhere, are read', async t => {
  const packed = await serve(t, (request, response) =>
    request.url === '/robots.txt'
      ? response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(RULES))
      : response.end(),
  );
  const moved = await serve(t, (request, response) =>
    request.url === '/robots.txt'
      ? response.writeHead(301, { location: `${packed.origin}/robots.txt` }).end()
      : response.end(),
  );
  await checkOutside(
    [packed, moved].flatMap(({ origin }) => [`${origin}/secret`, `${origin}/open`]),
    options,
  );
  assert.deepEqual([packed.pages(), moved.pages()], [['/open'], ['/open']]);
});

test('a redirect is followed where the rules of the other server allow it', async t => {
  const far = await serve(t, (request, response) => response.end(request.url === '/robots.txt' ? RULES : ''));
  const near = await serve(t, (request, response) => {
    if (request.url === '/robots.txt') return response.writeHead(404).end();
    return response.writeHead(302, { location: `${far.origin}${request.url}` }).end();
  });
  const found = await checkOutside([`${near.origin}/secret`, `${near.origin}/open`], options);
  assert.deepEqual(far.pages(), ['/open']);
  assert.equal(found.get(`${near.origin}/open`)?.reason, '');
});

test('a server that does not answer is told, and not asked again for each of its pages', async t => {
  const server = await serve(t, (_, response) => response.destroy());
  const urls = Array.from({ length: 5 }, (_, i) => `${server.origin}/${i}`);
  const found = await checkOutside(urls, options);
  assert.deepEqual(
    urls.map(url => found.get(url)?.status),
    urls.map(() => 0),
  );
  assert.ok([...found.values()].every(({ reason }) => reason !== '' && reason !== 'robots-unreachable'));
  assert.deepEqual(server.pages(), []);
});

test('who asks to be left alone for long is left alone', async t => {
  const server = await serve(t, (request, response) =>
    request.url === '/robots.txt'
      ? response.writeHead(404).end()
      : response.writeHead(429, { 'retry-after': '3600' }).end(),
  );
  const found = await checkOutside([`${server.origin}/a`, `${server.origin}/b`], options);
  assert.equal(server.pages().length, 1);
  assert.equal(found.size, 1, 'the other was not asked for');
});

test('servers of one address share it', async t => {
  const servers = await Promise.all(Array.from({ length: 6 }, () => serve(t, (_, response) => response.end())));
  await checkOutside(
    servers.map(({ origin }) => `${origin}/a`),
    { ...options, pace: 400 },
  );
  const times = servers.flatMap(({ asked }) => asked.map(({ time }) => time)).sort((a, b) => a - b);
  assert.equal(times.length, 12);
  // A quarter of the pace apart; what a timer takes longer is no fault.
  assert.ok(times.at(-1)! - times[0]! >= 11 * 100 - 50, `${times.at(-1)! - times[0]!} ms`);
});
