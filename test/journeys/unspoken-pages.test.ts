/** Pages of which a site says nothing though it tells of others: an application beside its files, what its owner left out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CooperatingSite, openSite } from '../home/notices/cooperating-site.ts';
import { type Collection, makeCollection } from './collection.ts';
import { html, prose } from './pages.ts';

const type = 'text/html; charset=utf-8';
const paths = Array.from({ length: 20 }, (_, n) => `/app/${n}`);
const newer = '/app/newer';

/** Thirty files that the site tells of, and pages besides that are others every day. */
function furnish(site: CooperatingSite, day: () => number): void {
  const files = Array.from({ length: 30 }, (_, n) => `/${n}.html`);
  site.set('/', { body: html('Front', [prose(99)], [...files, ...paths]) });
  for (const [n, path] of files.entries()) site.set(path, { body: html(path, [prose(n, 200)], ['/']) });
  for (const [n, path] of [...paths, newer].entries()) {
    const body = () =>
      html(path, [prose(n + 500, 200), `What was sold on day ${day()}.`, prose(day() * 7 + n, 40)], ['/']);
    site.extra.set(path, () => ({ status: 200, type, body: body() }));
  }
}

const looksAt = (collection: Collection, site: CooperatingSite, path: string) =>
  collection.visits(site.origin + path).length;

test('silence about a page that a site never tells of says nothing of it', async () => {
  let day = 0;
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site, () => day);
  await collection.crawl([`${site.origin}/`]);
  for (; day < 10; day++) {
    if (day === 4) site.set('/', { body: html('Front', [prose(98)], ['/1.html', newer, ...paths]) });
    await collection.refresh({ freshness: 0.95, audit: 0 });
    collection.pass(1);
  }
  const looks = paths.map(path => looksAt(collection, site, path));
  // The first is the crawl's; in the first days little is known of how often they change.
  assert.ok(
    looks.every(count => count >= 4),
    `${looks}`,
  );
  assert.ok(looksAt(collection, site, newer) >= 4, 'also one that came later');
  const files = [5, 6, 7].map(n => looksAt(collection, site, `/${n}.html`));
  assert.ok(
    files.every(count => count <= 3),
    `the word about others counts as before: ${files}`,
  );
  const gone = site.asked.filter(path => path === 'GET /app/3').length;
  const { cursor } = collection.look(ledger =>
    ledger.schedule.faces.all().find(({ kind }) => kind === 'cursor'),
  )!.state;
  site.restore(1);
  site.set('/30.html', { body: html('Thirty', [prose(3)]) });
  site.set('/', { body: html('Front', [prose(97)], ['/1.html', '/30.html', ...paths]) });
  await collection.refresh({ freshness: 0.5, audit: 0 });
  const after = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'cursor'))!.state
    .cursor;
  assert.notEqual(after, cursor, 'the site was put back in time, and compared anew');
  assert.ok(site.asked.filter(path => path === 'GET /app/3').length <= gone + 1);
  const told = collection.look(ledger => ledger.schedule.noticeTrust.of(1, 'cursor'));
  assert.ok(told.pings <= 5, `what it never told of is not taken for removed: ${told.pings}`);
});

test('home is told of a page that no list names where it holds it, and learns of no other', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  const quiet = (edition: string) => ({
    kind: 'unlisted' as const,
    body: html('Quiet', [prose(3, 200), `The ${edition} edition.`], ['/']).replace(
      '<head>',
      '<head><meta name="robots" content="noindex">',
    ),
  });
  site.set('/', { body: html('Front', [prose(99)], ['/quiet.html', '/a.html']) });
  site.set('/a.html', { body: html('A', [prose(1, 200)], ['/']) });
  site.set('/quiet.html', quiet('first'));
  site.set('/secret.html', quiet('only'));
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ freshness: 0.9 });
  collection.pass(1);
  site.set('/quiet.html', quiet('second'));
  site.asked.length = 0;
  await collection.refresh({ freshness: 0.9, audit: 0 });
  const looks = collection.visits(`${site.origin}/quiet.html`);
  assert.deepEqual([looks.at(-1)!.outcome, looks.at(-1)!.cause], ['fetched', 'delta']);
  assert.ok(!site.asked.includes('GET /quiet.html'), `${site.asked}`);
  const urls = collection.look(({ pages }) => Array.from({ length: pages.size }, (_, i) => pages.get(i + 1)!.url));
  assert.ok(!urls.includes(`${site.origin}/secret.html`), `${urls}`);
});
