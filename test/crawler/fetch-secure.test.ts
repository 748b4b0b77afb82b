/** TLS and HTTP/2 against Node's own servers on loopback. */
import assert from 'node:assert/strict';
import { createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import { createServer as createSecureHttp } from 'node:https';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createPlain } from 'node:net';
import { type TestContext, test } from 'node:test';
import { makeCertificate } from './fetch-certificate.ts';
import { ask, failure, fetcherFor, response, text } from './fetch-server.ts';

const good = makeCertificate(['localhost', '127.0.0.1', '::1']);

async function listen(t: TestContext, server: Server | Http2SecureServer): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}); // refused handshakes are part of the tests
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

type StreamReply = (stream: ServerHttp2Stream, path: string) => void;

async function serveHttp2(t: TestContext, reply: StreamReply) {
  const server = createSecureServer({ ...good });
  const state = { sessions: 0, origin: '' };
  server.on('session', session => {
    state.sessions++;
    session.on('error', () => {}); // cut on purpose
  });
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    stream.on('error', () => {}); // cut on purpose
    reply(stream, String(headers[':path']));
  });
  state.origin = `https://localhost:${await listen(t, server)}`;
  return state;
}

test('HTTPS with HTTP/1.1: verified, kept alive, accounted for', async t => {
  const server = createSecureHttp({ ...good }, (request, reply) => reply.end(`you asked for ${request.url}`));
  const port = await listen(t, server);
  let connections = 0;
  server.on('secureConnection', () => connections++);
  const fetcher = fetcherFor(t, { ca: good.cert });
  const first = response(await fetcher.fetch(ask(`https://localhost:${port}/a`)));
  assert.equal(text(first), 'you asked for /a');
  assert.equal(first.protocol, 'http/1.1');
  const second = response(await fetcher.fetch(ask(`https://localhost:${port}/b`)));
  assert.equal(text(second), 'you asked for /b');
  assert.equal(connections, 1);
  for (const { wire, head, requestHead, body } of [first, second]) {
    assert.equal(wire.up, requestHead.length);
    assert.ok(wire.down >= head.length + body.length && wire.down < head.length + body.length + 20);
  }
});

test('a new connection takes up the TLS session of the last one', async t => {
  const server = createSecureHttp({ ...good }, (_request, reply) => reply.end('x'));
  const port = await listen(t, server);
  const reused: boolean[] = [];
  server.on('secureConnection', socket => reused.push(socket.isSessionReused()));
  const fetcher = fetcherFor(t, { ca: good.cert });
  const origin = `https://localhost:${port}`;
  assert.equal(text(await fetcher.fetch(ask(`${origin}/`))), 'x');
  fetcher.release(origin);
  assert.equal(text(await fetcher.fetch(ask(`${origin}/`))), 'x');
  assert.deepEqual(reused, [false, true]);
});

test('an address literal is checked against the certificate without SNI', async t => {
  const server = createSecureHttp({ ...good }, (_request, reply) => reply.end('literal'));
  const port = await listen(t, server);
  const fetcher = fetcherFor(t, { ca: good.cert });
  assert.equal(text(await fetcher.fetch(ask(`https://127.0.0.1:${port}/`))), 'literal');
});

test('a certificate that nobody vouches for, a wrong name, an expired one: tls-failed with the cause', async t => {
  const wrong = makeCertificate(['other.example']);
  const old = makeCertificate(['localhost'], '20210101000000Z');
  const cases = [
    { certificate: good, ca: undefined, code: /SELF_SIGNED|UNABLE_TO/ },
    { certificate: wrong, ca: wrong.cert, code: /ALTNAME/ },
    { certificate: old, ca: old.cert, code: /EXPIRED/ },
  ];
  for (const { certificate, ca, code } of cases) {
    const port = await listen(
      t,
      createSecureHttp({ ...certificate }, (_request, reply) => reply.end('no')),
    );
    const fetcher = fetcherFor(t, ca === undefined ? {} : { ca });
    const result = failure(await fetcher.fetch(ask(`https://localhost:${port}/`)));
    assert.equal(result.reason, 'tls-failed');
    assert.match(result.detail, code);
  }
});

