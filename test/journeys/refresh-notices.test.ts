/** Notices: a sitemap whose dates move, and a ping by hand, bring the pages they name forward. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { makeCollection } from './collection.ts';
import { html, openPages, type Pages, prose } from './pages.ts';

const numbers = Array.from({ length: 20 }, (_, i) => i);

/** Twenty pages, a sitemap that knows when each changed, and a front page that links to all. */
function furnish(pages: Pages, changed: ReadonlyMap<number, number>, start: number): void {
  const body = (n: number) => html(`Page ${n}`, [prose(n), `Edition ${changed.has(n) ? 'new' : 'old'} of this page.`]);
  pages.set('/', {
    body: html(
      'Front',
      [prose(99)],
      numbers.map(n => `/${n}.html`),
    ),
    tagged: true,
  });
  for (const n of numbers) pages.set(`/${n}.html`, { body: body(n), tagged: true });
  const dates = (n: number) => new Date(changed.get(n) ?? start - DAY).toISOString();
  const entries = numbers.map(n => `<url><loc>${pages.origin}/${n}.html</loc><lastmod>${dates(n)}</lastmod></url>`);
  pages.set('/sitemap.xml', {
    body: `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`,
    headers: { 'content-type': 'application/xml' },
    tagged: true,
  });
  pages.set('/robots.txt', {
    body: `Sitemap: ${pages.origin}/sitemap.xml\n`,
    headers: { 'content-type': 'text/plain' },
  });
}

test('a sitemap that names a later date brings just those pages forward', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const start = collection.clock.now();
  furnish(pages, new Map(), start);
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  const changed = new Map([4, 11].map(n => [n, start + 43_200_000]));
  furnish(pages, changed, start);
  pages.asked.length = 0;
  await collection.refresh({ budget: '2' });
  // A page that changed is also held against what the server answers for one that cannot exist.
  const looked = pages.asked.filter(path => path.endsWith('.html') && !path.includes('no-such-page'));
  assert.deepEqual(looked.sort(), ['/11.html', '/4.html']);
  for (const path of looked) assert.equal(collection.visits(pages.origin + path).at(-1)!.outcome, 'fetched');
  const server = collection.look(ledger => ledger.servers.byId(1));
  assert.equal(server.pings, 2);
  assert.equal(server.truePings, 2);
});

test('a ping moves a page forward, less so where pings have been false', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  furnish(pages, new Map(), collection.clock.now());
  await collection.crawl([`${pages.origin}/`]);
  const ledger = new Ledger(collection.directory, 'write');
  ledger.begin();
  const schedule = new Schedule(ledger);
  schedule.reschedule(Date.now());
  const dueOf = (page: number) => ledger.pages.known(page)!.due!;
  const server = ledger.servers.byId(1);
  const [first, second] = [3, 4];
  const before = { first: dueOf(first), second: dueOf(second) };
  schedule.ping(first, Date.now());
  server.pings = 400;
  server.truePings = 1;
  server.pingExpected = 100;
  server.pingMissed = 95;
  schedule.ping(second, Date.now());
  assert.ok(before.first - dueOf(first) > before.second - dueOf(second));
  assert.ok(dueOf(second) <= before.second);
  ledger.commit();
  ledger.close();
});
