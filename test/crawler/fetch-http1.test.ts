/** The fetcher over HTTP/1.1 against raw sockets on loopback: what servers do, right and wrong. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, failure, fetcherFor, response, serve, text } from './fetch-server.ts';

const ok = (body: string, more = '') => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`;

test('a page: status, exact heads, headers, body, account', async t => {
  const server = await serve(t, socket => socket.write(ok('hello', 'X-One: a\r\nx-one: b\r\n')));
  const result = response(await fetcherFor(t).fetch(ask(`${server.origin}/path?x=1`)));
  assert.equal(result.status, 200);
  assert.equal(text(result), 'hello');
  assert.equal(result.headers.get('x-one'), 'a, b');
  assert.equal(result.truncated, undefined);
  assert.equal(result.protocol, 'http/1.1');
  assert.equal(result.address, '127.0.0.1');
  assert.equal(
    Buffer.from(result.head).toString(),
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: a\r\nx-one: b\r\n\r\n',
  );
  assert.equal(Buffer.from(result.requestHead).toString(), server.requests[0]);
  assert.equal(result.wire.up, result.requestHead.length);
  assert.equal(result.wire.down, result.head.length + 5);
});

test('the request names us, its host and the codings, and carries validators', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n'));
  const fetcher = fetcherFor(t);
  const lastModified = 'Sun, 15 Nov 2026 10:00:00 GMT';
  const result = response(await fetcher.fetch(ask(`${server.origin}/a`, { etag: 'W/"\xe4"', lastModified })));
  assert.equal(result.status, 304);
  assert.equal(result.body.length, 0);
  const host = server.origin.slice(7);
  assert.equal(
    server.requests[0],
    `GET /a HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Skein/0.1 (+https://skein.example/bot)\r\n` +
      'Accept-Encoding: gzip, deflate, br, zstd\r\n' +
      'Accept: text/html,*/*;q=0.8\r\n' +
      `If-None-Match: W/"\xe4"\r\nIf-Modified-Since: ${lastModified}\r\n\r\n`,
  );
  await fetcher.fetch(ask(`${server.origin}/b`, { etag: 'x\r\nEvil: 1', lastModified: 'a\nb', accept: 'text/plain' }));
  assert.doesNotMatch(server.requests[1]!, /Evil|If-/);
  assert.match(server.requests[1]!, /Accept: text\/plain\r\n/);
});

test('HEAD: the length is told and no body is waited for, and the connection goes on', async t => {
  const replies = ['HTTP/1.1 200 OK\r\nContent-Length: 5000\r\nETag: "a"\r\n\r\n', ok('hello')];
  const server = await serve(t, (socket, _request, count) => socket.write(replies[count - 1]!));
  const fetcher = fetcherFor(t);
  const head = response(await fetcher.fetch(ask(`${server.origin}/a`, { method: 'HEAD' })));
  assert.match(server.requests[0]!, /^HEAD \/a HTTP\/1\.1\r\n/);
  assert.deepEqual([head.status, head.headers.get('content-length'), head.body.length], [200, '5000', 0]);
  assert.equal(head.truncated, undefined);
  assert.equal(head.wire.down, head.head.length);
  assert.equal(text(response(await fetcher.fetch(ask(`${server.origin}/b`)))), 'hello');
  assert.match(server.requests[1]!, /^GET \/b /);
  assert.equal(server.connections, 1);
});

test('a URL that would break the request line is refused', async t => {
  const fetcher = fetcherFor(t);
  for (const url of [
    'http://a.example/x y',
    'http://a.example/\r\nEvil: 1',
    'ftp://a.example/',
    'http:///',
    'nonsense',
  ])
    assert.equal(failure(await fetcher.fetch(ask(url))).reason, 'bad-url', url);
});

