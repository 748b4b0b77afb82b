/** Skein before a web server: visitors notice nothing, and readers that hold an older version get the difference. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { gzipSync, zstdDecompressSync } from 'node:zlib';
import { page, startSite } from './site-here.ts';

const long = Array.from({ length: 3000 }, (_, i) => `word${(i * 7919) % 3001}`).join(' ');

async function behind(context: TestContext) {
  const state = { words: 'one', requests: [] as { method: string; url: string; body: string; forwarded: string }[] };
  const server = createServer(async (asked, response) => {
    let body = '';
    for await (const chunk of asked) body += chunk;
    const forwarded = String(asked.headers['x-forwarded-for']);
    state.requests.push({ method: asked.method!, url: asked.url!, body, forwarded });
    if (asked.url === '/')
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('Front', `${long} ${state.words}`));
    else if (asked.url === '/feed.xml') {
      const feed = Buffer.from(`<rss><channel><item><title>${long} ${state.words}</title></item></channel></rss>`);
      const zipped = /gzip/.test(String(asked.headers['accept-encoding']));
      const headers = { 'content-type': 'application/xml', ...(zipped && { 'content-encoding': 'gzip' }) };
      response.writeHead(200, headers).end(zipped ? gzipSync(feed) : feed);
    } else if (asked.url === '/zipped')
      response
        .writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' })
        .end(gzipSync(page('Z', 'x')));
    else if (/^\/(?:en\/|a|:)/.test(asked.url!))
      response.writeHead(200, { 'content-type': 'text/html' }).end(page('Odd', 'x'));
    else if (asked.url === '/picture')
      response.writeHead(200, { 'content-type': 'image/png', 'x-own': 'yes' }).end('png');
    else if (asked.url === '/breaks') {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '100' }).write('half');
      setTimeout(() => response.destroy(), 20);
    } else response.writeHead(asked.method === 'POST' ? 201 : 404, { 'set-cookie': ['a=1', 'b=2'] }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { state, at: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('everything goes through as it was, both ways', async context => {
  const { state, at } = await behind(context);
  const here = await startSite(context, { upstream: at, listen: { front: at } });
  const front = await here.get('/');
  assert.equal(await front.text(), page('Front', `${long} one`));
  assert.match(front.headers.get('link')!, /rel="skein"/);
  assert.equal(front.headers.get('use-as-dictionary'), 'match="/"');
  // A path is a pattern (URLPattern): what has a meaning there is not named, and everything else is.
  const served = async (path: string) => (await here.get(path)).headers.get('use-as-dictionary');
  assert.equal(await served('/en/team@latest/a,b;c=%C3%A4!'), 'match="/en/team@latest/a,b;c=%C3%A4!"');
  for (const path of ['/a*b', '/a+b', '/a(b)', '/:a']) assert.equal(await served(path), null, path);
  assert.equal(await (await here.get('/zipped')).text(), page('Z', 'x'));
  const picture = await here.get('/picture');
  assert.deepEqual(
    [picture.headers.get('x-own'), picture.headers.get('link'), await picture.text()],
    ['yes', null, 'png'],
  );
  const posted = await fetch(`${here.at}/form?x=1`, { method: 'POST', body: 'some=thing' });
  assert.deepEqual(
    [posted.status, await posted.text(), posted.headers.getSetCookie()],
    [201, 'some=thing', ['a=1', 'b=2']],
  );
  const last = state.requests.at(-1)!;
  assert.deepEqual([last.method, last.url, last.forwarded], ['POST', '/form?x=1', '127.0.0.1']);
  assert.equal((await here.get('/none')).status, 404);
  await assert.rejects(here.get('/breaks').then(answer => answer.text()));
  assert.equal((await here.discovery()).pages, 1, 'and the faces are there, too');
});

test('a web server that does not answer is a 502, not a hang', async context => {
  const { at } = await behind(context);
  const here = await startSite(context, { upstream: at, listen: { front: 'http://127.0.0.1:9' } });
  assert.equal((await here.get('/')).status, 502);
});

test('a reader that holds an older version gets the difference (RFC 9842)', async context => {
  const { state, at } = await behind(context);
  const here = await startSite(context, { upstream: at, listen: { front: at } });
  const old = Buffer.from(page('Front', `${long} one`));
  state.words = 'two';
  const digest = hash('sha256', old, 'buffer');
  const ask = (dictionary: Buffer, accepts: string, path = '/') =>
    new Promise<{ coding: string; vary: string; serves: string; body: Buffer }>((resolve, reject) => {
      const headers = { 'accept-encoding': accepts, 'available-dictionary': `:${dictionary.toString('base64')}:` };
      const asked = request(here.at + path, { headers }, answer => {
        const chunks: Buffer[] = [];
        answer.on('data', chunk => chunks.push(chunk));
        const { 'content-encoding': coding, 'use-as-dictionary': serves, vary } = answer.headers;
        const found = { coding: String(coding), vary: String(vary), serves: String(serves) };
        answer.on('end', () => resolve({ ...found, body: Buffer.concat(chunks) }));
      });
      asked.on('error', reject);
      asked.end();
    });
  const { coding, vary, serves, body } = await ask(digest, 'gzip, dcz');
  assert.equal(coding, 'dcz');
  assert.match(vary, /available-dictionary/);
  assert.equal(serves, 'match="/"', 'the new version is the dictionary of the one after it');
  assert.deepEqual(body.subarray(0, 8), Buffer.from('5e2a4d1820000000', 'hex'));
  assert.deepEqual(body.subarray(8, 40), digest);
  const plain = zstdDecompressSync(body.subarray(40), { dictionary: old });
  assert.equal(plain.toString(), page('Front', `${long} two`));
  assert.ok(body.length < 200, `${body.length} bytes`);
  assert.equal((await ask(hash('sha256', 'unknown', 'buffer'), 'dcz')).coding, 'undefined');
  assert.equal((await ask(digest, 'gzip')).coding, 'undefined');
  // A feed is no page of the site, so nothing is known of it but what has passed.
  const feed = await here.get('/feed.xml', { 'accept-encoding': 'gzip' });
  assert.deepEqual([feed.headers.get('use-as-dictionary'), feed.headers.get('link')], ['match="/feed.xml"', null]);
  const held = Buffer.from(await feed.arrayBuffer());
  state.words = 'three';
  const news = await ask(hash('sha256', held, 'buffer'), 'gzip, dcz', '/feed.xml');
  assert.deepEqual([news.coding, news.serves], ['dcz', 'match="/feed.xml"']);
  assert.match(zstdDecompressSync(news.body.subarray(40), { dictionary: held }).toString(), /three<\/title>/);
  assert.ok(news.body.length < 200, `${news.body.length} bytes`);
});

test('a body that comes in pieces stays a body, whatever the method: nothing in it becomes a request of its own', async context => {
  const { state, at } = await behind(context);
  const here = await startSite(context, { upstream: at, listen: { front: at } });
  const inner = 'GET /inner HTTP/1.1\r\nHost: example.org\r\n\r\n';
  const pieces = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  // A header that names the length as one for this connection alone must not take it away either.
  const framings = [
    `Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${pieces}`,
    `Transfer-Encoding: chunked\r\nConnection: close, transfer-encoding\r\n\r\n${pieces}`,
    `Content-Length: ${inner.length}\r\nConnection: close, content-length\r\n\r\n${inner}`,
  ];
  const methods = ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PUT'];
  for (const [method, framing] of methods.flatMap(each => framings.map(framed => [each, framed] as const))) {
    const from = state.requests.length;
    await said(here.at, `${method} /form HTTP/1.1\r\nHost: example.org\r\n${framing}`);
    assert.equal(
      (await here.get('/picture')).headers.get('x-own'),
      'yes',
      `the next visitor gets an answer of its own`,
    );
    assert.deepEqual(
      state.requests.slice(from).map(({ method: its, url, body }) => [its, url, body]),
      [
        [method, '/form', inner],
        ['GET', '/picture', ''],
      ],
    );
  }
});

/** Sends bytes as they are; resolves with the answer when the connection has ended. */
function said(at: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(at);
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on('data', chunk => {
      answer += chunk;
    });
    socket.on('error', reject).on('close', () => resolve(answer));
  });
}
