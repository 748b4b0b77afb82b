/** Servers that hang, drip, lie, break off or never end: each gets a named outcome, in bounded time and memory. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { defaultTimeouts, limitWait } from '../../src/crawler/fetch/exchange.ts';
import { ask, failure, fetcherFor, response, serve, text } from './fetch-server.ts';

test('no answer at all: first-byte-timeout; half a head: the same', async t => {
  const server = await serve(t, (socket, request) => {
    if (request.startsWith('GET /half')) socket.write('HTTP/1.1 200 OK\r\nContent-');
  });
  const fetcher = fetcherFor(t, { timeouts: { firstByte: 100, betweenBytes: 100 } });
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/none`))).reason, 'first-byte-timeout');
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/half`))).reason, 'first-byte-timeout');
});

test('a body that never begins: body-timeout; one that stops: what came, marked', async t => {
  const server = await serve(t, (socket, request) => {
    const some = request.startsWith('GET /some') ? 'some' : '';
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n${some}`);
  });
  const fetcher = fetcherFor(t, { timeouts: { betweenBytes: 100 } });
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/none`))).reason, 'body-timeout');
  const cut = response(await fetcher.fetch(ask(`${server.origin}/some`)));
  assert.deepEqual([cut.truncated, text(cut)], ['time', 'some']);
});

test('a server that drips for ever is cut when the whole body is due', async t => {
  const server = await serve(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n.');
    const timer = setInterval(() => socket.write('.'), 10);
    socket.on('close', () => clearInterval(timer));
  });
  const fetcher = fetcherFor(t, { timeouts: { body: 200 } });
  const cut = response(await fetcher.fetch(ask(`${server.origin}/`)));
  assert.equal(cut.truncated, 'time');
  assert.match(text(cut), /^\.+$/);
  await server.closed(1);
});

test('a reset in the middle of a body, and before it', async t => {
  const server = await serve(t, (socket, request) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n');
    if (request.startsWith('GET /middle')) socket.write('partial');
    setTimeout(() => socket.resetAndDestroy(), 30);
  });
  const fetcher = fetcherFor(t);
  const cut = response(await fetcher.fetch(ask(`${server.origin}/middle`)));
  assert.deepEqual([cut.truncated, text(cut)], ['disconnect', 'partial']);
  assert.equal(failure(await fetcher.fetch(ask(`${server.origin}/before`))).reason, 'reset');
});

test('a body read to the end of the connection is not whole after a reset', async t => {
  const server = await serve(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n\r\npartial');
    setTimeout(() => socket.resetAndDestroy(), 30);
  });
  const cut = response(await fetcherFor(t).fetch(ask(`${server.origin}/`)));
  assert.deepEqual([cut.truncated, text(cut)], ['disconnect', 'partial']);
});

test('a Content-Length that is too long, and one that is too short', async t => {
  const server = await serve(t, (socket, request) => {
    if (request.startsWith('GET /long')) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this');
    else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nonly this');
  });
  const fetcher = fetcherFor(t);
  const long = response(await fetcher.fetch(ask(`${server.origin}/long`)));
  assert.deepEqual([long.truncated, text(long)], ['disconnect', 'only this']);
  const short = response(await fetcher.fetch(ask(`${server.origin}/short`)));
  assert.deepEqual([short.truncated, text(short)], [undefined, 'only']);
  await fetcher.fetch(ask(`${server.origin}/short`));
  assert.equal(server.connections, 3, 'no connection of a liar is used again');
});

for (const [framing, head] of [
  ['read to close', ''],
  ['chunked', 'Transfer-Encoding: chunked\r\n'],
  ['ten gigabytes announced', 'Content-Length: 10737418240\r\n'],
] as const) {
  test(`an endless body (${framing}) is cut at maxBytes and the connection closed`, async t => {
    let sent = 0;
    const block = Buffer.alloc(16_384, 'x');
    const server = await serve(t, socket => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n`);
      const more = () => {
        while (!socket.destroyed) {
          sent += block.length;
          if (framing === 'chunked') socket.write('4000\r\n');
          const room = socket.write(block);
          if (framing === 'chunked') socket.write('\r\n');
          if (!room) break;
        }
      };
      socket.on('drain', more);
      more();
    });
    const maxBytes = 500_000;
    const cut = response(await fetcherFor(t).fetch(ask(`${server.origin}/`, { maxBytes })));
    assert.equal(cut.truncated, 'length');
    assert.equal(cut.body.length, maxBytes);
    assert.ok(cut.body.every(byte => byte === 0x78));
    assert.ok(cut.body.buffer.byteLength <= 2 * maxBytes, 'memory is bound by maxBytes');
    await server.closed(1);
    assert.ok(sent < 20_000_000);
  });
}

test('a body of exactly maxBytes is whole', async t => {
  const server = await serve(t, (socket, request) => {
    if (request.startsWith('GET /length')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nexact');
    else if (request.startsWith('GET /close')) socket.end('HTTP/1.1 200 OK\r\n\r\nexact');
    else socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nexact\r\n0\r\n\r\n');
  });
  const fetcher = fetcherFor(t);
  for (const path of ['/length', '/chunked', '/close']) {
    const result = response(await fetcher.fetch(ask(`${server.origin}${path}`, { maxBytes: 5 })));
    assert.deepEqual([result.truncated, text(result)], [undefined, 'exact'], path);
  }
});

test('an answer that is not HTTP, at once and not at a limit', async t => {
  const server = await serve(t, socket => socket.write('SSH-2.0-OpenSSH_9.2\r\n'));
  assert.equal(failure(await fetcherFor(t).fetch(ask(`${server.origin}/`))).reason, 'bad-answer');
});

test('a head without end is refused', async t => {
  const server = await serve(t, socket => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const more = () => {
      while (!socket.destroyed && socket.write(`X-Filler: ${'x'.repeat(1_000)}\r\n`));
    };
    socket.on('drain', more);
    more();
  });
  const result = failure(await fetcherFor(t).fetch(ask(`${server.origin}/`)));
  assert.equal(result.reason, 'bad-answer');
  assert.match(result.detail, /64 KiB/);
});

test('nothing listens: connect-refused; no such name: dns; both name what was tried', async t => {
  const fetcher = fetcherFor(t, {
    resolve: async host => {
      if (host === 'gone.example') throw new Error('no such name');
      return host === 'empty.example' ? [] : ['127.0.0.1'];
    },
  });
  const refused = failure(await fetcher.fetch(ask('http://listens.example:1/')));
  assert.equal(refused.reason, 'connect-refused');
  assert.match(refused.detail, /127\.0\.0\.1.*ECONNREFUSED/);
  for (const host of ['gone.example', 'empty.example']) {
    const unknown = failure(await fetcher.fetch(ask(`http://${host}/`)));
    assert.equal(unknown.reason, 'dns');
    assert.match(unknown.detail, new RegExp(host));
  }
});

test('a name server that never answers: dns, in time', async t => {
  const fetcher = fetcherFor(t, { timeouts: { connect: 50 }, resolve: () => new Promise(() => {}) });
  assert.equal(failure(await fetcher.fetch(ask('http://slow.example/'))).reason, 'dns');
});

test('the next address is tried when one does not answer', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx'));
  let lookups = 0;
  const fetcher = fetcherFor(t, {
    resolve: async () => {
      lookups++;
      return ['127.0.0.9', '::1', '127.0.0.1'];
    },
  });
  const { port } = new URL(server.origin);
  const result = response(await fetcher.fetch(ask(`http://several.example:${port}/`)));
  assert.equal(result.address, '127.0.0.1');
  fetcher.release(`http://several.example:${port}`);
  await fetcher.fetch(ask(`http://several.example:${port}/`));
  assert.equal(lookups, 1, 'names are remembered');
});

test('private addresses are refused: literals, names, and every form of writing them', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret'));
  const { port } = new URL(server.origin);
  const fetcher = fetcherFor(t, { resolve: async () => ['127.0.0.1', '::ffff:10.0.0.1', 'fe80::1'] });
  const open = { allowPrivate: true };
  assert.equal(text(await fetcher.fetch(ask(`${server.origin}/`, open))), 'secret');
  assert.equal(text(await fetcher.fetch(ask(`http://inside.example:${port}/`, open))), 'secret');
  const closed = { allowPrivate: false };
  // Hosts in the forms that URL parsing turns into one; the open connections above must not serve these asks.
  for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::1]', '[::ffff:7f00:1]', '0.0.0.0', 'inside.example']) {
    const { href } = new URL(`http://${host}:${port}/`);
    assert.equal(failure(await fetcher.fetch(ask(href, closed))).reason, 'private-address', href);
  }
  assert.equal(server.requests.length, 2);
});

test('the name of this machine is private, too', async t => {
  const server = await serve(t, socket => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret'));
  const url = `http://localhost:${new URL(server.origin).port}/`;
  assert.equal(failure(await fetcherFor(t).fetch(ask(url, { allowPrivate: false }))).reason, 'private-address');
  assert.equal(server.connections, 0);
});

test('a process that may open no more files waits for its own, and blames no server', async t => {
  const server = await serve(t, socket => {
    setTimeout(() => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok'), 50);
  });
  const program = fileURLToPath(new URL('./many-asks.ts', import.meta.url));
  const few = ['-c', 'ulimit -n 60; exec "$@"', 'sh', process.execPath, program, server.origin, '200'];
  const { stdout } = await promisify(execFile)('sh', few);
  assert.deepEqual(JSON.parse(stdout), { 200: 200 });
});

test("time in which the process was stopped is nobody's delay, however long", async t => {
  let asked = 0;
  let answer = () => {};
  const server = await serve(t, socket => {
    asked++;
    const before = answer;
    answer = () => {
      before();
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    };
  });
  const program = fileURLToPath(new URL('./many-asks.ts', import.meta.url));
  // Stopped for twice as long as the server may take.
  const timeouts = JSON.stringify({ firstByte: 2000, betweenBytes: 2000, stopped: 500 });
  const child = spawn(process.execPath, [program, server.origin, '20', timeouts], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const out: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes));
  const ended = new Promise(resolve => child.once('close', resolve));
  while (asked < 20) await new Promise(resolve => setTimeout(resolve, 5));
  child.kill('SIGSTOP');
  await new Promise(resolve => setTimeout(resolve, 4000));
  child.kill('SIGCONT');
  // Not while it was stopped: answers that are there when it goes on are read before any limit is looked at.
  await new Promise(resolve => setTimeout(resolve, 500));
  answer();
  await ended;
  assert.deepEqual(JSON.parse(Buffer.concat(out).toString()), { 200: 20 });
});

test('a limit that is past because the process was stopped begins anew', async () => {
  let late = 0;
  const limit = limitWait(20, { ...defaultTimeouts, stopped: 100 }, () => late++);
  const unnoticed = new Int32Array(new SharedArrayBuffer(4));
  Atomics.wait(unnoticed, 0, 0, 400); // nothing runs meanwhile, as in a process that is stopped
  await new Promise(resolve => setImmediate(resolve));
  await new Promise(resolve => setImmediate(resolve));
  limit.clear();
  assert.equal(late, 0);
});
