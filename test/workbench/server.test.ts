import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { SkeinError } from '../../src/base/errors.ts';
import { loadFiles } from '../../src/workbench/files.ts';
import { openWorkbench, type Workbench } from '../../src/workbench/server.ts';
import { sourcesDigest } from '../../src/workbench/ui/digest.ts';
import { makeCertificate } from '../crawler/fetch-certificate.ts';
import { type Collection, makeCollection } from '../journeys/collection.ts';
import { openWeb, type Web } from '../web/web.ts';
import { firstEvent } from './first-event.ts';

let web: Web;
let collection: Collection;
let workbench: Workbench;
let origin: string;
let token: string;

before(async () => {
  collection = makeCollection();
  collection.pass(-3);
  web = await openWeb({
    ...{ seed: 5, servers: 2, pagesPerServer: 70, clock: collection.clock },
    features: ['redirects', 'errors', 'robots'],
    rates: [0, 3],
  });
  await collection.crawl(web.seeds, { scope: ['*'] });
  collection.pass(2);
  await collection.refresh({ scope: ['*'], budget: '100%' });
  // On this day some are left alone.
  collection.pass(1);
  await collection.refresh({ scope: ['*'], budget: '10%' });
  workbench = await openWorkbench({ directory: collection.directory, port: 0, version: 'test' });
  const address = new URL(workbench.address);
  origin = address.origin;
  token = address.searchParams.get('token')!;
});

