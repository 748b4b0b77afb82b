/** What peers know of each other before they agree on a round. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Heartbeat } from '../../../src/cluster/members/heartbeat.ts';
import { livePages } from '../../../src/engine/cluster/runs.ts';

const heartbeat = (given: Partial<Heartbeat>): Heartbeat => ({
  ...{ name: 'ann', session: '0123456789abcdef', beat: 1, protocol: 1, skein: '0.1.0', phase: 'working', capacity: 1 },
  ...{ pages: 0, servers: 0, rate: 0, partitions: 0, moving: [], changelogLag: 0, exchangeLag: 0 },
  ...given,
});

const list = (...all: readonly Partial<Heartbeat>[]) => ({
  list: () => all.map(each => ({ name: 'ann', heartbeat: heartbeat(each), liveness: 'living' as const, silent: 0 })),
});

test('pages of all peers are known when what they have open makes up all partitions', () => {
  assert.equal(livePages(list({ partitions: 6, live: 21 }, { partitions: 4, live: 9 }), 10), 30);
});

test('a peer that was last heard before it opened a partition has not told all of its pages', () => {
  assert.equal(livePages(list({ partitions: 6, live: 21 }, { partitions: 3, live: 5 }), 10), undefined);
});

test('nor has one that was last heard before it let a partition go', () => {
  assert.equal(livePages(list({ partitions: 7, live: 25 }, { partitions: 4, live: 9 }), 10), undefined);
});

test('while a partition moves, or somebody comes, the pages are not known', () => {
  assert.equal(livePages(list({ partitions: 10, live: 30, moving: [3] }), 10), undefined);
  assert.equal(livePages(list({ partitions: 10, live: 30 }, { phase: 'joining' }), 10), undefined);
  assert.equal(livePages(list({ partitions: 10 }), 10), undefined);
});
