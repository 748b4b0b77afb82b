/** Numbers that people read: each was once wrong, and says now what is so. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openHome } from '../../src/cli/options/engine-options.ts';
import { crawlLine } from '../../src/cli/print/live.ts';
import { attend } from '../../src/cli/services.ts';
import { lastRun } from '../../src/home/log.ts';
import { serversAtWork } from '../../src/home/machines/posts.ts';
import { readOrder } from '../../src/home/orders.ts';
import { crawlSupply } from '../../src/home/supply.ts';
import { Live } from '../../src/workbench/live.ts';
import { Reader } from '../../src/workbench/reader.ts';
import { openWorkbench, type Workbench } from '../../src/workbench/server.ts';
import { readPages, readSeconds } from '../../src/workbench/ui/lib/numbers.ts';
import { latency, outcomeWord } from '../../src/workbench/ui/lib/words.ts';
import { type Collection, chosen, makeCollection } from '../journeys/collection.ts';

const PAGES = 25;
/** Milliseconds that robots.txt takes, and nothing else. */
const SLOW = 400;

let collection: Collection;
let site: Server;
let workbench: Workbench;
let dead: string;
const seen = { atWork: new Set<string>(), line: '', errors: 0, done: '' };

const listen = (server: Server) =>
  new Promise<string>(resolve =>
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );

before(async () => {
  site = createServer((request, response) => {
    const links = Array.from({ length: PAGES }, (_, page) => `<a href="/${page}.html">${page}</a>`).join(' ');
    const robots = request.url === '/robots.txt';
    const found = robots || request.url === '/' || /^\/\d+\.html$/.test(request.url ?? '');
    const answer = () => {
      response.writeHead(found ? 200 : 404, { 'content-type': robots ? 'text/plain' : 'text/html' });
      response.end(
        robots
          ? 'User-agent: *\nAllow: /'
          : `<title>${request.url}</title><p>Words of ${request.url}</p>${links}<a href="/missing">x</a>`,
      );
    };
    setTimeout(answer, robots ? SLOW : 1);
  });
  const origin = await listen(site);
  const closed = createServer();
  dead = await listen(closed);
  await new Promise(resolve => closed.close(resolve));
  collection = makeCollection();
  const values = chosen(collection.directory, { scope: ['*'] });
  const opened = await openHome(values, [`${origin}/`, `${dead}/`], { clockShift: collection.clockShift });
  const attended = await attend(opened, { command: 'crawl', data: collection.directory, keep: '' });
  const looking = setInterval(() => {
    for (const each of serversAtWork(opened.home.dispatch.posts, 10)) seen.atWork.add(each);
  }, 1);
  await opened.run(crawlSupply(opened, 0));
  clearInterval(looking);
  assert.deepEqual(serversAtWork(opened.home.dispatch.posts, 10), [], 'nobody is at work once it is over');
  seen.line = crawlLine(opened);
  seen.errors = opened.home.progress.errors;
  await attended.leave();
  await opened.close();
  workbench = await openWorkbench({ directory: collection.directory, port: 0, version: 'test' });
});

