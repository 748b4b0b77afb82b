/** Pages with times of their own are looked at then, beside the budget of all others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { comingLooks } from '../../src/engine/timetable.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Pool } from '../../src/home/partitions/pool.ts';
import { Timetable } from '../../src/home/timetable/timetable.ts';
import { parseTimed } from '../../src/revisit/timetable.ts';
import { testCollection, testWeb } from '../../src/testing/testing.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';
import { plainOptions } from '../frontier/plain-options.ts';

const MINUTE = 60_000;

test('a budget of its own bounds what a rule may cost', () => {
  withLedger(100, ledger => {
    let now = NOW;
    const clock = { now: () => now, ticks: () => now, sleep: async () => {} };
    const frontier = new Frontier(ledger, plainOptions, clock, new Schedule(ledger, {}, { continuous: true }));
    ledger.begin();
    frontier.restore();
    frontier.schedule.aim({ share: 0.5 }, NOW);
    const timetable = new Timetable(new Pool([{ id: 0, ledger, frontier }]), clock, [
      parseTimed('a.test/9 5m'),
      parseTimed('a.test/ 1m 48/d'),
    ]);
    const waiting = (time: number) => {
      now = time;
      timetable.fill();
      return frontier.backlog.waiting().pages;
    };
    // 9 and 90 to 99 match the first rule, and are overdue; of the others one may be looked at, and two an hour.
    assert.equal(waiting(NOW + 2000), 11 + 1);
    assert.equal(waiting(NOW + 31 * MINUTE), 11 + 2);
    assert.equal(waiting(NOW + DAY), 11 + 4, 'an hour is saved up, not a day');
    ledger.abandon();
  });
});

test('a watch looks at a page every so often, at others by its budget, and tells what comes next', async () => {
  await using web = await testWeb({
    '/': '<title>Home</title><a href="/news">news</a> <a href="/about">about</a>',
    '/news': ({ count }) => `<title>News</title><p>Headline number ${count} of the day.</p>`,
    '/about': '<title>About</title><p>Always the same.</p>',
  });
  await using collection = testCollection({ threads: 1 });
  await collection.skein.crawl(web.seeds).summary();
  const looks = (path: string) => web.log.filter(each => each.path === path).length;
  for await (const page of collection.skein.watch({ every: ['/news 1s'], secondLook: 0 })) {
    assert.equal(new URL(page.url).pathname, '/news');
    if (looks('/news') >= 4) break;
  }
  assert.equal(looks('/about'), 1);
  const coming = comingLooks(collection.data, 5);
  const news = coming.find(({ url }) => url.endsWith('/news'))!;
  assert.equal(news.rule, '/news 1s');
  assert.equal(news.due, collection.skein.page(news.url)!.time + 1000);
  assert.equal(coming.filter(({ rule }) => rule === 'schedule').length, 2);
  const others = comingLooks(collection.data, 5, ['/about 5m']);
  assert.deepEqual(
    others.map(({ rule }) => rule).sort(),
    ['/about 5m', 'schedule', 'schedule'],
    'what it would do with other rules',
  );
  assert.equal(
    others.find(({ rule }) => rule === '/about 5m')!.due,
    collection.skein.page(web.url('/about'))!.time + 300_000,
  );
  assert.equal(collection.skein.changes({ pattern: '/news' }).length, looks('/news') - 1);
  await assert.rejects(collection.skein.watch({ every: ['/news soon'] }).summary(), /SkeinError: every cannot be/);
});