after(async () => {
  await workbench.close();
  await web.close();
  collection[Symbol.dispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of the API are looked at field by field
const get = async (path: string): Promise<any> => {
  const response = await fetch(`${origin}/api/v1${path}`);
  assert.equal(response.status, 200, `${path}: ${response.status}`);
  return response.json();
};

/** Sends exactly these headers, which fetch would not. */
function raw(method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${origin}${path}`, { method, headers }, response => {
      response.resume();
      resolve(response.statusCode!);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

test('pages are listed in parts that together are all of them, each once', async () => {
  for (const order of ['found', 'newest', 'visited', 'changed']) {
    const seen: number[] = [];
    let next: number | null | undefined;
    do {
      const part = await get(`/pages?order=${order}&limit=23${next == null ? '' : `&after=${next}`}`);
      seen.push(...part.pages.map((page: { id: number }) => page.id));
      next = part.next;
    } while (next !== null);
    const wanted = collection.look(ledger =>
      order === 'found' || order === 'newest'
        ? ledger.pages.size
        : (ledger['database'].prepare('SELECT count(*) AS n FROM known').get()!['n'] as number),
    );
    assert.equal(new Set(seen).size, seen.length, order);
    if (order === 'changed') assert.ok(seen.length > 0 && seen.length <= wanted);
    else assert.equal(seen.length, wanted, order);
  }
});

test('a filter finds what it names and nothing else', async () => {
  const { pages } = await get(`/pages?find=${encodeURIComponent('/p/1*.html')}&limit=200`);
  assert.ok(pages.length > 5);
  for (const page of pages) assert.match(page.url, /\/p\/1.*\.html/);
  const failed = await get('/pages?outcome=gone');
  for (const page of failed.pages) assert.equal(page.outcome, 'gone');
  assert.deepEqual((await get('/pages?find=%5B')).pages, []);
});

test('changes, their days and the difference agree', async () => {
  const { changes } = await get('/changes?limit=200');
  const changed = changes.filter((change: { kind: string }) => change.kind === 'changed');
  assert.ok(changed.length > 5);
  const { days } = await get('/changes/days');
  const sum = days.reduce((total: number, day: { changed: number }) => total + day.changed, 0);
  assert.equal(sum, changed.length);
  const { page, id } = changed[0];
  const { visits } = await get(`/pages/${page}/visits`);
  const versions = visits.filter((visit: { stored: boolean }) => visit.stored);
  assert.equal(versions[0].id, id);
  const difference = await get(`/pages/${page}/difference?from=${versions[1].id}&to=${versions[0].id}`);
  assert.ok(difference.removed + difference.added > 0);
  const why = await get(`/pages/${page}/why`);
  assert.match(why.explanation.sentence, /changed at (?:\d of )?the last (?:visit|\d+ visits)/);
});

test('links are the same from both ends', async () => {
  const { links } = await get('/pages/1/links?direction=out');
  assert.ok(links.length > 3);
  const back = await get(`/pages/${links[0].id}/links?direction=in`);
  assert.ok(back.links.some((link: { id: number }) => link.id === 1));
});

test('servers, account, machines, metrics and the description answer', async () => {
  const { servers } = await get('/servers');
  assert.equal(servers.length, 2);
  const server = await get(`/servers/${servers[0].id}`);
  assert.match(server.robots.body, /User-agent/);
  assert.equal(server.robots.state, 'rules');
  assert.ok(server.robots.rules.length > 0);
  for (const rule of server.robots.rules) assert.match(rule, /^(Allow|Disallow): /);
  assert.ok((await get('/account')).causes.length > 0);
  const avoided = (rows: { avoided: number }[]) => rows.reduce((sum, row) => sum + row.avoided, 0);
  const { causes } = await get('/account?days=7');
  assert.equal(avoided(servers), avoided(causes), 'what was left alone is told of each server, too');
  assert.ok(causes.some(({ cause }: { cause: string }) => cause === 'not due'));
  assert.equal((await get('/machines')).home, null);
  const now = await get('/now');
  assert.equal(now.collection.servers, 2);
  assert.equal(now.steers, false);
  assert.match(await (await fetch(`${origin}/metrics`)).text(), /^skein_pages_known \d+$/m);
  const described = await get('/openapi.json');
  for (const path of Object.keys(described.paths)) assert.match(path, /^\/[a-z{]/);
  assert.ok(described.paths['/steer'].post.requestBody);
});

test('a question that makes no sense is answered with a sentence', async () => {
  for (const [path, status] of [
    ['/pages?limit=0', 400],
    ['/pages?order=DROP', 400],
    ['/pages/999999', 404],
    ['/pages/abc', 400],
    ['/find?url=https://nobody.test/', 404],
    ['/search?q=geese', 404],
    ['/nothing', 404],
  ] as const) {
    const response = await fetch(`${origin}/api/v1${path}`);
    assert.equal(response.status, status, path);
    assert.ok(((await response.json()) as { error: string }).error.length > 5);
  }
});

test('only who holds the token changes anything, and no other site does', async () => {
  const order = JSON.stringify({ order: { kind: 'pause' } });
  const host = new URL(origin).host;
  const cookie = `skein-${workbench.port}=${token}`;
  const own = { host, 'content-type': 'application/json' };
  const steer = (headers: Record<string, string>) => raw('POST', '/api/v1/steer', { ...own, ...headers }, order);
  // 409: it was let in, and nothing runs that could be paused.
  assert.equal(await steer({ authorization: `Bearer ${token}` }), 409);
  assert.equal(await steer({ cookie, 'x-skein': '1' }), 409);
  assert.equal(await steer({ cookie, 'x-skein': '1', origin, 'sec-fetch-site': 'same-origin' }), 409);
  assert.equal(await steer({}), 403);
  assert.equal(await steer({ authorization: 'Bearer wrong' }), 403);
  assert.equal(await steer({ cookie }), 403, 'without our header');
  assert.equal(await steer({ cookie, 'x-skein': '1', origin: 'https://evil.test' }), 403);
  assert.equal(await steer({ cookie, 'x-skein': '1', origin: 'null' }), 403);
  assert.equal(await steer({ cookie, 'x-skein': '1', 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await steer({ cookie: `skein-${workbench.port}=wrong`, 'x-skein': '1' }), 403);
});

test('names that are not ours are not answered to, so that rebinding reads nothing', async () => {
  for (const path of ['/', '/api/v1/now', '/copy/1', '/metrics']) {
    assert.equal(await raw('GET', path, { host: `evil.test:${workbench.port}` }), 421, path);
    assert.equal(await raw('GET', path, { host: `localhost:${workbench.port}` }), 200, path);
  }
  assert.equal(await raw('GET', '/?token=wrong', { host: new URL(origin).host }), 403);
});

test('elsewhere than on loopback it listens only with TLS', async () => {
  await assert.rejects(
    openWorkbench({ directory: collection.directory, port: 0, host: '0.0.0.0', version: 'test' }),
    (error: unknown) => error instanceof SkeinError && error.code === 'bad-option',
  );
});

test('with TLS elsewhere, everything needs the token', async () => {
  const { cert, key } = makeCertificate(['localhost']);
  const open = await openWorkbench({
    ...{ directory: collection.directory, port: 0, host: '127.0.0.2', version: 'test' },
    tls: { certificate: cert, key },
  });
  try {
    const address = new URL(open.address);
    assert.equal(address.protocol, 'https:');
    const secret = address.searchParams.get('token')!;
    const ask = (path: string, headers: Record<string, string> = {}) =>
      new Promise<number>((resolve, reject) => {
        const sent = secureRequest(
          `${address.origin}${path}`,
          { ca: cert, servername: 'localhost', headers },
          response => {
            response.resume();
            resolve(response.statusCode!);
          },
        );
        sent.on('error', reject);
        sent.end();
      });
    for (const path of ['/', '/api/v1/now', '/metrics', '/copy/1']) {
      assert.equal(await ask(path), 401, path);
      assert.equal(await ask(path, { authorization: 'Bearer wrong' }), 401, path);
      assert.equal(await ask(path, { authorization: `Bearer ${secret}` }), 200, path);
      assert.equal(await ask(path, { cookie: `skein-${open.port}=${secret}` }), 200, path);
    }
    assert.equal(await ask(`/?token=${secret}`), 302);
  } finally {
    await open.close();
  }
});

test('who has a role may what it says and no more', async () => {
  const users = [
    { name: 'anna', role: 'read' },
    { name: 'ben', role: 'steer' },
  ] as const;
  const shared = await openWorkbench({ directory: collection.directory, port: 0, version: 'test', users });
  try {
    const at = new URL(shared.address).origin;
    const tokenOf = (address: string) => new URL(address).searchParams.get('token')!;
    const [anna, ben] = shared.users.map(({ address }) => tokenOf(address));
    const pause = async (holder: string) => {
      const headers = { authorization: `Bearer ${holder}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ order: { kind: 'pause' } });
      const answer = await fetch(`${at}/api/v1/steer`, { method: 'POST', headers, body });
      return [answer.status, ((await answer.json()) as { error: string }).error] as const;
    };
    assert.deepEqual(await pause(anna!), [403, 'This needs the role steer; you may read.']);
    assert.equal((await pause(ben!))[0], 409, 'let in, and nothing runs');
    assert.equal((await pause(tokenOf(shared.address)))[0], 409);
    assert.equal((await pause(token))[0], 403, 'a token of another workbench');
    const roleOf = async (holder: string) => {
      const answer = await fetch(`${at}/api/v1/now`, { headers: { authorization: `Bearer ${holder}` } });
      return ((await answer.json()) as { role: string }).role;
    };
    assert.deepEqual(
      [await roleOf(anna!), await roleOf(ben!), await roleOf(tokenOf(shared.address))],
      ['read', 'steer', 'admin'],
    );
    const entered = await fetch(`${at}/?token=${anna}`, { redirect: 'manual' });
    assert.match(entered.headers.get('set-cookie')!, new RegExp(anna!));
  } finally {
    await shared.close();
  }
});

