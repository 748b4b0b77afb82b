/** The synthetic web keeps its own promises; all other tests lean on them. */

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { charsetTexts } from './features/copies.ts';
import { FAULTS, FEATURES, movableClock, openWeb } from './web.ts';

const LINK = /<a href="([^"]*)"(?: rel="([^"]*)")?/g;

/** A tiny crawl that follows everything but nofollow, and knows no politeness: what can be reached at all. */
async function reach(seed: string, origins: readonly string[], limit = 5000): Promise<Map<string, number>> {
  const seen = new Map<string, number>();
  const queue = [seed];
  while (queue.length > 0 && seen.size < limit) {
    const url = queue.shift()!;
    if (seen.has(url)) continue;
    const response = await fetch(url, { redirect: 'manual' });
    seen.set(url, response.status);
    const body = await response.text();
    const next = [...body.replace(/<script>.*<\/script>/g, '').matchAll(LINK)]
      .filter(([, , rel]) => rel !== 'nofollow')
      .map(([, href]) => href!.replaceAll('&amp;', '&'));
    const location = response.headers.get('location');
    if (location !== null) next.push(location);
    for (const href of next) {
      const target = new URL(href, url);
      target.hash = '';
      if (origins.includes(target.origin)) queue.push(target.href);
    }
  }
  return seen;
}

test('every ordinary page of every server can be reached, and nothing else is promised', async () => {
  await using web = await openWeb({ seed: 3, servers: 8, pagesPerServer: 30 });
  const seen = await reach(web.seeds[0]!, web.origins);
  assert.deepEqual([...seen.keys()].sort(), web.mustFind());
  assert.equal(seen.size, 240);
  assert.equal(web.requests(), 240);
  assert.ok(web.log.every(line => line.status === 200));
});

test('the same options serve the same bytes, another seed serves others', async () => {
  const bodies: string[] = [];
  for (const seed of [5, 5, 6]) {
    await using web = await openWeb({ seed, noise: ['csrf', 'ad'], clock: movableClock(), crossLinks: 0 });
    bodies.push(await (await fetch(`${web.origins[0]}/p/3.html`)).text());
  }
  assert.equal(bodies[0], bodies[1]);
  assert.notEqual(bodies[0], bodies[2]);
});

test('pages change at their rate, the truth says when, and noise is not a change', async () => {
  const clock = movableClock();
  await using web = await openWeb({ clock, pagesPerServer: 200, rates: [0.5], noise: ['timestamp'], images: 1 });
  const from = clock.now();
  const page = web.page(`${web.origins[0]}/p/7.html`)!;
  const main = async () => /<main>.*<\/main>/s.exec(await (await fetch(page.url)).text())![0];
  const before = await main();
  const noisy = await (await fetch(page.url)).text();
  assert.equal(await main(), before);
  assert.notEqual(await (await fetch(page.url)).text(), noisy);

  await clock.advance(20 * DAY);
  const changes = page.content!.changes(from, clock.now());
  assert.equal(page.content!.version(clock.now()), changes.length);
  const seen = changes.some(change => change.kind !== 'image');
  assert.equal((await main()) !== before, seen);

  const all = web.truth().flatMap(({ content }) => content?.changes(from, clock.now()) ?? []);
  // 200 pages × 20 days × 0.5 = 2,000 expected, standard deviation 45.
  assert.ok(Math.abs(all.length - 2000) < 250, `${all.length} changes`);
  assert.deepEqual([...new Set(all.map(change => change.kind))].sort(), ['image', 'links', 'structure', 'text']);
});

test('a redesign changes every page and no content', async () => {
  const clock = movableClock();
  await using web = await openWeb({ clock });
  const page = web.page(`${web.origins[0]}/p/2.html`)!;
  const [body, text] = [await (await fetch(page.url)).text(), page.content!.text(clock.now())];
  web.redesign();
  const after = await (await fetch(page.url)).text();
  assert.notEqual(after, body);
  assert.equal(page.content!.text(clock.now()), text);
  for (const paragraph of text.split('\n')) assert.ok(after.includes(paragraph));
});

test('validators are right, absent or lying, as asked', async () => {
  const statuses = async (validators: 'right' | 'none' | 'now' | 'constant' | 'stale' | 'backends') => {
    const clock = movableClock();
    await using web = await openWeb({ clock, validators: [validators], rates: [4] });
    const url = `${web.origins[0]}/p/1.html`;
    const first = await fetch(url);
    await first.text();
    const conditions: Record<string, string> = {};
    const [tag, date] = [first.headers.get('etag'), first.headers.get('last-modified')];
    if (tag !== null) conditions['if-none-match'] = tag;
    else if (date !== null) conditions['if-modified-since'] = date;
    const ask = async () => (await fetch(url, { headers: conditions, cache: 'no-store' })).status;
    await clock.advance(1000);
    const soon = await ask();
    await clock.advance(30 * DAY);
    return [soon, await ask()];
  };
  assert.deepEqual(await statuses('right'), [304, 200]);
  assert.deepEqual(await statuses('none'), [200, 200]);
  assert.deepEqual(await statuses('now'), [200, 200]);
  assert.deepEqual(await statuses('constant'), [304, 304]);
  assert.deepEqual(await statuses('stale'), [304, 304]);
  assert.deepEqual(await statuses('backends'), [200, 200]);
});

test('features answer as their truth says', async () => {
  const features = FEATURES.filter(feature => feature !== 'traps');
  await using web = await openWeb({ servers: 2, features, codings: ['br', 'gzip'], images: 1 });
  for (const { url, expect, reply, found } of web.truth()) {
    assert.equal(typeof reply, 'function');
    if (url.endsWith('/r/nowhere') || url.endsWith('/e/flapping')) continue;
    const response = await fetch(url, { redirect: 'manual' });
    await response.arrayBuffer();
    const group = Math.floor(response.status / 100);
    const right = { page: [2], moved: [3], gone: [4], failed: [4, 5], refused: [2] }[expect];
    assert.ok(right.includes(group), `${url} ${expect} ${response.status} ${found}`);
  }
  const seen = await reach(web.seeds[0]!, web.origins, 400);
  const missing = web.truth().filter(({ url, found }) => found === 'links' && !seen.has(url));
  // Only a crawler that reads `<base>` and meta refresh finds these.
  assert.deepEqual([...new Set(missing.map(({ path }) => path))], ['/r/refreshed.html', '/v/below/leaf.html']);
});

test('charset pages decode to their text', async () => {
  await using web = await openWeb({ features: ['charsets'] });
  for (const [path, text] of charsetTexts) {
    const body = await (await fetch(web.origins[0] + path)).arrayBuffer();
    const name = path.slice(3, -5);
    assert.ok(new TextDecoder(name).decode(body).includes(text), name);
  }
});

test('traps have no end', async () => {
  await using web = await openWeb({ features: ['traps'], pagesPerServer: 1 });
  const seen = await reach(web.seeds[0]!, web.origins, 300);
  assert.equal(seen.size, 300);
});

test('a fault takes over a URL or a server, for as long as asked', async () => {
  await using web = await openWeb({ servers: 2 });
  const url = `${web.origins[0]}/p/1.html`;
  web.fault(url, 'status-503', 1);
  assert.equal((await fetch(url)).status, 503);
  assert.equal((await fetch(url)).status, 200);
  web.fault(web.origins[1]!, 'reset-at-once');
  await assert.rejects(fetch(`${web.origins[1]}/robots.txt`));
  web.heal(web.origins[1]!);
  assert.equal((await fetch(`${web.origins[1]}/robots.txt`)).status, 200);
  assert.deepEqual(
    web.log.map(line => line.status),
    [503, 200, 0, 200],
  );
});

/** Bytes that a raw client gets before it has enough of them or of waiting, or the server leaves. */
function listen(url: string, enough: number, patience: number): Promise<number> {
  const { hostname, port, pathname } = new URL(url);
  return new Promise(resolve => {
    let bytes = 0;
    const socket = connect(Number(port), hostname, () => socket.write(`GET ${pathname} HTTP/1.1\r\nHost: x\r\n\r\n`));
    const leave = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(bytes);
    };
    const timer = setTimeout(leave, patience);
    socket.on('data', data => {
      bytes += data.length;
      if (bytes >= enough) leave();
    });
    socket.on('error', leave);
    socket.on('close', leave);
  });
}

test('each fault sends something, or nothing, and lets go when the client leaves', async () => {
  await using web = await openWeb();
  const url = `${web.origins[0]}/p/1.html`;
  for (const fault of FAULTS) {
    web.fault(url, fault);
    const silent = ['hang', 'reset-at-once', 'close'].includes(fault);
    const enough = fault.startsWith('endless') ? 500_000 : 1;
    const bytes = await listen(url, enough, silent ? 200 : 20_000);
    assert.equal(bytes >= enough, !silent, `${fault}: ${bytes} bytes`);
  }
});

test('each server can have an address of its own', async () => {
  await using web = await openWeb({ servers: 3, addresses: true });
  assert.equal(new Set(web.origins.map(origin => new URL(origin).hostname)).size, 3);
  const seen = await reach(web.seeds[0]!, web.origins);
  assert.deepEqual([...seen.keys()].sort(), web.mustFind());
});