test('a plain server behind an https URL, and one that never answers the handshake: tls-failed', async t => {
  const talker = createPlain(socket => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const mute = createPlain(() => {});
  for (const server of [talker, mute]) {
    const port = await listen(t, server);
    const fetcher = fetcherFor(t, { ca: good.cert, timeouts: { tls: 100 } });
    assert.equal(failure(await fetcher.fetch(ask(`https://localhost:${port}/`))).reason, 'tls-failed');
  }
});

test('HTTP/2: chosen by ALPN, one session for many asks at once', async t => {
  const server = await serveHttp2(t, (stream, path) => {
    stream.respond({ ':status': 200, 'content-type': 'text/html', 'x-many': ['a', 'b'] });
    stream.end(`page ${path}`);
  });
  const fetcher = fetcherFor(t, { ca: good.cert });
  const paths = Array.from({ length: 20 }, (_, i) => `/${i}`);
  const answers = await Promise.all(paths.map(path => fetcher.fetch(ask(`${server.origin}${path}`))));
  assert.deepEqual(
    answers.map(text),
    paths.map(path => `page ${path}`),
  );
  const one = response(answers[3]!);
  assert.equal(one.protocol, 'h2');
  assert.equal(one.headers.get('x-many'), 'a, b');
  const head = Buffer.from(one.head).toString();
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n(?:[a-z-]+: .*\r\n)*\r\n$/);
  assert.match(Buffer.from(one.requestHead).toString(), /^GET \/3 HTTP\/1\.1\r\nHost: localhost:\d+\r\n/);
  assert.equal(server.sessions, 1);
});

test('HTTP/2: conditional headers are sent, 304 has no body', async t => {
  const server = createSecureServer({ ...good });
  const port = await listen(t, server);
  const seen: (string | undefined)[] = [];
  server.on('stream', (stream: ServerHttp2Stream, headers) => {
    seen.push(headers['if-none-match'], headers['if-modified-since'], headers['user-agent']);
    stream.respond({ ':status': 304, etag: '"v1"' }, { endStream: true });
  });
  const fetcher = fetcherFor(t, { ca: good.cert });
  const lastModified = 'Sun, 15 Nov 2026 10:00:00 GMT';
  const result = response(await fetcher.fetch(ask(`https://localhost:${port}/`, { etag: '"v1"', lastModified })));
  assert.equal(result.status, 304);
  assert.equal(result.body.length, 0);
  assert.deepEqual(seen, ['"v1"', lastModified, 'Skein/0.1 (+https://skein.example/bot)']);
});

test('HTTP/2: HEAD brings the headers and ends', async t => {
  const server = await serveHttp2(t, stream => {
    stream.respond({ ':status': 200, 'content-length': '5000', etag: '"a"' });
    if (!stream.writableEnded) stream.end('x'.repeat(5000)); // Node has ended it where the method is HEAD
  });
  const fetcher = fetcherFor(t, { ca: good.cert });
  const head = response(await fetcher.fetch(ask(`${server.origin}/a`, { method: 'HEAD' })));
  assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, '5000', 0]);
  assert.equal(head.protocol, 'h2');
  assert.equal(head.truncated, undefined);
  assert.match(Buffer.from(head.requestHead).toString(), /^HEAD \/a /);
});