test('connections are kept and used again; as many as there are asks at once', async t => {
  const server = await serve(t, socket => setTimeout(() => socket.write(ok('x')), 5));
  const fetcher = fetcherFor(t);
  for (let i = 0; i < 10; i++) await fetcher.fetch(ask(`${server.origin}/${i}`));
  assert.equal(server.connections, 1);
  await Promise.all(Array.from({ length: 4 }, (_, i) => fetcher.fetch(ask(`${server.origin}/${i}`))));
  assert.equal(server.connections, 4);
  fetcher.release(server.origin);
  await fetcher.fetch(ask(`${server.origin}/`));
  assert.equal(server.connections, 5);
});

test('idle connections are bounded per origin, in all, and in time', async t => {
  const server = await serve(t, socket => setTimeout(() => socket.write(ok('x')), 20));
  const fetcher = fetcherFor(t, { idle: { perOrigin: 2 } });
  const burst = () => Promise.all([1, 2, 3, 4].map(i => fetcher.fetch(ask(`${server.origin}/${i}`))));
  await burst();
  await burst();
  assert.equal(server.connections, 6, 'two of four were kept');

  const brief = await serve(t, socket => socket.write(ok('z')));
  await fetcherFor(t, { idle: { time: 60 } }).fetch(ask(`${brief.origin}/`));
  await brief.closed(1);

  const other = await serve(t, socket => socket.write(ok('y')));
  const small = fetcherFor(t, { idle: { total: 1 } });
  for (const origin of [server.origin, other.origin, server.origin]) await small.fetch(ask(`${origin}/`));
  assert.equal(server.connections, 8, 'the second origin pushed out the connection of the first');
});

test('a connection that the server closed as we wrote is tried once more, on a new one', async t => {
  const server = await serve(t, (socket, _request, count) => {
    if (count === 2) socket.destroy();
    else socket.write(ok('x'));
  });
  const fetcher = fetcherFor(t);
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/1`))), 'x');
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/2`))), 'x');
  assert.deepEqual([server.requests.length, server.connections], [3, 2]);
});

test('of requests with a body only a question is sent a second time', async t => {
  const server = await serve(t, (socket, _request, count) => {
    if (count % 2 === 0) socket.destroy();
    else socket.write(ok('x'));
  });
  const fetcher = fetcherFor(t);
  const content = { type: 'text/plain', bytes: Buffer.from('a') };
  const post = (isQuestion: boolean) =>
    fetcher.fetch(ask(`${server.origin}/`, { method: 'POST', content: { ...content, isQuestion } }));
  await fetcher.fetch(ask(`${server.origin}/1`));
  assert.equal(text(await post(true)), 'x');
  assert.equal(failure(await post(false)).reason, 'reset');
  assert.equal(server.requests.length, 4);
});

test('a server that closes every connection without a word: reset, not tried for ever', async t => {
  const server = await serve(t, (socket, _request, count) => {
    if (count === 1) socket.write(ok('x'));
    else socket.destroy();
  });
  const fetcher = fetcherFor(t);
  await fetcher.fetch(ask(`${server.origin}/1`));
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/2`))).reason, 'reset');
  assert.equal(server.requests.length, 3);
});

test('Connection: close, HTTP/1.0 and read-to-close', async t => {
  const server = await serve(t, (socket, request) => {
    if (request.startsWith('GET /close')) socket.write(ok('a', 'Connection: Close\r\n'));
    else if (request.startsWith('GET /old ')) socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end');
    else socket.write(ok('c', 'Connection: keep-alive\r\n').replace('1.1', '1.0'));
  });
  const fetcher = fetcherFor(t);
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/close`))), 'a');
  const old = response(await fetcher.fetch(ask(`${server.origin}/old`)));
  assert.deepEqual([text(old), old.truncated], ['until the end', undefined]);
  for (let i = 0; i < 3; i++) assert.equal(text(await fetcher.fetch(ask(`${server.origin}/old-kept`))), 'c');
  assert.equal(server.connections, 3);
});

test('bytes after the end of a response close the connection', async t => {
  const server = await serve(t, socket => socket.write(`${ok('x')}HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison`));
  const fetcher = fetcherFor(t);
  for (let i = 0; i < 3; i++) assert.equal(text(await fetcher.fetch(ask(`${server.origin}/${i}`))), 'x');
  assert.equal(server.connections, 3);
});

