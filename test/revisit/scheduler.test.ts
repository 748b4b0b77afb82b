import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../src/base/clock.ts';
import { nextDue, phaseOf, planNamed } from '../../src/revisit/policy.ts';
import { newState } from '../../src/revisit/state.ts';
import { Heap } from './heap.ts';
import { Scheduler } from './scheduler.ts';
import { randomFrom } from './simulation.ts';

const pagesPerDay = (pages: number) => ({ plan: planNamed(), budget: { pages } });

test('heap: always the least key, through pushes, pops, moves and removals', () => {
  const random = randomFrom(1);
  const table = { keys: new Float64Array(300), places: new Int32Array(300).fill(-1) };
  const heap = new Heap(table);
  const inside = new Set<number>();
  for (let step = 0; step < 20_000; step++) {
    const entry = Math.floor(random() * 300);
    if (!inside.has(entry)) {
      table.keys[entry] = random();
      heap.push(entry);
      inside.add(entry);
    } else if (random() < 0.3) {
      heap.remove(entry);
      inside.delete(entry);
    } else if (random() < 0.5) {
      table.keys[entry] = random();
      heap.moved(entry);
    } else inside.delete(heap.pop());
    assert.equal(heap.size, inside.size);
    const least = Math.min(...[...inside].map(one => table.keys[one]!));
    if (inside.size > 0) assert.equal(table.keys[heap.top], least);
    else assert.equal(heap.top, -1);
  }
});

test('new pages come first, then the earliest due, and a page is out until it is done', () => {
  const scheduler = new Scheduler(pagesPerDay(0.1));
  const [a, b] = [scheduler.server('http://a.example', 0), scheduler.server('http://b.example', 0)];
  const later = scheduler.add({ server: a, last: 0, due: 9 * DAY });
  const sooner = scheduler.add({ server: a, last: 0, due: 7 * DAY });
  const fresh = scheduler.add({ server: b });
  assert.equal(scheduler.next(8 * DAY), fresh);
  assert.equal(scheduler.next(8 * DAY), sooner);
  assert.equal(scheduler.next(8 * DAY), -1, 'one page of a server at a time, and all servers are out');
  scheduler.done(sooner, 8 * DAY, { changed: false });
  assert.equal(scheduler.next(8 * DAY), later, 'the budget is there to be used, so before it is due');
  scheduler.done(fresh, 8 * DAY, { changed: true });
  assert.equal(scheduler.page(fresh)?.state.visits, 0, 'the first fetch observes nothing');
  assert.equal(scheduler.page(sooner)?.state.visits, 1);
});

test('the order is that of a plain search over all pages, with servers that come and go', () => {
  const random = randomFrom(8);
  const scheduler = new Scheduler(pagesPerDay(50));
  const alive = new Set<number>();
  const outServers = new Map<number, number>();
  for (let step = 0; step < 6_000; step++) {
    const now = step * HOUR;
    const roll = random();
    const page = [...alive][Math.floor(random() * alive.size)] ?? -1;
    const free = page >= 0 && outServers.get(scheduler.page(page)!.server) !== page;
    if (roll < 0.15 || alive.size < 5) {
      const server = scheduler.server(`http://s${Math.floor(random() * 20)}.example`, 0);
      alive.add(scheduler.add({ server, last: now - DAY * random() * 9 }));
    } else if (roll < 0.2 && free) {
      scheduler.remove(page);
      alive.delete(page);
    } else if (roll < 0.3) scheduler.ping(page, now);
    else if (roll < 0.6 && outServers.size > 0) {
      const [server, out] = [...outServers][Math.floor(random() * outServers.size)]!;
      outServers.delete(server);
      if (roll < 0.55) scheduler.done(out, now, { changed: random() < 0.5 });
      else scheduler.postpone(out, now, now + DAY);
    } else {
      // Asking first, because the first question of all sets the due times.
      const got = scheduler.next(now);
      const rows = [...alive].map(one => ({ one, row: scheduler.page(one)! }));
      const open = rows.filter(({ row }) => !outServers.has(row.server));
      const least = Math.min(...open.map(({ row }) => row.due));
      if (open.length === 0) assert.equal(got, -1);
      else assert.equal(scheduler.page(got)?.due, least);
      if (got >= 0) outServers.set(scheduler.page(got)!.server, got);
    }
  }
});

test('pace: a server waits between visits, and another is served meanwhile', () => {
  const scheduler = new Scheduler(pagesPerDay(1000));
  const a = scheduler.server('http://a.example', 10_000);
  const b = scheduler.server('http://b.example', 10_000);
  const first = scheduler.add({ server: a, last: 0, due: 1 });
  scheduler.add({ server: a, last: 0, due: 2 });
  const other = scheduler.add({ server: b, last: 0, due: 3 });
  assert.equal(scheduler.next(5), first);
  scheduler.done(first, 5, { changed: false });
  assert.equal(scheduler.next(6), other);
  scheduler.done(other, 6, { changed: false });
  assert.equal(scheduler.next(10_004), -1);
  assert.notEqual(scheduler.next(10_005), -1);
});