after(async () => {
  await workbench.close();
  site.close();
  site.closeAllConnections();
  collection[Symbol.dispose]();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of the API are looked at field by field
const get = async (path: string): Promise<any> => (await fetch(new URL(`/api/v1${path}`, workbench.address))).json();

test('latency is that of the pages, not that of robots.txt', async () => {
  const { servers } = await get('/servers');
  const own = servers.find(({ origin }: { origin: string }) => origin !== dead);
  assert.ok(own.latency > 0 && own.latency < SLOW / 2, `${own.latency} ms`);
});

test('a dead seed is an error, in the numbers and on the line of the crawl', () => {
  assert.ok(seen.errors >= 1);
  const line = seen.line.replace(/\u001b\[\d+m/g, '');
  assert.match(line, new RegExp(`errors ${seen.errors}\\b`));
  assert.match(line, /servers 2\b/, 'servers are counted also when all their pages are under way or done');
});

test('what needs attention and how the last run ended stand in the first view', async () => {
  const { attention, run, freshness, freshnessLow, freshnessHigh, freshnessLooks, account } = await get('/overview');
  assert.ok(attention.some(({ what }: { what: string }) => /1 server does not answer\./.test(what)));
  assert.equal(run.command, 'crawl');
  assert.ok(run.ended >= run.started && run.outcomes.fetched >= PAGES);
  assert.deepEqual(run, lastRun(collection.directory));
  assert.ok(0 <= freshnessLow && freshnessLow <= freshness && freshness <= freshnessHigh && freshnessHigh <= 1);
  assert.equal(freshnessLooks, 0, 'no page was looked at twice: freshness is a guess, which the view does not show');
  assert.ok(account.days.at(-1).spent > 0);
  assert.equal(lastRun('/nowhere'), undefined);
});

test('servers that are visited are those that errands are at', () => {
  for (const origin of seen.atWork) assert.ok(origin.startsWith('http://127.0.0.1:'));
  assert.ok(seen.atWork.size > 0);
});

test('a page that never was is not found; one that was is gone', async () => {
  const { pages } = await get('/pages?outcome=gone');
  assert.equal(pages.length, 1);
  assert.equal(outcomeWord(pages[0].outcome, pages[0].changed !== null), 'not found');
  assert.equal(outcomeWord('gone', true), 'gone');
  const { visits } = await get('/now');
  assert.ok(visits.every((visit: { outcome: string; seen: boolean }) => visit.outcome !== 'fetched' || visit.seen));
});

test('pages are counted and narrowed by type and status', async () => {
  assert.deepEqual(await get('/count?status=404'), { pages: 1, whole: true });
  assert.deepEqual(await get('/count?type=text/html&status=2xx'), { pages: PAGES + 1, whole: true });
  assert.equal((await get('/pages?status=4xx')).pages.length, 1);
  assert.match((await get('/pages?status=9')).error, /write a status such as 404 or 4xx/);
  const { servers } = await get('/servers?order=failures');
  assert.equal(servers[0].origin, dead);
});

test('bad values in orders are refused in our own words', async () => {
  for (const [order, words] of [
    [{ kind: 'pace', seconds: 99_999 }, 'The pace is a number of seconds from 0 to 86,400, such as 2.5.'],
    [{ kind: 'pace', seconds: Number.NaN }, 'The pace is a number of seconds from 0 to 86,400, such as 2.5.'],
    [{ kind: 'limit', pages: 0.5 }, 'The limit is a whole number of pages from 1, or none.'],
    [
      { kind: 'server', origin: 'x', action: 'pace', seconds: '1.2.3' },
      'The pace is a number of seconds from 0 to 86,400, such as 2.5.',
    ],
    [{ kind: 'dance' }, 'There is no such order.'],
  ] as const) {
    assert.throws(() => readOrder(order), { message: words });
    const answer = await fetch(new URL('/api/v1/steer', workbench.address), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${new URL(workbench.address).searchParams.get('token')}`,
      },
      body: JSON.stringify({ order }),
    });
    assert.equal(answer.status, 400);
    assert.equal(((await answer.json()) as { error: string }).error, words);
  }
  assert.throws(() => readSeconds('1.2.3', true), /“1\.2\.3” is not a pace/);
  assert.throws(() => readPages('99999999999999'), /is not a limit/);
  assert.deepEqual([readSeconds(' 2,5 '), readSeconds('', true), readPages('')], [2.5, null, null]);
});

test('a quick server does not take 0 ms', () => {
  assert.deepEqual([0, 0.3, 3.46, 9.96, 28.4].map(latency), ['', '<1 ms', '3.5 ms', '10 ms', '28 ms']);
});

test('bytes of today grow with the visits of a run, and not only when all is counted', async () => {
  const reader = new Reader(collection.directory, '');
  const live = new Live(reader);
  try {
    const { spentToday: before, time: counted } = live.now.collection;
    const seed = `http://127.0.0.1:${(site.address() as AddressInfo).port}/999.html`;
    const opened = await openHome(chosen(collection.directory), [seed], { clockShift: collection.clockShift });
    await opened.run(crawlSupply(opened, 0));
    await opened.close();
    while (live.now.collection.spentToday === before) await sleep(50);
    assert.equal(live.now.collection.time, counted, 'nothing was counted anew meanwhile');
  } finally {
    live.close();
    reader.close();
  }
});
