/**
 * Politeness as the servers see it. Times are compared with lower bounds only, and those are half of what was asked
 * for: a busy machine makes requests later, never earlier.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openTarget } from '../hostile/home.ts';
import type { LogLine } from '../web/server.ts';
import { openWeb, type Web } from '../web/web.ts';
import { collected, crawlHere, pagesOf, skeinJson, workplace } from './skein.ts';

/** Milliseconds between the first and the last request. */
function span(lines: readonly LogLine[]): number {
  const times = lines.map(({ time }) => time);
  return Math.max(...times) - Math.min(...times);
}

const ofServer = (web: Web, server: number) => web.log.filter(({ url }) => url.startsWith(`${web.origins[server]}/`));

test('one request at a time to a server, and a pause between them', async () => {
  await using web = await openWeb({ seed: 4, servers: 3, pagesPerServer: 15, addresses: true, latency: 5 });
  using place = workplace();
  await crawlHere({ data: place.path, scope: '*', pace: 0.05 }, web.seeds);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  assert.equal(Math.max(...web.log.map(({ open }) => open)), 1);
  for (const server of [0, 1, 2]) {
    const lines = ofServer(web, server);
    assert.equal(lines.length, 16, 'its pages and robots.txt');
    assert.equal(lines[0]!.url, `${web.origins[server]}/robots.txt`, 'robots.txt comes first');
    assert.ok(span(lines) >= 0.5 * 15 * 50, `${span(lines)} ms for ${lines.length} requests`);
  }
  assert.ok(web.log.every(({ agent }) => /^Skein\/\S+ \(\+https?:\/\/\S+\)$/.test(agent)));
});

test('threads that share a server use all connections that are allowed, and not one more', async () => {
  const atOnce = async (connections: number, threads: number): Promise<number> => {
    await using web = await openWeb({ seed: 4, pagesPerServer: 200, latency: 20 });
    using place = workplace();
    await crawlHere({ data: place.path, pace: 0, connections, threads }, web.seeds);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
    return Math.max(...web.log.map(({ open }) => open));
  };
  const most = await atOnce(8, 2);
  assert.ok(most > 4 && most <= 8, `${most} of 8`);
  const few = await atOnce(2, 4);
  assert.ok(few <= 2, `${few} of 2, though there are four threads`);
});

test('Crawl-delay is a floor', async () => {
  await using web = await openWeb({ seed: 4, pagesPerServer: 6, crawlDelay: 0.3 });
  using place = workplace();
  await crawlHere({ data: place.path, pace: 0.01 }, web.seeds);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  assert.ok(span(web.log) >= 0.5 * 5 * 300, `${span(web.log)} ms`);
});

test('servers that share an address share a pace', async () => {
  const servers = 10;
  await using web = await openWeb({ seed: 4, servers, pagesPerServer: 4, crossLinks: 0 });
  using place = workplace();
  const seeds = web.origins.map(origin => `${origin}/`);
  await crawlHere({ data: place.path, pace: 0.2, threads: 2 }, seeds);
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  // A quarter of the pace between any two; each server alone would need 0.8 seconds.
  const counted = web.log.filter(({ url }) => !url.endsWith('/robots.txt'));
  assert.ok(
    span(counted) >= 0.6 * (counted.length - servers) * 50,
    `${span(counted)} ms for ${counted.length} requests`,
  );
});

test('Retry-After outlives the process that heard it', async () => {
  await using web = await openWeb({ seed: 4, pagesPerServer: 8 });
  using place = workplace();
  const busy = `${web.origins[0]}/p/1.html`;
  web.fault(busy, 'status-503', 1);
  await crawlHere({ data: place.path }, web.seeds);
  const before = web.requests();
  assert.ok(collected(await pagesOf(place.path)).length < web.mustFind().length);
  await skeinJson('crawl', '--data', place.path, '--pace', '0', '--allow-private', '--max-pages', '1');
  assert.equal(web.requests(), before, 'it waits, whoever runs');
  const waiting = [...(await pagesOf(place.path, '--outcome', 'waiting')).keys()][0]!;
  const { state } = await skeinJson<{ state: string }>('show', waiting, '--data', place.path);
  assert.match(state, /the next request to its server is in/);
  const clockShift = new SharedArrayBuffer(8);
  new Float64Array(clockShift)[0] = 10 * 60_000;
  await crawlHere({ data: place.path }, [], { clockShift });
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
});

