/** How a budget becomes visits while a collection is watched. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY, HOUR } from '../../src/base/clock.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Pool } from '../../src/home/partitions/pool.ts';
import { RefreshSupply } from '../../src/home/refresh/refresh-supply.ts';
import { isBelieved } from '../../src/home/refresh/told-looks.ts';
import { WatchSupply } from '../../src/home/refresh/watch-supply.ts';
import { crawlSupply, type SupplyParts } from '../../src/home/supply.ts';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';
import { plainOptions } from '../frontier/plain-options.ts';

/** A watch over `ledger` with so many pages a day; `at` lets it look at the budget, returns the pages let go so far. */
function watch(ledger: Ledger, pages: number, more: Partial<SupplyParts> = {}): (time: number) => number {
  let now = NOW;
  const clock = { now: () => now, ticks: () => now, sleep: async () => {} };
  const frontier = new Frontier(ledger, plainOptions, clock, new Schedule(ledger, {}, { continuous: true }));
  ledger.begin();
  frontier.restore();
  frontier.schedule.aim({ share: 0.5 }, NOW);
  const supply = new WatchSupply(
    { pool: new Pool([{ id: 0, ledger, frontier }]), clock, ...more },
    () => ({ pages, bytes: Infinity }),
    () => 0,
  );
  return time => {
    now = time;
    supply.fill();
    return frontier.backlog.waiting().pages;
  };
}

test('visits come at the pace of the budget, and what is saved up is an hour of it', () => {
  withLedger(400, ledger => {
    const at = watch(ledger, 240);
    assert.equal(at(NOW), 0);
    assert.equal(at(NOW + HOUR / 10), 1);
    assert.equal(at(NOW + HOUR / 2), 5);
    assert.equal(at(NOW + 20 * HOUR), 15, 'ten more, however long nothing was asked for');
    ledger.abandon();
  });
});

test('pages that a timetable looks at keep no others back, however many of them are due', () => {
  withLedger(400, ledger => {
    const at = watch(ledger, 240, { timed: ({ page }) => page <= 390 });
    for (let page = 1; page <= 390; page++) ledger.schedule.due.set(page, NOW - DAY);
    for (let page = 391; page <= 400; page++) ledger.schedule.due.set(page, NOW);
    assert.equal(at(NOW + HOUR / 2), 5);
    assert.equal(at(NOW + HOUR), 10);
    ledger.abandon();
  });
});

test('once a day the schedule is made anew', () => {
  withLedger(50, ledger => {
    const at = watch(ledger, 10);
    const made = () => ledger.settings.get<{ time: number }>('schedule')!.time;
    at(NOW + 23 * HOUR);
    assert.equal(made(), NOW);
    at(NOW + DAY + HOUR);
    assert.equal(made(), NOW + DAY + HOUR);
    ledger.abandon();
  });
});

test('a clock that is set back keeps no page from being tried again', () => {
  withLedger(3, ledger => {
    const second = 1000;
    let [now, ticks] = [NOW, NOW];
    const clock = { now: () => now, ticks: () => ticks, sleep: async () => {} };
    const frontier = new Frontier(ledger, plainOptions, clock, new Schedule(ledger, {}, {}));
    ledger.begin();
    frontier.restore();
    const supply = crawlSupply({ pool: new Pool([{ id: 0, ledger, frontier }]), clock }, HOUR / 60);
    const pass = (seconds: number) => {
      now += seconds * second;
      ticks += seconds * second;
      supply.fill();
      return frontier.backlog.waiting().pages;
    };
    const failed = (page: number, wait: number) =>
      ledger.pages.putKnown({ ...ledger.pages.known(page)!, time: now, seen_time: now, retry_at: now + wait * second });
    assert.equal(pass(2), 0);
    failed(1, 10);
    now -= HOUR;
    assert.equal(pass(2), 0);
    failed(2, 10);
    assert.equal(pass(11), 2, 'the one that failed before and the one that failed after');
    now -= 20 * second;
    failed(3, 5);
    assert.equal(pass(7), 3, 'a small step, too');
    ledger.abandon();
  });
});

/** Pages that a round for this freshness lets go where all of them are due, and none of them comes back. */
function letGo(freshness: number, looks: number): number {
  let given = 0;
  withLedger(400, ledger => {
    const clock = { now: () => NOW, ticks: () => NOW, sleep: async () => {} };
    const frontier = new Frontier(ledger, plainOptions, clock, new Schedule(ledger, {}, {}));
    ledger.begin();
    frontier.restore();
    frontier.schedule.aim({ freshness }, NOW);
    for (let page = 1; page <= 400; page++) ledger.schedule.due.set(page, NOW - DAY);
    for (let i = 0; i < looks; i++)
      ledger.schedule.forecasts.add(NOW - DAY, { server: 1, kind: 1, foretold: 0.02 }, false);
    const pool = new Pool([{ id: 0, ledger, frontier }]);
    const all = { pages: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };
    new RefreshSupply({ pool, clock }, { begun: NOW, before: NOW - DAY }, all, () => 0).fill();
    given = frontier.backlog.waiting().pages;
    ledger.abandon();
  });
  return given;
}

test('a server at which the freshness that is to be kept is expected gets looks by lot and no others', () => {
  const [few, more, guessed] = [letGo(0.9, 200), letGo(0.999, 200), letGo(0.9, 20)];
  assert.ok(few > 0 && few <= 400 / 20 + 2, `${few} by lot`);
  assert.ok(more > few, `${more} beside ${few}`);
  assert.ok(guessed > few, `${guessed} where next to nothing is known, beside ${few}`);
});

test('what a site sends is looked at on top of what is planned, and what its sitemap dates say within it', () => {
  withLedger(30, ledger => {
    ledger.begin();
    const schedule = new Schedule(ledger);
    schedule.aim({ freshness: 0.9 }, NOW);
    schedule.ping(10, NOW, 'sitemap');
    schedule.ping(11, NOW, 'websub');
    for (const kind of ['sitemap', 'cursor'] as const) schedule.ping(12, NOW, kind);
    ledger.commit();
    assert.deepEqual(
      [10, 11, 12].map(page => isBelieved(ledger, page, 1)),
      [false, true, true],
    );
  });
});
