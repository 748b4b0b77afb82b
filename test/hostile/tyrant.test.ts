/** A hostile home tries to make an outpost of somebody else's do what its owner does not allow. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { test } from 'node:test';
import type { Errand } from '../../src/errand/errand.ts';
import { changeRules } from '../../src/outpost/standing-outpost.ts';
import { issuePass } from '../../src/transfer/entry/pass.ts';
import { plainErrand, plainPage } from '../errand/plain-errand.ts';
import { openTyrant } from './tyrant.ts';

interface Site extends AsyncDisposable {
  readonly origin: string;
  /** Paths in the order in which they were asked for, with the time and how many were under way. */
  readonly requests: { path: string; at: number; open: number; agent: string }[];
}

async function openSite(
  answer: (path: string, write: (bytes: Uint8Array) => void) => Promise<void> | void = () => {},
): Promise<Site> {
  const requests: Site['requests'] = [];
  let open = 0;
  const server: Server = createServer(async (request, response) => {
    const path = request.url!;
    open++;
    requests.push({ path, at: performance.now(), open, agent: request.headers['user-agent'] ?? '' });
    response.on('close', () => open--);
    if (path === '/robots.txt')
      return void response.end('User-agent: *\nCrawl-delay: 1\n\nUser-agent: skein\nCrawl-delay: 1\n');
    response.writeHead(200, { 'content-type': 'text/html' });
    await answer(path, bytes => void response.write(bytes));
    response.end('<p>geese</p>');
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function greedy(id: string, origin: string, pages: number, more: Partial<Errand['server']> = {}): Errand {
  return plainErrand(id, origin, {
    server: { allowPrivate: true, connections: 500, ...more },
    pages: Array.from({ length: pages }, (_, i) => plainPage(`${origin}/${id}/${i}`)),
    limits: { pages: 1e6, follow: 0, depth: 100, bodyBytes: 2 ** 53 - 1, time: 1e6 },
  });
}

const asked = ({ requests }: Site) => requests.filter(({ path }) => path !== '/robots.txt').length;

test('errands that are forgotten at once are counted all the same', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ quota: { pages: 40 }, ceilings: { pace: 0 } });
  const used = () => /are used up/.test(home.outpost.status.trouble);
  for (let i = 0; i < 200 && !used(); i++) {
    const errand = greedy(`e${i}`, site.origin, 30);
    home.send(home.frameOf(errand));
    await new Promise(resolve => setTimeout(resolve, 60));
    home.send({ kind: 'forget', errand: errand.id });
  }
  await home.until(used);
  assert.equal(asked(site), 40);
  assert.match(home.outpost.status.trouble, /40 pages a day are used up/);
});

test('bytes are counted as they flow, and a page has an end', async () => {
  const piece = Buffer.alloc(65_536, 32);
  await using site = await openSite(async (path, write) => {
    if (!path.includes('/')) return;
    for (let i = 0; i < 2000; i++) {
      write(piece);
      await new Promise(resolve => setImmediate(resolve));
    }
  });
  await using home = await openTyrant({ quota: { bytes: 1_000_000 }, ceilings: { pace: 0 } });
  await home.run(greedy('large', site.origin, 3));
  await home.until(() => home.outpost.status.state === 'full');
  assert.match(home.outpost.status.trouble, /1000000 bytes a day are used up/);
  const kept = home.heard.reduce((sum, frame) => sum + (frame.kind === 'parcel' ? frame.bytes.length : 0), 0);
  assert.ok(kept < 1_000_000, `${kept} bytes went home`);
  assert.match(await home.run(greedy('more', site.origin, 1)), /bytes a day are used up/);
});

test('pace, connections and Crawl-delay are the owner’s and the server’s, whatever an errand says', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ ceilings: { connections: 2 } });
  assert.equal(await home.run(greedy('fast', site.origin, 4, { pace: 0, connections: 1_000_000 })), 'done');
  const { requests } = site;
  assert.equal(requests.length, 5);
  assert.ok(Math.max(...requests.map(({ open }) => open)) <= 2);
  const gaps = requests.slice(2).map(({ at }, i) => at - requests[i + 1]!.at);
  assert.ok(Math.min(...gaps) > 900, `gaps of ${gaps.map(Math.round).join(', ')} ms`);
});

