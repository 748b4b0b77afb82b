/** How much of a server leaves at once, and to how many: the rules that keep a paced server paced. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DELEGATED, delegable, sizeOf } from '../../src/frontier/errands/delegation.ts';
import { errandSize, type Lane, paceOf, spreads } from '../../src/frontier/lanes/lane.ts';
import type { Server } from '../../src/ledger/servers.ts';

const robots = { status: 200, body: '', unreachableSince: 0, time: 0 };

function lane(server: Partial<Server> = {}, more: { readonly errands?: number; readonly top?: number } = {}): Lane {
  const { errands = 0, top = 0 } = more;
  return { server: { crawlDelay: 0, failures: 0, robots, ...server }, order: { top }, errands } as unknown as Lane;
}

test('pace: what the user set for the server before what was asked for all, and never below its Crawl-delay', () => {
  assert.equal(paceOf(lane(), 1000), 1000);
  assert.equal(paceOf(lane({ pace: 200 }), 1000), 200);
  assert.equal(paceOf(lane({ crawlDelay: 5000 }), 1000), 5000);
  assert.equal(paceOf(lane({ crawlDelay: 5000, pace: 200 }), 1000), 5000);
  assert.equal(paceOf(lane({ crawlDelay: 5000 }), 0), 0, 'who lifts the pace lifts it altogether');
});

test('several outposts visit one server only where nothing paces it, several connections are allowed and it answers', () => {
  assert.equal(spreads(lane(), 0, 4), true);
  assert.equal(spreads(lane(), 1, 4), false);
  assert.equal(spreads(lane(), 0, 1), false);
  assert.equal(spreads(lane({ failures: 1 }), 0, 4), false);
  assert.equal(spreads(lane({ robots: undefined } as Partial<Server>), 0, 4), false);
});

test('an errand takes what fits into a short while, and at least one page', () => {
  assert.deepEqual([0, 100, 1000, 60_000].map(errandSize), [64, 32, 20, 1]);
});

test('the first errand only looks; others are as large as their way is long', () => {
  const terms = { mode: 'explore', order: 'breadth', depth: 9, pace: 1000, lease: 100_000 } as const;
  const here = { remote: false, machine: '', follow: false, levels: 0 };
  const far = { remote: true, machine: 'far', follow: false, levels: 0 };
  const unseen = lane({ robots: undefined } as Partial<Server>);
  assert.deepEqual([sizeOf(here, unseen, terms), sizeOf(far, unseen, terms)], [1, 1]);
  assert.equal(sizeOf(far, unseen, { ...terms, pace: 0 }), 512, 'a way too long for a first look');
  assert.equal(sizeOf(here, lane(), terms), errandSize(1000));
  assert.equal(sizeOf(far, lane(), terms), 80, 'four fifths of its lease, at this pace');
  assert.equal(sizeOf(far, lane(), { ...terms, pace: 0, mode: 'refresh' }), 2048);
  assert.equal(sizeOf({ ...far, follow: true }, lane(), terms), DELEGATED);
  assert.ok(sizeOf(far, lane({}, { top: 9 }), terms) < 20, 'in a focused crawl the next pages depend on these');
});

test('a server is handed over whole only in a first crawl, breadth first, when nobody else is at it', () => {
  const terms = { mode: 'explore', order: 'breadth', depth: 9, pace: 0, lease: 1 } as const;
  assert.equal(delegable(terms, lane()), true);
  assert.equal(delegable({ ...terms, mode: 'refresh' }, lane()), false);
  assert.equal(delegable({ ...terms, order: 'pvalue' }, lane()), false);
  assert.equal(delegable({ ...terms, depth: 0 }, lane()), false);
  assert.equal(delegable(terms, lane({}, { errands: 1 })), false);
});