test('bytes that come while a connection is idle close it', async t => {
  const closed = Promise.withResolvers<void>();
  const server = await serve(t, socket => {
    socket.write(ok('x'));
    socket.once('close', () => closed.resolve());
    setTimeout(() => socket.write(ok('poison')), 20);
  });
  const fetcher = fetcherFor(t);
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/1`))), 'x');
  await closed.promise;
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/2`))), 'x');
  assert.equal(server.connections, 2);
});

test('a circle of redirects is answers like any other', async t => {
  const server = await serve(t, (socket, request) => {
    const next = request.startsWith('GET /a ') ? '/b' : '/a';
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${next}\r\nContent-Length: 0\r\n\r\n`);
  });
  const fetcher = fetcherFor(t);
  let path = '/a';
  for (let i = 0; i < 6; i++) {
    const result = response(await fetcher.fetch(ask(`${server.origin}${path}`)));
    assert.equal(result.status, 302);
    path = result.headers.get('location')!;
  }
  assert.equal(path, '/a');
  assert.equal(server.connections, 1);
});

test('binary named as HTML comes through byte for byte', async t => {
  const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7919 + (i >> 8)) & 255));
  const server = await serve(t, socket => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${bytes.length}\r\n\r\n`);
    socket.write(bytes);
  });
  const result = response(await fetcherFor(t).fetch(ask(`${server.origin}/`)));
  assert.ok(bytes.equals(result.body));
});

test('IPv6: a literal in brackets', async t => {
  const server = await serve(t, socket => socket.write(ok('six')), '::1').catch(() => undefined);
  if (server === undefined) return t.skip('this machine has no IPv6 loopback');
  const result = response(await fetcherFor(t).fetch(ask(`${server.origin}/`)));
  assert.deepEqual([text(result), result.address], ['six', '::1']);
  assert.match(server.requests[0]!, /\r\nHost: \[::1\]:\d+\r\n/);
});

test('closing the fetcher ends what is under way, and what comes after', async t => {
  const server = await serve(t, () => {});
  const fetcher = fetcherFor(t);
  const pending = fetcher.fetch(ask(`${server.origin}/`));
  setTimeout(() => void fetcher.close(), 50);
  assert.equal(failure(await pending).reason, 'reset');
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/`))).reason, 'reset');

  const lost = fetcherFor(t, { resolve: () => new Promise(() => {}) });
  const asked = lost.fetch(ask('http://slow.example/'));
  await lost.close();
  assert.equal(failure(await asked).reason, 'reset', 'not after the time limit, as dns');
});

test('memory of a body that was given back holds the next one, and no other', async t => {
  const bodyOf = (path: string) => `${path} `.repeat(2000);
  const server = await serve(t, (socket, request) => socket.write(ok(bodyOf(request.split(' ')[1]!))));
  const fetcher = fetcherFor(t);
  const fetch = async (path: string) => response(await fetcher.fetch(ask(server.origin + path)));
  const [first, second] = [await fetch('/1'), await fetch('/2')];
  const memory = first.body.buffer;
  fetcher.reuse!(first.body);
  fetcher.reuse!(Buffer.alloc(8192, 'not from here').subarray(100)); // harmless: nobody else has it either
  const third = await fetch('/3');
  const fourth = await fetch('/4');
  assert.equal([third, fourth].filter(({ body }) => body.buffer === memory).length, 1);
  assert.deepEqual([second, third, fourth].map(text), ['/2', '/3', '/4'].map(bodyOf));
});

test('memory that was handed to another thread meanwhile is not used again', async t => {
  const server = await serve(t, socket => socket.write(ok('x'.repeat(9000))));
  const fetcher = fetcherFor(t);
  const { body } = response(await fetcher.fetch(ask(`${server.origin}/1`)));
  structuredClone(body.buffer, { transfer: [body.buffer as ArrayBuffer] });
  fetcher.reuse!(body);
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/2`))).length, 9000);
});