test('HTTP/2: a body beyond maxBytes is cut, and the session goes on', async t => {
  const server = await serveHttp2(t, (stream, path) => {
    stream.respond({ ':status': 200 });
    if (path !== '/endless') return stream.end('small');
    const more = () => {
      while (!stream.destroyed && stream.write(Buffer.alloc(16_384, 'x')));
      stream.once('drain', more);
    };
    more();
  });
  const fetcher = fetcherFor(t, { ca: good.cert });
  const cut = response(await fetcher.fetch(ask(`${server.origin}/endless`, { maxBytes: 100_000 })));
  assert.equal(cut.truncated, 'length');
  assert.equal(cut.body.length, 100_000);
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/small`))), 'small');
  assert.equal(server.sessions, 1);
});

test('HTTP/2: many tiny frames make one body, of no more memory than its bytes', async t => {
  const server = await serveHttp2(t, stream => {
    stream.respond({ ':status': 200 });
    for (let i = 0; i < 3_000; i++) stream.write(String(i % 10));
    stream.end();
  });
  const result = response(await fetcherFor(t, { ca: good.cert }).fetch(ask(`${server.origin}/`)));
  assert.equal(text(result), '0123456789'.repeat(300));
  assert.ok(result.body.buffer.byteLength <= 65_536);
});

test('HTTP/2: a stream that hangs, drips, is reset, or loses its session', async t => {
  const server = await serveHttp2(t, (stream, path) => {
    if (path === '/hang') return;
    stream.respond({ ':status': 200 });
    if (path === '/drip') stream.write('some');
    if (path === '/reset') {
      stream.write('partial');
      setTimeout(() => stream.destroy(new Error('broken')), 30);
    }
    if (path === '/lost') {
      stream.write('partial');
      setTimeout(() => stream.session?.destroy(), 30);
    }
  });
  const get = (path: string, timeouts = {}) =>
    fetcherFor(t, { ca: good.cert, timeouts }).fetch(ask(`${server.origin}${path}`));
  assert.equal(failure(await get('/hang', { firstByte: 150 })).reason, 'first-byte-timeout');
  const drip = response(await get('/drip', { betweenBytes: 150 }));
  assert.deepEqual([drip.truncated, text(drip)], ['time', 'some']);
  assert.equal(failure(await get('/empty', { betweenBytes: 150 })).reason, 'body-timeout');
  const reset = response(await get('/reset'));
  assert.deepEqual([reset.truncated, text(reset)], ['disconnect', 'partial']);
  const lost = response(await get('/lost'));
  assert.deepEqual([lost.truncated, text(lost)], ['disconnect', 'partial']);
});

test('HTTP/2: after GOAWAY a new session is opened; a refused stream is tried again once', async t => {
  let refusals = 1;
  const server = await serveHttp2(t, (stream, path) => {
    if (path === '/refused' && refusals-- > 0) return stream.close(7);
    if (path === '/always-refused') return stream.close(7);
    stream.respond({ ':status': 200 });
    stream.end('fine');
    if (path === '/last') stream.session?.goaway(0);
  });
  const fetcher = fetcherFor(t, { ca: good.cert });
  const get = (path: string) => fetcher.fetch(ask(`${server.origin}${path}`));
  assert.equal(text(await get('/refused')), 'fine');
  assert.equal(failure(await get('/always-refused')).reason, 'reset');
  assert.equal(text(await get('/last')), 'fine');
  // Until the frame has arrived, the old session goes on.
  while (server.sessions < 2) assert.equal(text(await get('/next')), 'fine');
});

test('HTTP/2: a server that demands HTTP/1.1 gets it', async t => {
  const server = createSecureServer({ ...good, allowHTTP1: true }, (request, reply) => {
    if (request.httpVersionMajor === 2) request.stream.close(13);
    else reply.end('old style');
  });
  const port = await listen(t, server);
  const fetcher = fetcherFor(t, { ca: good.cert });
  const result = response(await fetcher.fetch(ask(`https://localhost:${port}/`)));
  assert.equal(text(result), 'old style');
});

test('closing the fetcher ends what is under way', async t => {
  const server = await serveHttp2(t, () => {});
  const fetcher = fetcherFor(t, { ca: good.cert });
  const pending = fetcher.fetch(ask(`${server.origin}/`));
  setTimeout(() => void fetcher.close(), 100);
  assert.equal(failure(await pending).reason, 'reset');
});
