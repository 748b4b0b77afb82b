/** Readers that are strangers, in a hurry, or up to no good. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { decodeFailure, siteLimits } from '../../src/notices/site/discovery.ts';
import { encodeWanted } from '../../src/notices/site/pages.ts';
import { encodeTerms } from '../../src/notices/site/terms.ts';
import { folder, PUBLIC, page, startSite, write } from './site-here.ts';

const OWN = '/.well-known/skein';

async function said(response: Response) {
  return { ...decodeFailure(response.status, await response.text()), status: response.status };
}

test('whatever is asked wrongly gets one sentence and its code', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root });
  const { cursor } = (await here.discovery()).journal;
  const [number, chain] = cursor.split('-');
  const asked: readonly [string, string][] = [
    ['/changes', 'bad-request'],
    ['/changes?since=nonsense', 'bad-request'],
    [`/changes?since=${Number(number) + 1000}-${chain}`, 'other-history'],
    [`/changes?since=${number}-0000000000000000`, 'other-history'],
    ['/manifest?of=1&buckets=3', 'bad-request'],
    ['/manifest?of=9&buckets=8', 'bad-request'],
    ['/manifest?of=x&buckets=8', 'bad-request'],
    [`/manifest?buckets=4096&of=${Array.from({ length: 600 }, (_, i) => i).join(',')}`, 'bad-request'],
    ['/nothing', 'not-found'],
    ['/sitemap-9.xml', 'not-found'],
    ['/suggest?q=a', 'not-found'],
  ];
  for (const [path, code] of asked) {
    const { code: found, message, reconcile } = await said(await here.get(OWN + path));
    assert.equal(found, code, path);
    assert.ok(message.length > 10);
    assert.equal(reconcile, code === 'other-history');
  }
  const post = (body: Uint8Array, headers: Record<string, string> = {}) =>
    fetch(`${here.at}${OWN}/pages`, { method: 'POST', headers, body: new Uint8Array(body) });
  assert.equal((await said(await post(Buffer.from('nonsense')))).code, 'bad-request');
  assert.equal((await said(await post(Buffer.alloc(siteLimits.requestBytes + 1)))).code, 'too-large');
  const bomb = gzipSync(Buffer.alloc(siteLimits.requestBytes * 4));
  assert.equal((await said(await post(bomb, { 'content-encoding': 'gzip' }))).code, 'bad-request');
  const many = encodeWanted(Array.from({ length: 1001 }, (_, i) => ({ url: `${PUBLIC}${i}` })));
  const tooMany = await said(await post(many));
  assert.equal(tooMany.code, 'bad-request');
  assert.doesNotMatch(tooMany.message, /site sent/, 'the reader wrote it');
  const packed = await post(gzipSync(encodeWanted([{ url: `${PUBLIC}a.html` }])), { 'content-encoding': 'gzip' });
  assert.equal(packed.status, 200);
  await packed.arrayBuffer();
});

test('nothing but the pages of the journal can be read', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  write(root, 'private/b.html', page('B', 'one'));
  write(root, 'robots.txt', 'User-agent: *\nDisallow: /private/');
  const here = await startSite(context, { directory: root });
  const urls = ['private/b.html', 'robots.txt', '..%2F..%2Fetc%2Fpasswd', 'a.html/', '%2e%2e/x'];
  const wanted = urls.map(path => URL.parse(path, PUBLIC)!.href).map(url => ({ url: url.replaceAll('%2e', '.') }));
  const states = await here.pages(wanted.filter(({ url }) => !url.includes('..%2F')));
  assert.ok(states.every(({ state }) => state === 'gone'));
});

test('a reader that asks too often is told when to come again', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root, requestsAMinute: 5 });
  const codes: number[] = [];
  for (let i = 0; i < 8; i++) {
    const response = await here.get(OWN, { 'x-forwarded-for': '192.0.2.1' });
    codes.push(response.status);
    if (response.status === 429) assert.ok(Number(response.headers.get('retry-after')) >= 1);
    await response.text();
  }
  assert.deepEqual(codes, [200, 200, 200, 200, 200, 429, 429, 429]);
  const other = await here.get(OWN, { 'x-forwarded-for': '192.0.2.1, 192.0.2.2' });
  assert.equal(other.status, 200, 'another reader behind the same web server');
  await other.text();
});

test('with a token the own face is for those who have it, and the standard faces for all', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const token = 'a-token-of-some-length';
  const here = await startSite(context, { directory: root, token, terms: true });
  assert.equal((await here.discovery()).access, 'token');
  const status = async (path: string, given?: string) => {
    const response = await here.get(OWN + path, given === undefined ? {} : { authorization: `Bearer ${given}` });
    await response.arrayBuffer();
    return response.status;
  };
  assert.equal(await status('/manifest'), 401);
  assert.equal(await status('/manifest', `${token}x`), 401);
  assert.equal(await status('/manifest', token), 200);
  assert.equal(await status('/sitemap.xml'), 200);
  const tell = (given: string, body: string) =>
    fetch(`${here.at}${OWN}/terms`, { method: 'POST', headers: { authorization: `Bearer ${given}` }, body });
  const terms = encodeTerms([
    { term: 'Night train', count: 3, url: `${PUBLIC}a.html`, title: 'A' },
    { term: 'train fares', count: 5 },
    { term: 'buses', count: 9 },
  ]);
  assert.equal((await tell('another-token-here', terms)).status, 401);
  assert.equal((await tell(token, '{"terms":4}')).status, 400);
  assert.equal((await tell(token, terms)).status, 204);
  assert.equal((await tell(token, terms)).status, 204);
  const shown = async (path: string) => (await (await here.get(OWN + path)).json()) as { terms: { term: string }[] };
  assert.deepEqual(
    (await shown('/suggest?q=Tra')).terms.map(({ term }) => term),
    ['train fares', 'night train'],
  );
  assert.deepEqual((await shown('/popular')).terms[0], { term: 'buses' }, 'counts stay with the owner');
});

test('with client certificates only those that the owner signed read the own face', async context => {
  const keys = folder(context);
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: keys, stdio: 'pipe' });
  const made = (name: string) =>
    openssl(
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    );
  for (const name of ['localhost', 'reader', 'stranger']) made(name);
  const file = (name: string) => readFileSync(join(keys, name), 'utf8');
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const tls = { certificate: file('localhost.pem'), key: file('localhost.key'), clientCa: file('reader.pem') };
  const here = await startSite(context, { directory: root, certificate: true, listen: { tls } });
  const port = Number(new URL(here.at).port);
  const status = (path: string, name?: string) =>
    new Promise<number>((resolve, reject) => {
      const own = name === undefined ? {} : { cert: file(`${name}.pem`), key: file(`${name}.key`) };
      const asked = request({
        host: '127.0.0.1',
        port,
        path,
        ca: tls.certificate,
        servername: 'localhost',
        agent: false,
        ...own,
      });
      asked.on('response', answer => {
        answer.resume();
        answer.on('end', () => resolve(answer.statusCode!));
      });
      asked.on('error', reject);
      asked.end();
    });
  assert.equal(await status(OWN), 200);
  assert.equal(await status(`${OWN}/manifest`), 403);
  assert.equal(await status(`${OWN}/manifest`, 'stranger'), 403);
  assert.equal(await status(`${OWN}/manifest`, 'reader'), 200);
});

test('a reader that leaves in the middle of what it sends is no news to the owner', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root });
  const warned: string[] = [];
  const note = ({ message }: Error) => void warned.push(message);
  process.on('warning', note);
  context.after(() => process.off('warning', note));
  for (let i = 0; i < 5; i++) {
    const socket = connect(Number(new URL(here.at).port), '127.0.0.1');
    socket.write(`POST ${OWN}/pages HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`);
    await once(socket, 'connect');
    await new Promise(resolve => setTimeout(resolve, 50)); // it is being read
    socket.destroy();
    await once(socket, 'close');
  }
  assert.equal((await here.get(OWN)).status, 200);
  assert.deepEqual(warned, []);
});

test('who never ends a head or a body takes no place from those who do', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'text'));
  const here = await startSite(context, { directory: root });
  const { port } = new URL(here.at);
  const slow = Array.from({ length: 1200 }, (_, i) => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {}); // the oldest lose their places
    const body = 'POST /.well-known/skein/pages HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n\x01';
    socket.write(i < 1100 ? 'GET / HTTP/1.1\r\nhost: x\r\nx-slow:' : body);
    return socket;
  });
  context.after(() => slow.map(socket => socket.destroy()));
  await Promise.all(slow.slice(-50).map(socket => once(socket, 'connect')));
  await new Promise(resolve => setTimeout(resolve, 300));
  const [given] = await here.pages([{ url: `${PUBLIC}a.html` }]);
  assert.equal(given!.state, 'page');
});