test('every answer forbids what it does not need', async () => {
  const page = await fetch(`${origin}/`);
  const policy = page.headers.get('content-security-policy')!;
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  const copy = await fetch(`${origin}/copy/1`);
  assert.match(copy.headers.get('content-security-policy')!, /^sandbox; default-src 'none'/);
  for (const answer of [page, copy]) assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(page.headers.get('access-control-allow-origin'), null);
});

test('live numbers come as events', async () => {
  const text = await firstEvent(origin);
  assert.match(text, /^event: tick\ndata: \{"sample":\{"time":\d+/);
});

test('the user interface is built from these sources, and small', () => {
  const stamp = join(import.meta.dirname, '..', '..', 'src', 'workbench', 'ui', 'dist', 'sources.sha256');
  assert.equal(readFileSync(stamp, 'utf8').trim(), sourcesDigest(), 'run: npm run build:ui');
  const files = [...loadFiles()];
  assert.ok(files.some(([path]) => path === '/') && files.some(([path]) => path.endsWith('.js')));
  const bytes = files.reduce((sum, [, file]) => sum + gzipSync(file.bytes).length, 0);
  assert.ok(bytes < 200_000, `${bytes} bytes gzipped`);
});

test('who watches without the token does not keep out who holds it', async () => {
  const leave = new AbortController();
  const watch = (headers: Record<string, string> = {}) =>
    fetch(`${origin}/api/v1/live`, { headers, signal: leave.signal }).then(({ status }) => status);
  try {
    const strangers = await Promise.all(Array.from({ length: 70 }, () => watch()));
    assert.ok(strangers.includes(200) && strangers.includes(503));
    assert.equal(await watch({ authorization: `Bearer ${token}` }), 200);
  } finally {
    leave.abort();
  }
});
