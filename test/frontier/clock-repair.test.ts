/** A clock that ran ahead and was set right: what it wrote must not keep pages and servers waiting for years. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { makeCollection } from '../journeys/collection.ts';
import { html, openPages, prose } from '../journeys/pages.ts';

const YEARS = 4 * 365;

test('a collection that was made by a clock years ahead is refreshed by one that is right', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /private/', headers: { 'content-type': 'text/plain' } });
  pages.set('/', { body: html('Front', [prose(1)], ['/page.html', '/busy.html']) });
  pages.set('/page.html', { body: html('Page', [prose(2)]) });
  pages.set('/busy.html', { status: 503, headers: { 'retry-after': '3600' } });
  collection.pass(YEARS);
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(-YEARS);
  const now = collection.clock.now();

  pages.set('/page.html', { body: html('Page', [prose(3)]) });
  pages.set('/busy.html', { body: html('Busy', [prose(4)]) });
  pages.set('/robots.txt', { body: 'User-agent: *\nDisallow: /secret/', headers: { 'content-type': 'text/plain' } });
  const held = collection.look(ledger => [...ledger.servers.all()].map(({ notBefore }) => notBefore));
  assert.ok(
    held.every(time => time > now + YEARS * (DAY - 1)),
    'the server had asked for a pause, years from now',
  );
  await collection.refresh({ budget: '100%' });
  collection.look(ledger => {
    const { latest, due } = ledger['database']
      .prepare('SELECT max(time) AS latest, max(due) AS due FROM known')
      .get() as {
      latest: number;
      due: number;
    };
    assert.ok(latest <= collection.clock.now(), 'no page was last visited in the future');
    assert.ok(due < now + YEARS * (DAY / 2), 'nor is one due in years');
    const [server] = [...ledger.servers.all()];
    assert.ok(server!.notBefore <= now + 2 * DAY);
  });
  collection.pass(1.1); // the pause that it did ask for has passed
  await collection.refresh({ budget: '100%' });
  const outcomes = (path: string) => collection.visits(pages.origin + path).map(({ outcome }) => outcome);
  assert.deepEqual(outcomes('/page.html'), ['fetched', 'fetched'], 'it was looked at again');
  await collection.crawl([]);
  assert.equal(outcomes('/busy.html').at(-1), 'fetched');
  assert.match(
    collection.look(ledger => [...ledger.servers.all()][0]!.robots!.body),
    /secret/,
  );
});