test('Retry-After is obeyed every time, within one crawl', async () => {
  await using web = await openWeb({ seed: 4, pagesPerServer: 5 });
  using place = workplace();
  const busy = `${web.origins[0]}/p/1.html`;
  web.fault(busy, 'status-429', 3);
  await crawlHere({ data: place.path }, web.seeds, { patience: 60_000 });
  assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  const asked = web.log.filter(({ url }) => url === busy).map(({ time }) => time);
  assert.equal(asked.length, 4, 'three times in vain');
  for (let i = 1; i < asked.length; i++) assert.ok(asked[i]! - asked[i - 1]! >= 2000, `${asked}`);
});

/** Most requests that came within so many milliseconds, by the servers' own clock. */
function mostWithin(ms: number, lines: readonly LogLine[]): number {
  const times = lines.map(({ time }) => time).sort((a, b) => a - b);
  let most = 0;
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= ms) first++;
    most = Math.max(most, last - first + 1);
  }
  return most;
}

for (const { servers, pace, threads } of [
  { servers: 40, pace: 0.2, threads: 1 },
  { servers: 40, pace: 0.2, threads: 4 },
  { servers: 400, pace: 0.05, threads: 4 },
]) {
  test(`an address with ${servers} servers is asked at one pace by ${threads} threads, from the first request on`, async t => {
    await using web = await openWeb({ seed: 4, servers, pagesPerServer: 2, crossLinks: 0 });
    using place = workplace();
    const seeds = web.origins.map(origin => `${origin}/`);
    await crawlHere({ data: place.path, scope: '*', pace, threads, depth: 0 }, seeds);
    assert.equal(web.log.length, 2 * servers, 'robots.txt and the first page of each');
    const allowed = 4 / pace;
    const most = mostWithin(1000, web.log);
    t.diagnostic(`${most} requests in a second; ${allowed} are allowed`);
    // Requests that left a little apart may arrive together on a busy machine.
    assert.ok(most <= 1.5 * allowed, `${most} in a second, ${allowed} are allowed`);
  });
}

for (const [way, step] of [
  ['back', -3_600_000],
  ['forward', 3_600_000],
] as const) {
  test(`a clock that is set ${way} an hour while requests are made stops none of them`, async () => {
    await using web = await openWeb({ seed: 4, servers: 3, pagesPerServer: 25 });
    using place = workplace();
    const clockShift = new SharedArrayBuffer(16);
    const held = web.hold(30);
    const crawling = crawlHere({ data: place.path, scope: '*', pace: 0.02 }, web.seeds, { clockShift });
    await held;
    new Float64Array(clockShift)[1] = step;
    web.release();
    await crawling;
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  });
}

test('who pauses before a robots.txt could be asked for says nothing of its server', async () => {
  await using web = await openWeb({ seed: 4, servers: 12, pagesPerServer: 2, crossLinks: 0 });
  const seeds = web.origins.map(origin => `${origin}/`);
  // One address: the others wait for their turn while the first is asked.
  await using home = await openTarget(seeds, { threads: 2, pace: 0.3, depth: 0 });
  while (web.log.length < 2) await new Promise(resolve => setTimeout(resolve, 5));
  home.opened.home.pause();
  await new Promise(resolve => setTimeout(resolve, 300));
  home.opened.home.resume();
  await home.ended;
  assert.deepEqual(collected(await pagesOf(home.directory)), seeds.sort());
});

test('an address with 30 servers is asked at one pace by home, two outposts and audits together', async t => {
  const pace = 0.2;
  const servers = 30;
  await using web = await openWeb({ seed: 4, servers, pagesPerServer: 2, crossLinks: 0 });
  const seeds = web.origins.map(origin => `${origin}/`);
  await using home = await openTarget(seeds, { threads: 2, pace, depth: 0, audit: 1 });
  home.opened.home.pause();
  await using _ = await home.honest('one');
  await using __ = await home.honest('two');
  while (home.opened.home.dispatch.posts.carriers.length < 4) await new Promise(resolve => setTimeout(resolve, 20));
  home.opened.home.resume();
  await home.ended;
  const allowed = 4 / pace;
  const most = mostWithin(1000, web.log);
  t.diagnostic(`${most} requests in a second of ${web.log.length}; ${allowed} are allowed`);
  assert.ok(web.log.length >= 2 * servers, `${web.log.length} requests`);
  assert.ok(most <= 1.5 * allowed, `${most} in a second, ${allowed} are allowed`);
});
