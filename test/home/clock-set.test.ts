/** Somebody sets the clock while a run goes on: what waits for a moment waits no longer, and nothing is forgotten. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { DAY, HOUR, shiftedClock } from '../../src/base/clock.ts';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { HouseChores } from '../../src/engine/house/chores.ts';
import { Frontier } from '../../src/frontier/frontier.ts';
import { NoticeDesk } from '../../src/home/notices/desk.ts';
import { NOTHING } from '../../src/home/notices/messages.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { NOW, withLedger } from '../frontier/known-ledger.ts';
import { plainOptions } from '../frontier/plain-options.ts';
import { chosen, makeCollection } from '../journeys/collection.ts';
import { html, openPages, prose } from '../journeys/pages.ts';

test('a second look comes after a moment, not after an hour', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  let [asked, word] = [0, 'first'];
  pages.set('/', () => ({ body: html('Front', [prose(1), `Token ${++asked} of the ${word}.`]) }));
  const clockShift = new SharedArrayBuffer(16);
  const shift = new Float64Array(clockShift);
  const terms = chosen(collection.directory, { secondLook: 3, budget: '100%' });
  const crawl = await openHome(terms, [`${pages.origin}/`], { clockShift });
  await crawl.run(crawlSupply(crawl, 0));
  await crawl.close();
  shift[0] = DAY;
  word = 'second';
  const before = asked;
  const visits = () => collection.look(ledger => ledger.visits.newest());
  const known = visits();
  const refreshing = keepFresh('refresh', terms, { clockShift });
  while (visits() === known) await setTimeout(50);
  shift[1] = -HOUR;
  await refreshing;
  assert.ok(asked >= before + 2, 'it was looked at twice');
});

test('sites that tell of changes are asked at their pace', async () => {
  let [now, ticks, polls] = [NOW, NOW, 0];
  const clock = { now: () => now, ticks: () => ticks, sleep: async () => {} };
  using collection = makeCollection();
  const ledger = new Ledger(collection.directory, 'write');
  ledger.begin();
  const reader = {
    async do() {
      polls++;
      return { ...NOTHING, every: HOUR / 4 };
    },
  };
  const desk = new NoticeDesk({ ledger, frontier: new Frontier(ledger, plainOptions, clock), clock, reader });
  const server = ledger.servers.of('http://a.test').id;
  ledger.schedule.faces.add({ server, kind: 'feed', url: 'http://a.test/feed', found: 'page' }, now);
  const pass = async (ms: number) => {
    now += ms;
    ticks += ms;
    desk.turn();
    await setImmediate();
    desk.turn();
  };
  await pass(0);
  assert.equal(polls, 1);
  now -= HOUR;
  await pass(HOUR / 8);
  assert.equal(polls, 1, 'not sooner');
  await pass(HOUR / 4);
  assert.equal(polls, 2);
  ledger.abandon();
  ledger.close();
});

test('house is kept, whatever clock wrote down when it was kept before', () => {
  const clock = shiftedClock(new SharedArrayBuffer(16));
  withLedger(1, ledger => {
    ledger.begin();
    ledger.settings.set('retention', { keepVersions: 2 });
    ledger.settings.set('house-kept', clock.now() + 365 * DAY);
    const shift = new SharedArrayBuffer(16);
    const parts = {
      home: { dispatch: { posts: { recall() {} } } },
      collection: { settings: ledger.settings },
      clock: shiftedClock(shift),
    };
    const chores = new HouseChores(parts as unknown as ConstructorParameters<typeof HouseChores>[0]);
    assert.equal(chores.due(), undefined);
    new Float64Array(shift)[0] = 7 * HOUR;
    assert.ok(chores.due(), 'a few hours later it is time');
    ledger.abandon();
  });
});
