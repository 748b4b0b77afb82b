/** A parcel from another machine may hold anything: what was not asked for is not kept. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR, systemClock } from '../../src/base/clock.ts';
import type { Parcel, ServerNews } from '../../src/errand/parcel.ts';
import type { Visit } from '../../src/errand/visit.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Progress } from '../../src/home/progress.ts';
import { receiveWarily } from '../../src/home/receive.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { withLedger } from '../frontier/known-ledger.ts';
import { plainOptions } from '../frontier/plain-options.ts';

const NO_ARCHIVE = undefined as never; // these visits bring no records

function opened(ledger: Ledger, pages = 1) {
  const frontier = new Frontier(ledger, plainOptions, systemClock);
  ledger.begin();
  frontier.restore();
  frontier.again(Array.from({ length: pages }, (_, i) => ({ page: i + 1, server: 1 })));
  frontier.errands.wake();
  const { errand } = frontier.errands.next()!;
  const parcel: Parcel = { errand: errand.id, sequence: 0, done: false, visits: [], members: new Uint8Array(0) };
  const receive = (more: Partial<Parcel>) => {
    const from = { outpost: 'far', machine: 'far', origin: errand.server.origin, anyone: () => false };
    const parts = { ledger, archive: NO_ARCHIVE, frontier };
    return receiveWarily(parts, { parcel: { ...parcel, ...more } }, from, new Progress(systemClock));
  };
  return { errand, receive };
}

test('news of a server come from whoever was sent to it, and from nobody else', () => {
  withLedger(1, ledger => {
    const { errand, receive } = opened(ledger);
    const later = Date.now() + HOUR;
    const quiet = { address: '', crawlDelay: 0, latency: 1, sitemaps: [], robotsBytes: 0 };
    const news = (origin: string): ServerNews => ({ ...quiet, origin, notBefore: later });
    receive({ server: news('http://victim.test') });
    assert.equal(ledger.servers.of('http://victim.test').notBefore, 0);
    receive({ server: news(errand.server.origin) });
    assert.equal(ledger.servers.of(errand.server.origin).notBefore, later);
    ledger.abandon();
  });
});

test('what failed together is one failure, and no clock puts a visit into the future', () => {
  withLedger(2, ledger => {
    // The first errand to a server has one page only, unless its robots.txt is known.
    const robots = { status: 404, body: '', time: Date.now(), unreachableSince: 0 };
    ledger.servers.of('http://a.test').robots = robots;
    const { errand, receive } = opened(ledger, 2);
    const visit = (url: string, time: number): Visit => ({
      ...{ url, depth: 1, time, outcome: 'failed', reason: 'connect-refused', status: 0, retryAfter: 0 },
      cost: { up: 1, down: 1, cause: 'error', ms: 1 },
    });
    const [first, second] = errand.pages.map(({ url }) => url);
    receive({ visits: [visit(first!, Date.now()), visit(second!, Date.now() + DAY)] });
    const server = ledger.servers.of(errand.server.origin);
    assert.equal(server.failures, 1);
    assert.ok(server.notBefore < Date.now() + HOUR);
    assert.ok(ledger.visits.of(2)[0]!.time <= Date.now());
    ledger.abandon();
  });
});

test('a visit to a page that the errand did not name is left out, and counted', () => {
  withLedger(3, ledger => {
    const { errand, receive } = opened(ledger);
    const visit = (url: string): Visit => ({
      ...{ url, depth: 1, time: Date.now(), outcome: 'failed', reason: 'reset', status: 0, retryAfter: 0 },
      cost: { up: 1, down: 1, cause: 'error', ms: 1 },
    });
    const [named, other] = [errand.pages[0]!.url, ledger.pages.get(2)!.url];
    assert.equal(receive({ visits: [visit(other), visit(named), visit(named)] }), 2, 'nor is one that came before');
    assert.deepEqual(
      [1, 2].map(page => ledger.visits.of(page).length),
      [1, 0],
    );
    ledger.abandon();
  });
});
