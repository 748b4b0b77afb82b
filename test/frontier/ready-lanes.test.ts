/** Whose turn it is, and that finding it out does not take longer the more servers there are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Frontier } from '../../src/frontier/frontier.ts';
import type { Lane } from '../../src/frontier/lanes/lane.ts';
import { ReadyLanes } from '../../src/frontier/lanes/ready-lanes.ts';
import { HoldableOrder } from '../../src/frontier/orders/holdable-order.ts';
import { makeOrder, type OrderName } from '../../src/frontier/orders/order.ts';
import { movableClock } from '../web/clock.ts';
import { withLedger } from './known-ledger.ts';
import { plainOptions } from './plain-options.ts';

const hint = { depth: 0, forward: -1, backward: 0 };

interface Scene {
  readonly turns: ReadyLanes;
  readonly lanes: Lane[];
  /** Looks at lanes so far. */
  readonly looks: () => number;
}

/** Lanes with one page each, of the given relevance. */
function scene(relevances: readonly number[], order: OrderName = 'focused', clock = movableClock()): Scene {
  let looks = 0;
  const turns = new ReadyLanes(new Map(), clock, () => {
    looks++;
    return 1;
  });
  const lanes = relevances.map((relevance, index) => {
    const pages = new HoldableOrder(makeOrder(order));
    pages.add(index + 1, { ...hint, relevance });
    const server = { id: index + 1, paused: false, notBefore: 0 };
    return { server, topLevelDomain: 'test', order: pages, errands: 0, elsewhere: 0 } as unknown as Lane;
  });
  for (const lane of lanes) turns.stir(lane);
  return { turns, lanes, looks: () => looks };
}

function taken(turns: ReadyLanes): number[] {
  const ids: number[] = [];
  for (let lane = turns.next(); lane; lane = turns.next()) ids.push(lane.server.id);
  return ids;
}

test('a turn looks at the lanes to which something happened, however many others there are', () => {
  const { turns, lanes, looks } = scene(new Array(50_000).fill(0), 'breadth');
  turns.wake();
  for (const lane of lanes.slice(0, 64)) assert.equal(turns.next(), lane, 'first come, first served');
  const before = looks();
  for (let turn = 0; turn < 100; turn++) {
    turns.stir(lanes[0]!); // an errand of it ended
    turns.wake();
    turns.next();
  }
  assert.ok(looks() - before <= 300, `${looks() - before} looks for 100 turns`);
});

test('a lane gets its turn when it has pages, is not paused, and no more errands are out than may be', () => {
  const { turns, lanes } = scene([0, 0, 0, 0], 'breadth');
  lanes[0]!.order.take(1);
  lanes[1]!.server.paused = true;
  lanes[2]!.errands = 1;
  turns.wake();
  assert.deepEqual(taken(turns), [4]);
  lanes[0]!.order.add(9, { ...hint, relevance: 0 });
  lanes[1]!.server.paused = false;
  lanes[2]!.errands = 0;
  turns.wake();
  assert.deepEqual(taken(turns), [], 'nobody said so');
  for (const lane of lanes) turns.stir(lane);
  turns.wake();
  assert.deepEqual(taken(turns), [1, 2, 3, 4]);
});

test('a server that wants to be left alone comes back by itself when the time is over', async () => {
  const clock = movableClock();
  const { turns, lanes } = scene([0, 0, 0], 'breadth', clock);
  lanes[0]!.server.notBefore = clock.now() + 5000;
  lanes[1]!.server.notBefore = clock.now() + 1000;
  turns.wake();
  assert.deepEqual(taken(turns), [3]);
  await clock.advance(1000);
  turns.wake();
  assert.deepEqual(taken(turns), [2]);
  await clock.advance(3999);
  turns.wake();
  assert.deepEqual(taken(turns), []);
  await clock.advance(1);
  turns.wake();
  assert.deepEqual(taken(turns), [1]);
});

test('while more relevant pages wait, less relevant servers are not offered', () => {
  const { turns, lanes } = scene([10, 200, 205, 100]);
  turns.wake();
  assert.equal(turns.next(), lanes[1]);
  turns.wake();
  assert.deepEqual(taken(turns), [3], 'those that wait count');
  turns.wake();
  assert.deepEqual(taken(turns), [4]);
  lanes[0]!.order.add(9, { ...hint, relevance: 250 });
  lanes[3]!.order.add(8, { ...hint, relevance: 150 });
  for (const lane of lanes) turns.stir(lane);
  turns.wake();
  assert.deepEqual(taken(turns), [1], 'what has become of it counts, not what it was when it was set aside');
});

test('a lane that may go at once has another turn without being stirred', () => {
  const { turns, lanes } = scene([0], 'breadth');
  turns.wake();
  turns.next();
  turns.offer(lanes[0]!);
  turns.offer(lanes[0]!);
  assert.deepEqual(taken(turns), [1]);
  lanes[0]!.errands = 1;
  turns.offer(lanes[0]!);
  assert.deepEqual(taken(turns), []);
});

test('the count of waiting pages is that of a look at every lane', () => {
  withLedger(100, ledger => {
    const frontier = new Frontier(ledger, plainOptions, movableClock());
    const agree = (count: number) =>
      assert.deepEqual([frontier.backlog.pages, frontier.backlog.waiting().pages], [count, count]);
    agree(0);
    frontier.again(Array.from({ length: 100 }, (_, index) => ({ page: index + 1, server: 1 })));
    agree(100);
    frontier.errands.wake();
    const { errand } = frontier.errands.next()!;
    agree(100 - errand.pages.length);
    assert.equal(frontier.backlog.outstanding, 100);
    frontier.errands.finish(errand.id);
    agree(100);
  });
});

test('what is kept aside counts as waiting, until the outpost brought it', () => {
  let count = 0;
  const order = new HoldableOrder(makeOrder('focused'), by => {
    count += by;
  });
  const relevant = { ...hint, relevance: 200 };
  const lost = { ...hint, relevance: 0, strayed: 9 };
  order.add(1, relevant);
  assert.equal(order.add(2, lost), 'irrelevant');
  assert.equal(count, 1);
  order.hold();
  order.add(3, relevant);
  order.add(4, lost);
  order.add(5, relevant);
  order.visited(3);
  order.visited(99);
  assert.deepEqual([count, order.size + order.held], [3, 3]);
  order.release();
  assert.deepEqual([count, order.size], [2, 2], 'the order does not want what is lost');
  assert.deepEqual(order.take(9), [1, 5]);
  assert.equal(count, 0);
});

test('a clock that is set makes no server wait longer than it wished, and none shorter', () => {
  let [now, ticks] = [10 * 3_600_000, 5000];
  const clock = { ...movableClock(), now: () => now, ticks: () => ticks };
  const { turns, lanes } = scene([0], 'breadth', clock);
  lanes[0]!.server.notBefore = now + 60_000;
  turns.wake();
  assert.deepEqual(taken(turns), []);
  for (const step of [-3_600_000, 7_200_000]) {
    now += step;
    turns.wake();
    assert.deepEqual(taken(turns), []);
    assert.equal(lanes[0]!.server.notBefore - now, 60_000);
  }
  now += 60_000;
  ticks += 60_000;
  turns.wake();
  assert.deepEqual(taken(turns), [1]);
});
