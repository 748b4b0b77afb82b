/** What a machine says of its own reach is true of that machine only: nobody else is kept from a page, or let to one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Visit } from '../../src/errand/visit.ts';
import { collected, pagesOf } from '../journeys/skein.ts';
import { openWeb } from '../web/web.ts';
import { openTarget, type Target } from './home.ts';
import { type Lie, startLiar, visitOf } from './liar.ts';

const refuses =
  (reason: string): Lie =>
  ({ pages }, { parcel }) => {
    const visit = (known: (typeof pages)[number]): Visit =>
      visitOf(known, { outcome: 'refused', reason, status: 0, cost: { up: 0, down: 0, cause: 'none', ms: 0 } });
    parcel({ visits: pages.map(known => ({ visit: visit(known) })) });
  };

/** Work begins when so many machines are there. */
async function together(home: Target, machines: number): Promise<void> {
  while (home.opened.home.dispatch.posts.carriers.length < machines)
    await new Promise(resolve => setTimeout(resolve, 20));
  home.opened.home.resume();
}

for (const reason of ['private-address', 'robots', 'robots-unreachable', 'out-of-scope']) {
  test(`a page that one machine refuses (${reason}) is visited from another`, async () => {
    await using web = await openWeb({ seed: 7, servers: 2, pagesPerServer: 15 });
    await using home = await openTarget(web.seeds);
    let refused = 0;
    const lie: Lie = (errand, tongue) => {
      refused += errand.pages.length;
      return refuses(reason)(errand, tongue);
    };
    home.opened.home.pause();
    await using _ = await startLiar('liar', home.token(), lie);
    await using __ = await home.honest('honest');
    await together(home, 2);
    await home.ended;
    assert.ok(refused > 0, 'it was asked');
    assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
  });
}

for (const [reason, status] of [
  ['connect-timeout', 0],
  ['dns', 0],
  ['reset', 0],
  ['http-503', 503],
  ['http-429', 429],
] as const) {
  test(`a page that one machine fails to get (${reason}) is asked for by another, and nobody else waits`, async () => {
    await using web = await openWeb({ seed: 7, servers: 2, pagesPerServer: 15 });
    await using home = await openTarget(web.seeds);
    let failed = 0;
    const lie: Lie = ({ pages }, { parcel }) => {
      failed += pages.length;
      const more = { outcome: 'failed', reason, status, retryAfter: status > 0 ? 80_000 : 0 } as const;
      parcel({ visits: pages.map(known => ({ visit: visitOf(known, more) })) });
    };
    home.opened.home.pause();
    await using _ = await startLiar('liar', home.token(), lie);
    await using __ = await home.honest('honest');
    await together(home, 2);
    await home.ended;
    assert.ok(failed > 0, 'it was asked');
    assert.deepEqual(collected(await pagesOf(home.directory)), web.mustFind());
    const { servers } = home.opened.ledger;
    for (const origin of web.origins)
      assert.equal(servers.of(origin).notBefore, 0, "the server is nobody else's to shun");
  });
}

test('what all machines fail to get has failed, and its server is left alone', async () => {
  await using web = await openWeb({ seed: 7, servers: 1, pagesPerServer: 3 });
  await using home = await openTarget(web.seeds);
  const lie: Lie = ({ pages }, { parcel }) =>
    parcel({
      visits: pages.map(known => ({
        visit: visitOf(known, { outcome: 'failed', reason: 'http-503', status: 503, retryAfter: 80_000 }),
      })),
    });
  home.opened.home.pause();
  await using _ = await startLiar('one', home.token(), lie);
  await using __ = await startLiar('two', home.token(), lie);
  await together(home, 2);
  await home.ended;
  assert.equal((await pagesOf(home.directory)).get(web.seeds[0]!)?.reason, 'http-503');
  assert.ok(home.opened.ledger.servers.of(web.origins[0]!).notBefore > Date.now());
});

test('where no machine does any work the crawl ends, and says why once', async () => {
  await using web = await openWeb({ seed: 7, servers: 3, pagesPerServer: 3 });
  const said: string[] = [];
  using _ = listen(said);
  await using home = await openTarget(web.seeds);
  const lie: Lie = ({ id }, { line }) => void line.send({ kind: 'give-up', errand: id, why: 'it takes no code' });
  await using __ = await startLiar('unwilling', home.token(), lie);
  await assert.rejects(home.ended, /No machine takes these errands. unwilling says: it takes no code\./);
  assert.equal(said.filter(text => text.includes('gave an errand up')).length, 1);
});

/** What is said to people. */
function listen(said: string[]): Disposable {
  const before = console.error;
  console.error = (text: string) => void said.push(text);
  return { [Symbol.dispose]: () => void (console.error = before) };
}

test('where all machines refuse a page it is refused', async () => {
  await using web = await openWeb({ seed: 7, servers: 1, pagesPerServer: 3 });
  await using home = await openTarget(web.seeds);
  home.opened.home.pause();
  await using _ = await startLiar('one', home.token(), refuses('robots'));
  await using __ = await startLiar('two', home.token(), refuses('robots'));
  await together(home, 2);
  await home.ended;
  const pages = await pagesOf(home.directory);
  assert.equal(pages.get(web.seeds[0]!)?.reason, 'robots');
});

test('rules and prints of an outpost bind no thread of home', async () => {
  await using web = await openWeb({ seed: 8, servers: 1, pagesPerServer: 10, features: ['robots'] });
  await using home = await openTarget(web.seeds, { threads: 0 });
  const [origin] = web.origins;
  const robots = { status: 200, body: '', unreachableSince: 0, time: Date.now() };
  const lie: Lie = ({ server }, { parcel }) => {
    const news = { address: '', sitemaps: [], crawlDelay: 0, notBefore: 1e13, latency: 1, robotsBytes: 10 };
    parcel({ visits: [], server: { ...news, origin: server.origin, robots, missing: Buffer.alloc(16, 1) } });
  };
  await using liar = await startLiar('liar', home.token(), lie);
  assert.notEqual(await liar.forgotten(), '');
  const server = home.opened.ledger.servers.of(origin!);
  assert.deepEqual([server.rulesBy, server.soft404, server.notBefore], ['liar', undefined, 0]);
  await liar[Symbol.asyncDispose]();
  const errand = home.opened.frontier.errands.next();
  home.opened.frontier.errands.wake();
  const issued = errand ?? home.opened.frontier.errands.next();
  assert.equal(issued?.errand.server.robots, undefined, 'home reads them itself');
});
