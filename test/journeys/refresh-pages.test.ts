/** Pages that go, come back, move, alternate, become huge or empty: the right outcome, a right copy, a bounded cost. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../src/base/clock.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { historyOf, unpackState } from '../../src/revisit/state.ts';
import { type Collection, makeCollection } from './collection.ts';
import { html, openPages, type Pages, prose } from './pages.ts';

/** A front page that links to the page under test. */
async function begin(collection: Collection, pages: Pages): Promise<void> {
  pages.set('/', { body: html('Front', [prose(1)], ['/page.html']), tagged: true });
  await collection.crawl([`${pages.origin}/`]);
}

async function dayLater(collection: Collection, days = 1): Promise<void> {
  collection.pass(days);
  await collection.refresh({ budget: '100%' });
}

function knownOf(collection: Collection, url: string) {
  return collection.look(ledger => {
    const { id } = ledger['database'].prepare('SELECT id FROM pages WHERE url = ?').get(url) as { id: number };
    return ledger.pages.known(id)!;
  });
}

/** Bodies of all stored versions, oldest first. */
function storedBodies(collection: Collection, url: string): string[] {
  const visits = collection.visits(url).filter(visit => visit.segment !== null);
  return collection.look(ledger => {
    const copies = openCopiesHere(ledger);
    const bodies = visits.map(visit => Buffer.from(copies.of(visit)!.decoded().bytes).toString());
    copies.close();
    return bodies;
  });
}

const outcomes = (collection: Collection, url: string): string[] =>
  collection.visits(url).map(visit => `${visit.outcome} ${visit.reason}`);

test('404 is looked at again after 1, 3 and 9 days, then seldom; a page that comes back goes on with its history', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/page.html`;
  pages.set('/page.html', { body: html('Page', [prose(2)]), tagged: true });
  await begin(collection, pages);
  await dayLater(collection);
  const history = historyOf(unpackState(knownOf(collection, url).change!));
  pages.set('/page.html', { status: 404, body: 'gone' });
  const waits: number[] = [];
  for (const days of [1, 1, 3, 9]) {
    await dayLater(collection, days + 0.1);
    const known = knownOf(collection, url);
    assert.equal(known.outcome, 'gone');
    waits.push(Math.round((known.due! - known.time) / DAY));
  }
  assert.deepEqual(waits, [1, 3, 9, 90]);
  assert.equal(historyOf(unpackState(knownOf(collection, url).change!)), history);
  assert.equal(storedBodies(collection, url).length, 1);
  pages.set('/page.html', { body: html('Page', [prose(3)]), tagged: true });
  await dayLater(collection, 91);
  assert.equal(knownOf(collection, url).outcome, 'fetched');
  const kinds = collection.look(ledger =>
    changesIn(ledger, { since: 0, pattern: 'page.html', limit: 10, first: true }).map(change => change.kind),
  );
  assert.deepEqual(kinds, ['back', 'gone', 'new']);
});

test('what failed in one round is tried again by a later one, stored before or not, also where robots.txt failed', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const quiet = Array.from({ length: 12 }, (_, i) => `/quiet-${i}.html`);
  for (const path of quiet) pages.set(path, { body: html(path, [prose(9)]), tagged: true });
  const front = (...more: string[]) => ({ body: html('Front', [prose(1)], [...quiet, ...more]), tagged: true });
  pages.set('/', front());
  await collection.crawl([`${pages.origin}/`]);
  pages.set('/', front('/new.html'));
  pages.set('/new.html', { status: 500, body: 'down' });
  const found = (path: string) => outcomes(collection, `${pages.origin}${path}`);
  for (let round = 0; round < 5 && found('/new.html').length === 0; round++) await dayLater(collection);
  assert.deepEqual(found('/new.html'), ['failed http-5xx']);
  pages.set('/new.html', { body: html('New', [prose(4)]), tagged: true });
  await dayLater(collection);
  assert.deepEqual(found('/new.html'), ['failed http-5xx', 'fetched ok']);

  pages.set('/robots.txt', { status: 503, body: 'busy' });
  await dayLater(collection, 2);
  assert.equal(found('/').at(-1), 'refused robots-unreachable');
  pages.set('/robots.txt', { status: 404, body: 'none' });
  for (let round = 0; round < 5; round++) await dayLater(collection, 2);
  for (const path of ['/', ...quiet]) assert.match(found(path).at(-1)!, /^same /, path);
});

test('410 is believed at once', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  pages.set('/page.html', { body: html('Page', [prose(2)]) });
  await begin(collection, pages);
  pages.set('/page.html', { status: 410 });
  await dayLater(collection);
  const known = knownOf(collection, `${pages.origin}/page.html`);
  assert.equal(known.reason, 'http-410');
  assert.equal(Math.round((known.due! - known.time) / DAY), 90);
});

test('a page that moves is an alias from then on, and moving is no change of content', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/page.html`;
  pages.set('/page.html', { body: html('Page', [prose(2)]) });
  await begin(collection, pages);
  pages.set('/page.html', { status: 301, headers: { location: '/new.html' } });
  pages.set('/new.html', { body: html('Page', [prose(2)]) });
  await dayLater(collection);
  assert.deepEqual(outcomes(collection, url), ['fetched ok', 'moved redirect']);
  assert.equal(unpackState(knownOf(collection, url).change!).changes, 0);
  const target = collection.look(ledger => ledger.pages.get(knownOf(collection, url).moved_to!));
  assert.equal(target?.url, `${pages.origin}/new.html`);
  assert.equal(knownOf(collection, `${pages.origin}/new.html`).outcome, 'fetched');
});

