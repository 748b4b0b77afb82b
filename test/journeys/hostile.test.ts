/** Servers that hang, drip, reset, lie and flood: bounded time and memory, and a named outcome for each. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { reasons } from '../../src/errand/reasons.ts';
import { FLAG_TRUNCATED } from '../../src/ledger/pages/known-row.ts';
import type { Fault } from '../web/faults.ts';
import { FAULTS, openWeb } from '../web/web.ts';
import { html, openPages, prose } from './pages.ts';
import { collected, crawlHere, lookInto, pagesOf, skeinJson, workplace } from './skein.ts';

/** Milliseconds; what does not answer at all is waited for so long, and what answers comes sooner on a busy machine too. */
const timeouts = { connect: 2000, tls: 2000, firstByte: 2000, betweenBytes: 2000, body: 6000 };
const BODY = 200_000;

/** Outcome and reason at the first try. */
const expected: Readonly<Record<Fault, string>> = {
  hang: 'failed first-byte-timeout',
  drip: 'failed body-timeout',
  'drip-head': 'failed first-byte-timeout',
  reset: 'failed reset',
  'reset-at-once': 'failed reset',
  close: 'failed reset',
  'short-body': 'failed reset',
  'long-body': 'fetched ok',
  'broken-chunks': 'failed reset',
  endless: 'fetched ok',
  'endless-head': 'failed bad-answer',
  bomb: 'fetched ok',
  binary: 'fetched ok',
  'bad-coding': 'failed bad-coding',
  'not-http': 'failed bad-answer',
  'redirect-to-self': 'failed redirect-loop',
  'status-429': 'failed http-429',
  'status-500': 'failed http-5xx',
  'status-503': 'failed http-503',
};

test('every fault of a server ends as a named outcome, and costs no other page', async () => {
  await using web = await openWeb({ seed: 5, servers: FAULTS.length, pagesPerServer: 6 });
  using place = workplace();
  const faulty = new Map(FAULTS.map((fault, server) => [`${web.origins[server]}/p/1.html`, fault]));
  for (const [url, fault] of faulty) web.fault(url, fault);
  const summary = await crawlHere({ data: place.path, scope: '*', bodyLimit: BODY }, web.seeds, { timeouts });

  const pages = await pagesOf(place.path);
  const found = [...faulty].map(([url, fault]) => [fault, `${pages.get(url)?.outcome} ${pages.get(url)?.reason}`]);
  assert.deepEqual(Object.fromEntries(found), expected);
  for (const { reason } of pages.values()) assert.ok(reason === null || reason in reasons, String(reason));

  // A server that asks for a pause keeps its other pages waiting; all others are complete.
  const paused = web.origins[FAULTS.indexOf('status-503')]!;
  const others = web.mustFind().filter(url => !faulty.has(url) && !url.startsWith(paused));
  const got = new Set(collected(pages));
  assert.deepEqual(
    others.filter(url => !got.has(url)),
    [],
  );

  using look = lookInto(place.path);
  for (const [url, fault] of faulty) {
    if (fault !== 'endless' && fault !== 'bomb') continue;
    const { known } = look.page(url);
    assert.ok(known!.flags & FLAG_TRUNCATED, `${fault} says that it was cut`);
    assert.ok(known!.bytes! <= BODY, `${known!.bytes} bytes of ${fault}`);
  }
  // This process serves the bomb, too. Without limits one body alone would take more.
  assert.ok(summary.memory < 800e6, `${summary.memory} bytes of memory`);
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
});

test('a body that breaks off is asked for again; what the last try brings is kept and marked', async () => {
  await using web = await openWeb({ seed: 5, pagesPerServer: 3 });
  using place = workplace();
  const [heals, lies] = [`${web.origins[0]}/p/1.html`, `${web.origins[0]}/p/2.html`];
  web.fault(heals, 'reset', 2);
  web.fault(lies, 'short-body');
  const clockShift = new SharedArrayBuffer(8);
  const shift = new Float64Array(clockShift);
  for (let day = 0; day < 5; day++) {
    shift[0] = day * DAY;
    await crawlHere({ data: place.path }, web.seeds, { timeouts, clockShift });
  }
  using look = lookInto(place.path);
  assert.equal(look.page(heals).known?.outcome, 'fetched');
  assert.equal(web.requests(heals), 3);
  assert.equal(look.page(lies).known?.outcome, 'fetched');
  assert.equal(web.requests(lies), 1 + reasons.reset.retries, 'and then never again');
  assert.ok(look.page(lies).known!.flags & FLAG_TRUNCATED);
  assert.equal(look.page(heals).known!.flags & FLAG_TRUNCATED, 0);
});

test('a server whose robots.txt cannot be read is left alone, and not asked for ever', async () => {
  await using web = await openWeb({ seed: 5, servers: 2, pagesPerServer: 4 });
  using place = workplace();
  const silent = web.origins[1]!;
  web.fault(`${silent}/robots.txt`, 'status-500');
  const clockShift = new SharedArrayBuffer(8);
  const shift = new Float64Array(clockShift);
  for (let day = 0; day < 8; day++) {
    shift[0] = day * DAY;
    await crawlHere({ data: place.path, scope: '*' }, web.seeds, { timeouts, clockShift });
  }
  const pages = await pagesOf(place.path, '--outcome', 'refused');
  const refused = [...pages.values()].filter(({ url }) => url.startsWith(silent));
  assert.ok(refused.length > 0);
  for (const { reason } of refused) assert.equal(reason, 'robots-unreachable');
  assert.equal(web.log.filter(({ url }) => url.startsWith(silent) && !url.endsWith('/robots.txt')).length, 0);
  const asked = web.requests(`${silent}/robots.txt`);
  assert.ok(
    asked >= 2 && asked <= 1 + reasons['robots-unreachable'].retries,
    `robots.txt was asked for ${asked} times`,
  );
});

test('every page of a server that does not answer says why it does not', async () => {
  await using pages = await openPages();
  const dead = await openPages();
  await dead[Symbol.asyncDispose]();
  const links = ['/a', '/b', '/c'].map(path => dead.origin + path);
  pages.set('/', { body: html('Front', [prose(1)], links) });
  using place = workplace();
  await crawlHere({ data: place.path, scope: '*', threads: 1 }, [`${pages.origin}/`]);
  using look = lookInto(place.path);
  for (const url of links) assert.equal(look.page(url).known?.reason, 'connect-refused', url);
});
