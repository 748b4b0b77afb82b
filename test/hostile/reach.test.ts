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
  while (home.opened.home.dispatch.carriers.length < machines) await new Promise(resolve => setTimeout(resolve, 20));
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
  const errand = home.opened.frontier.next();
  home.opened.frontier.wake();
  const issued = errand ?? home.opened.frontier.next();
  assert.equal(issued?.errand.server.robots, undefined, 'home reads them itself');
});