test('a server that cannot keep up gets a multiplier; theta follows the others', () => {
  const scheduler = new Scheduler(pagesPerDay(600));
  const slow = scheduler.server('http://slow.example', DAY / 20);
  const quick = scheduler.server('http://quick.example', 0);
  for (let i = 0; i < 1000; i++)
    scheduler.add({ server: i % 2 ? slow : quick, last: 0, state: newState({ a: 4, b: 8 }) });
  const random = randomFrom(2);
  for (let tick = 1; tick < 60 * 600; tick++) {
    const now = (tick * DAY) / 600;
    const page = scheduler.next(now);
    if (page >= 0) scheduler.done(page, now, { changed: random() < 0.5 });
  }
  const [held, free] = scheduler.snapshot().servers;
  assert.ok(held!.multiplier > 1.5, `${held!.multiplier}`);
  assert.equal(free!.multiplier, 1);
});

test('a ping moves a page forward by what pings of that server are worth, and never backward', () => {
  const pings = { pings: 400, confirmed: 399, expected: 400, missed: 0 };
  const servers = [{ origin: 'http://a.example', multiplier: 1, pings }];
  const scheduler = new Scheduler({ ...pagesPerDay(10), snapshot: { theta: 1, visitBytes: 8000, servers } });
  const server = scheduler.server('http://a.example', 0);
  const page = scheduler.add({ server, last: 0, due: 50 * DAY });
  const hopeless = scheduler.add({ server, last: 0, due: 50 * DAY, state: newState({ a: 8, b: 1 }) });
  const overdue = scheduler.add({ server, last: 0, due: DAY });
  for (const one of [page, hopeless, overdue]) scheduler.ping(one, 2 * DAY);
  assert.equal(scheduler.page(page)?.due, 2 * DAY);
  assert.equal(scheduler.page(hopeless)?.due, 50 * DAY, 'it changes too fast to be followed even when told');
  assert.equal(scheduler.page(overdue)?.due, DAY);
});

test('a restart from the snapshot and the rows goes on as if nothing had happened', () => {
  const random = randomFrom(4);
  const first = new Scheduler(pagesPerDay(100));
  for (let i = 0; i < 200; i++) first.add({ server: first.server(`http://s${i % 7}.example`, 0), last: 0 });
  const run = (scheduler: Scheduler, from: number, ticks: number, draw: () => number) => {
    const order: number[] = [];
    for (let tick = from; tick < from + ticks; tick++) {
      const now = tick * DAY * 0.01;
      const page = scheduler.next(now);
      order.push(page);
      if (page >= 0) scheduler.done(page, now, { changed: draw() < 0.4 });
    }
    return order;
  };
  run(first, 1, 1500, random);
  const second = new Scheduler({ ...pagesPerDay(100), snapshot: first.snapshot() });
  for (let i = 0; i < 200; i++) {
    const row = first.page(i)!;
    second.add({ ...row, server: second.server(`http://s${row.server}.example`, 0) });
  }
  assert.deepEqual(run(second, 1600, 800, randomFrom(5)), run(first, 1600, 800, randomFrom(5)));
});

test('bytes: at the same rate and importance a small page is looked at sooner than a large one', () => {
  const scheduler = new Scheduler({ plan: planNamed(), budget: { bytes: 20_000 } });
  const server = scheduler.server('http://a.example', 0);
  const state = newState({ a: 2, b: 10 });
  const small = scheduler.add({ server, last: 0, bytes: 2_000, state });
  const large = scheduler.add({ server, last: 0, bytes: 400_000, state });
  assert.equal(scheduler.next(DAY), small);
  assert.ok(scheduler.page(small)!.due < scheduler.page(large)!.due);
});

test('the class and the pure pieces that the ledger uses agree on due times', () => {
  const scheduler = new Scheduler({ ...pagesPerDay(10), snapshot: { theta: 0.7, visitBytes: 8000, servers: [] } });
  const server = scheduler.server('http://a.example', 0);
  const page = scheduler.add({ server, last: 3 * DAY, weight: 2 });
  const row = scheduler.page(page)!;
  const terms = { weight: 2, theta: 0.7, maxInterval: 90, cycle: 0.1, meanRate: 0, recall: 0, phase: phaseOf(page) };
  const due = nextDue(planNamed(), row.state, 3 * DAY, terms);
  assert.ok(Math.abs(row.due - due) < 1000, 'to a second, since states are kept in 32 bits');
});

test('a sample stands for all pages', () => {
  const scheduler = new Scheduler(pagesPerDay(100));
  const server = scheduler.server('http://a.example', 0);
  for (let i = 0; i < 3_000; i++) scheduler.add({ server, last: i * HOUR, due: 1 });
  for (let i = 0; i < 500; i++) scheduler.remove(i);
  assert.equal(scheduler.sample(1e6).length, 2_500);
  const [all, some] = [1e6, 250].map(limit => mean(scheduler.sample(limit).map(({ last }) => last / HOUR)));
  assert.ok(Math.abs(all! - some!) < 0.01 * 2_500, `${all} ${some}`);
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