test('the owner’s rules can be changed while it runs', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ ceilings: { pace: 0, errands: 10 } });
  changeRules(home.directory, { quota: { pages: 3 }, ceilings: { errands: 2 } });
  await home.until(() => {
    const { quota, ceilings } = changeRules(home.directory, {});
    return quota?.pages === 3 && ceilings?.errands === 2;
  });
  await new Promise(resolve => setTimeout(resolve, 1500));
  for (const id of ['a', 'b', 'c', 'd']) await home.run(greedy(id, site.origin, 10));
  assert.equal(asked(site), 3);
});

test('more errands than the owner allows are refused', async () => {
  await using site = await openSite(() => new Promise(resolve => setTimeout(resolve, 500)));
  await using home = await openTyrant({ ceilings: { errands: 2 } });
  for (const id of ['a', 'b']) home.send(home.frameOf(greedy(id, site.origin, 2)));
  await new Promise(resolve => setTimeout(resolve, 200));
  assert.match(await home.run(greedy('c', site.origin, 2)), /already runs 2 errands/);
});

test('the name is the product’s, the contact home’s, and neither forges a header', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ ceilings: { pace: 0 } });
  await home.run(greedy('named', site.origin, 1));
  assert.deepEqual(
    [...new Set(site.requests.map(({ agent }) => agent))],
    ['Skein/1.2.3 (+https://skein.example/test)'],
  );
  const evil = { contact: 'x\r\nX-Forged: 1', userAgent: 'Googlebot', agentToken: 'googlebot' };
  await using other = await openTyrant({}, evil as object);
  await other.until(() => other.said.some(text => /not a contact/.test(text)));
});

test('an errand that was forgotten is not run again', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ ceilings: { pace: 0 } });
  const errand = greedy('once', site.origin, 1);
  assert.equal(await home.run(errand), 'done');
  home.send({ kind: 'forget', errand: 'once' });
  home.heard.length = 0;
  assert.match(await home.run(errand), /it has already ended here/);
  assert.equal(asked(site), 1);
  const late = { ...greedy('late', site.origin, 1), deadline: Date.now() + 400 * 86_400_000 };
  assert.match(await home.run(late), /valid for too long/);
});

test('errands that are none are refused, and the outpost goes on', async () => {
  await using site = await openSite();
  await using home = await openTyrant({ ceilings: { pace: 0 } });
  const plain = (id: string) => greedy(id, site.origin, 1);
  const odd: Errand[] = [
    { ...plain('o1'), deadline: Number.NaN },
    { ...plain('o2'), scope: { ...plain('o2').scope, domains: ['exa mple'] } },
    { ...plain('o3'), pages: [plainPage('http://[')] },
    { ...plain('o4'), server: { ...plain('o4').server, notBefore: Number.POSITIVE_INFINITY } },
    { ...plain('o5'), server: { ...plain('o5').server, auditShare: Number.NaN } },
    { ...plain('o6'), code: '../../etc/passwd' },
    { ...plain('o7'), seen: new Uint8Array(7) },
    { ...plain('o8'), detector: '__proto__ x' },
    {
      ...plain('o9'),
      server: { ...plain('o9').server, robots: { status: 200, body: '', unreachableSince: 0, time: Number.NaN } },
    },
    { ...plain('o10'), limits: { ...plain('o10').limits, bodyBytes: 0 } },
  ];
  for (const errand of odd) assert.match(await home.run(errand), /refused/, errand.id);
  assert.equal(await home.run(plain('good')), 'done');
  assert.equal(asked(site), 1);
});

test('a signed pass opens no private address that the owner keeps closed', async () => {
  let knocks = 0;
  const trap = createTcpServer(socket => {
    knocks++;
    socket.destroy();
  });
  await new Promise<void>(resolve => trap.listen(0, '127.0.0.1', resolve));
  const { port } = trap.address() as AddressInfo;
  try {
    for (const [allowPrivate, expected] of [
      [false, 0],
      [true, 1],
    ] as const) {
      await using home = await openTyrant({ allowPrivate });
      const { key } = home.outpost.station.identity;
      for (const host of ['127.0.0.1', 'localhost']) {
        const pass = { host, port, fingerprint: 'ab'.repeat(32), path: 'a/victim', expires: Date.now() + 60_000 };
        home.send({ kind: 'pass', by: '', pass: issuePass(home.identity, pass, key) });
        await new Promise(resolve => setTimeout(resolve, 300));
      }
      assert.equal(Math.min(knocks, 1), expected, `${knocks} knocks where private is ${allowPrivate}`);
    }
  } finally {
    trap.close();
  }
});