test('a page that alternates between two versions: each visit stores, or refers to, what was served', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/page.html`;
  const versions = [html('Page', [prose(2)]), html('Page', [prose(5), 'another ending'])];
  let served = 0;
  pages.set('/page.html', () => ({ body: versions[served++ % 2]! }));
  await begin(collection, pages);
  for (let day = 0; day < 4; day++) await dayLater(collection);
  const bodies = storedBodies(collection, url);
  assert.deepEqual(
    bodies,
    bodies.map((_, i) => versions[i % 2]),
  );
  assert.equal(bodies.length, served);
  const known = knownOf(collection, url);
  assert.ok(known.due! > known.time);
  const report = await collectionReport(collection);
  assert.deepEqual(report.problems, []);
});

async function collectionReport(collection: Collection): ReturnType<typeof verifyCollection> {
  const { openLedger } = await import('../../src/engine/open-ledger.ts');
  const ledger = openLedger(collection.directory);
  try {
    return await verifyCollection(ledger);
  } finally {
    ledger.close();
  }
}

test('a page that becomes huge is cut at the limit, and says so', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/page.html`;
  pages.set('/page.html', { body: html('Page', [prose(2)]) });
  await begin(collection, pages);
  pages.set('/page.html', {
    body: html(
      'Page',
      Array.from({ length: 20_000 }, (_, i) => prose(i)),
    ),
  });
  collection.pass(1);
  const summary = await collection.refresh({ budget: '100%', bodyLimit: '200kB' });
  const known = knownOf(collection, url);
  assert.equal(known.outcome, 'fetched');
  assert.equal(known.flags & 8, 8);
  assert.ok(known.bytes! <= 200_000);
  assert.ok(summary.bytes < 1_000_000, `${summary.bytes} bytes`);
});

test('a page that becomes empty has changed, once', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const url = `${pages.origin}/page.html`;
  pages.set('/page.html', { body: html('Page', [prose(2)]) });
  await begin(collection, pages);
  pages.set('/page.html', { body: '' });
  await dayLater(collection);
  await dayLater(collection);
  assert.deepEqual(outcomes(collection, url), ['fetched ok', 'fetched ok', 'same unchanged']);
  assert.deepEqual(storedBodies(collection, url), [html('Page', [prose(2)]), '']);
});

