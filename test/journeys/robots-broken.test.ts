/** A robots.txt that did not come whole says nothing: the pages that it may forbid are not asked for. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { crawlHere, workplace } from './skein.ts';

interface Raw extends AsyncDisposable {
  readonly origin: string;
  readonly paths: string[];
}

/** Answers robots.txt with these very bytes, and anything else with a small page. */
async function serve(robots: Uint8Array | string, then: 'stays' | 'closes' = 'closes'): Promise<Raw> {
  const paths: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', bytes => {
      const path = bytes.toString('latin1').split(' ')[1]!;
      paths.push(path);
      if (path !== '/robots.txt')
        return socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi');
      socket.write(robots);
      if (then === 'closes') socket.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const RULES = 'User-agent: *\nDisallow: /closed\n';
const plain = (head: string, body: string | Uint8Array) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n${head}\r\n\r\n`), Buffer.from(body)]);
const zipped = gzipSync(`${RULES}${'# words\n'.repeat(400)}`);

async function asked(robots: Uint8Array | string, pages: readonly string[], then?: 'stays'): Promise<string[]> {
  await using server = await serve(robots, then);
  using place = workplace();
  const seeds = pages.map(page => `${server.origin}${page}`);
  const timeouts = { body: 1000 };
  await crawlHere({ data: place.path, depth: 0, threads: 1 }, seeds, { timeouts });
  return server.paths.filter(path => path !== '/robots.txt').sort();
}

const broken: readonly (readonly [string, Uint8Array | string, 'stays'?])[] = [
  ['shorter than its Content-Length', plain('Content-Length: 5000', 'User-agent: *\n')],
  ['chunks without an end', plain('Transfer-Encoding: chunked', 'e\r\nUser-agent: *\n\r\n')],
  ['a body that stops coming', plain('Content-Length: 5000', 'User-agent: *\n'), 'stays'],
  ['gzip that ends early', plain(`Content-Encoding: gzip\r\nContent-Length: 40`, zipped.subarray(0, 40))],
  ['gzip that is none', plain(`Content-Encoding: gzip\r\nContent-Length: ${RULES.length}`, RULES)],
  ['gzip with a wrong byte', plain(`Content-Encoding: gzip\r\nContent-Length: ${zipped.length}`, flipped(zipped))],
  ['a coding that we do not know', plain(`Content-Encoding: compress\r\nContent-Length: ${RULES.length}`, RULES)],
];

function flipped(bytes: Uint8Array): Uint8Array {
  const copy = Buffer.from(bytes);
  for (let i = 12; i < 20; i++) copy[i] = copy[i]! ^ 0x5a;
  return copy;
}

for (const [what, robots, then] of broken) {
  test(`robots.txt: ${what}: nothing is asked for`, async () => {
    assert.deepEqual(await asked(robots, ['/closed/page', '/open'], then), []);
  });
}

test('robots.txt: whole, in any coding, it is obeyed', async () => {
  const of = (coding: string, bytes: Uint8Array | string) =>
    plain(`Content-Encoding: ${coding}\r\nContent-Length: ${bytes.length}`, bytes);
  for (const robots of [of('identity', RULES), of('gzip', zipped), of('br', brotliCompressSync(RULES))])
    assert.deepEqual(await asked(robots, ['/closed/page', '/open']), ['/open']);
});

test('robots.txt: the line across the border of 500 KiB is dropped, not cut', async () => {
  const LIMIT = 500 * 1024;
  const start = 'User-agent: *\nDisallow: /first\n';
  // `Disallow: /` ends exactly at the border; the rule goes on behind it.
  const border = 'Disallow: /';
  const filler = `#${'x'.repeat(LIMIT - start.length - border.length - 2)}\n`;
  const file = `${start}${filler}${border}zzz\nDisallow: /behind\n`;
  const whole = plain(`Content-Length: ${file.length}`, file);
  const pages = ['/first', '/open', '/zzz'];
  assert.deepEqual(await asked(whole, pages), ['/open', '/zzz']);
  const coded = gzipSync(file);
  assert.deepEqual(await asked(plain(`Content-Encoding: gzip\r\nContent-Length: ${coded.length}`, coded), pages), [
    '/open',
    '/zzz',
  ]);
});

test('robots.txt: rules in Latin-1 are compared as octets', async () => {
  const file = Buffer.from('User-agent: *\nDisallow: /caf\xe9\nDisallow: /na\xefve/\n', 'latin1');
  const pages = ['/caf%E9', '/cafe', '/caf%C3%A9', '/na%EFve/x'];
  assert.deepEqual(await asked(plain(`Content-Length: ${file.length}`, file), pages), ['/caf%C3%A9', '/cafe']);
});

test('a robots.txt that redirects to another private server is not followed there, nor a page', async () => {
  await using other = await serve(plain(`Content-Length: ${RULES.length}`, RULES));
  const redirect = `HTTP/1.1 302 Found\r\nLocation: ${other.origin}/robots.txt\r\nContent-Length: 0\r\n\r\n`;
  await using server = await serve(redirect);
  using place = workplace();
  // The user named this very address, and no other.
  await crawlHere({ data: place.path, allowPrivate: false, scope: '*', threads: 1 }, [`${server.origin}/`]);
  assert.deepEqual(other.paths, []);
  assert.ok(server.paths.includes('/robots.txt'), 'the one that was named is asked');
  using opened = workplace();
  await crawlHere({ data: opened.path, allowPrivate: true, scope: '*', threads: 1 }, [`${server.origin}/`]);
  assert.deepEqual(other.paths, ['/robots.txt'], 'unless all are opened');
});