test('a 304 leaves links, title, copy and account as they should be', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const urls = ['/page.html', '/a.html', '/b.html', '/c.html'].map(path => pages.origin + path);
  for (const [i, url] of urls.entries()) {
    pages.set(new URL(url).pathname, { body: html('Page', [prose(2 + i)], ['/', ...urls]), tagged: true });
  }
  await begin(collection, pages);
  const look = (url: string) => {
    const known = knownOf(collection, url);
    return { known, links: collection.look(ledger => ledger.links.out(known.page)) };
  };
  const before = new Map(urls.map(url => [url, look(url)]));
  // A server that has been right so often is audited once in five hundred times: never at all of these.
  const ledger = new Ledger(collection.directory, 'write');
  ledger['database'].exec('UPDATE servers SET audits = 1e9');
  ledger.close();
  await dayLater(collection);
  const url = urls.find(each => collection.visits(each).at(-1)?.cause === 'not-modified')!;
  const [{ known, links }, after] = [before.get(url)!, look(url)];
  assert.equal(after.known.reason, 'not-modified');
  assert.deepEqual(after.links, links);
  for (const name of ['title', 'etag', 'segment', 'place', 'facts', 'bytes', 'wire', 'media_type'] as const)
    assert.deepEqual(after.known[name], known[name], name);
  const row = collection.look(ledger => ledger.servers.account.rows().find(each => each.cause === 'not-modified'));
  assert.ok(row && row.avoided > 0 && row.spent > 0);
});

test('a budget of bytes is used and hardly exceeded, though every page costs more than was foreseen', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const paths = Array.from({ length: 80 }, (_, i) => `/${i}.html`);
  pages.set('/', { body: html('Start', [prose(1)], paths) });
  const furnish = (words: number) => {
    for (const [i, path] of paths.entries()) pages.set(path, { body: html(path, [prose(i, words)]) });
  };
  furnish(40);
  await collection.crawl([`${pages.origin}/`]);
  furnish(700);
  collection.pass(1);
  const { bytes } = await collection.refresh({ budget: '150kB' });
  assert.ok(bytes > 140_000 && bytes < 160_000, `${bytes} bytes of 150,000`);
});

test('a page that became the server’s not-found page is gone, though its title does not say so', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const sorry = { body: html('Welcome', ['Have a look around.']) };
  pages.set('/page.html', { body: html('Page', [prose(2), prose(3)]) });
  await begin(collection, pages);
  pages.otherwise(sorry);
  pages.set('/page.html', sorry);
  await dayLater(collection);
  const { outcome, reason } = collection.visits(`${pages.origin}/page.html`).at(-1)!;
  assert.deepEqual({ outcome, reason }, { outcome: 'gone', reason: 'soft-404' });
});

test('a page that every menu drops is noticed by a tenth of the pages a day, with nothing but links to tell of it', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const names = Array.from({ length: 23 }, (_, i) => `/p/${i}.html`);
  const removed = '/p/17.html';
  const put = (menu: string[]) => {
    for (const [i, name] of ['/', ...menu].entries())
      pages.set(name, { body: html(name, [prose(5 + i)], menu), tagged: true });
  };
  put(names);
  await collection.crawl([`${pages.origin}/`]);
  put(names.filter(name => name !== removed));
  pages.set(removed, { status: 404, body: 'gone' });
  for (const _ of [1, 2]) {
    collection.pass(1);
    await collection.refresh({ budget: '10%' });
  }
  assert.equal(knownOf(collection, `${pages.origin}${removed}`).outcome, 'gone');
});

test('a round says how many pages went, moved and came back, and no outcome that was taken back', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const names = Array.from({ length: 12 }, (_, n) => `/page-${n}.html`);
  const show = (news: string) =>
    names.forEach((path, n) => {
      pages.set(path, { body: html(`Page ${n}`, [prose(n + 2), news]) });
    });
  show('The news of today.');
  pages.set('/', { body: html('Front', [prose(1)], names) });
  await collection.crawl([`${pages.origin}/`]);
  show('The news of the day after.'); // the same edit everywhere: no page's own news
  pages.set(names[0]!, { status: 404, body: 'gone' });
  pages.set(names[1]!, { status: 301, headers: { location: names[2]! } });
  collection.pass(1);
  const { changed, newlyGone, newlyMoved, back, reasons } = await collection.refresh({ budget: '100%' });
  assert.deepEqual({ changed, newlyGone, newlyMoved, back }, { changed: 0, newlyGone: 1, newlyMoved: 1, back: 0 });
  for (const [reason, count] of Object.entries(reasons)) assert.ok(count > 0, reason);
  pages.set(names[0]!, { body: html('Page 0', [prose(2)]) });
  collection.pass(2);
  const later = await collection.refresh({ budget: '100%' });
  assert.equal(later.newlyGone, 0);
  assert.equal(later.back, 1);
});
