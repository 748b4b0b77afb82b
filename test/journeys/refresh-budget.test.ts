/** What a budget pays for: live pages. Dead links, second addresses and what nobody links to any more have rules of their own. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schedule } from '../../src/frontier/schedule/schedule.ts';
import { changesIn } from '../../src/home/answers/changes.ts';
import { findPage } from '../../src/home/answers/lookup.ts';
import { whyOf } from '../../src/home/answers/why.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { type Collection, makeCollection } from './collection.ts';
import { html, openPages, type Pages, prose } from './pages.ts';

const numbered = (count: number, name: string) => Array.from({ length: count }, (_, n) => `/${name}-${n}.html`);

/** A front page with links to these, all of which exist. */
function fill(pages: Pages, paths: readonly string[], dead: readonly string[] = []): void {
  pages.set('/', { body: html('Front', [prose(1)], [...paths, ...dead]), tagged: true });
  for (const [n, path] of paths.entries())
    pages.set(path, { body: html(`Page ${n}`, [`${prose(n)} ${n}`]), tagged: true });
}

const why = (collection: Collection, url: string) =>
  collection.look(ledger => whyOf(ledger, findPage(ledger, url), collection.clock.now()));

test('a share is one of live pages, however many links are dead', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const dead = numbered(160, 'dead');
  fill(pages, numbered(99, 'live'), dead);
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  pages.asked.length = 0;
  const summary = await collection.refresh({ budget: '20%' });
  const asked = new Set(pages.asked);
  const gone = dead.filter(path => asked.has(path)).length;
  assert.ok(Math.abs(asked.size - gone - 20) <= 1, `${asked.size - gone} of 100 pages were asked for`);
  assert.ok(gone <= 1, `${gone} dead links were asked for`);
  assert.equal(summary.aside, gone);
  pages.asked.length = 0;
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  assert.ok(new Set(pages.asked).size <= 107, `${new Set(pages.asked).size} were asked for, of 100 pages`);
});

test('the same bytes under several queries are one page with second addresses', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const twins = Array.from({ length: 40 }, (_, n) => `/article.html?from=${n}`);
  fill(pages, numbered(20, 'page'), ['/article.html', ...twins]);
  let text = 'first';
  for (const path of ['/article.html', ...twins])
    pages.set(path, () => ({ body: html('Article', [prose(500), text]), tagged: true }));
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  pages.asked.length = 0;
  await collection.refresh({ budget: '100%' });
  const looked = () => pages.asked.filter(path => path.includes('?')).length;
  assert.ok(looked() <= 2, `${looked()} of 40 second addresses were asked for`);
  assert.match(why(collection, `${pages.origin}/article.html?from=39`).state, /the same bytes as/);
  text = 'second';
  pages.asked.length = 0;
  for (let round = 0; round < 2; round++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  const changed = collection.look(ledger => changesIn(ledger, { limit: 100, since: 0 }));
  assert.ok(changed.some(({ url }) => !url.includes('?')));
  assert.ok(looked() > 0, 'when the page changed, its second addresses come next');
});

test('a page to which nothing leads any more is looked at soon', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const paths = numbered(100, 'page');
  fill(pages, paths);
  await collection.crawl([`${pages.origin}/`]);
  const lost = paths.slice(50, 53);
  const left = paths.filter(path => !lost.includes(path));
  pages.set('/', { body: html('Front', [prose(1)], left), tagged: true });
  for (const path of lost) pages.set(path, { status: 404, body: 'gone' });
  collection.pass(1);
  // Somebody tells that the front page has changed, so that it is read.
  const ledger = new Ledger(collection.directory, 'write');
  ledger.begin();
  const front = findPage(ledger, `${pages.origin}/`).page.id;
  for (let notice = 0; notice < 20; notice++) new Schedule(ledger).ping(front, collection.clock.now());
  ledger.commit();
  ledger.close();
  pages.asked.length = 0;
  for (let round = 0; round < 2; round++) {
    await collection.refresh({ budget: '5%' });
    collection.pass(1);
  }
  for (const path of lost) assert.ok(pages.asked.includes(path), `${path} was not looked at in the next round`);
});

test('a page that the sitemap drops is looked at soon', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const paths = numbered(100, 'page');
  fill(pages, paths);
  const sitemap = (list: readonly string[]) => ({
    headers: { 'content-type': 'application/xml' },
    body: `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${list
      .map(path => `<url><loc>${pages.origin}${path}</loc></url>`)
      .join('')}</urlset>`,
  });
  pages.set('/robots.txt', { headers: { 'content-type': 'text/plain' }, body: `Sitemap: ${pages.origin}/sitemap.xml` });
  pages.set('/sitemap.xml', sitemap(paths));
  await collection.crawl([`${pages.origin}/`]);
  collection.pass(1);
  await collection.refresh({ budget: '5%' });
  const lost = paths.slice(50, 53);
  for (const path of lost) pages.set(path, { status: 404, body: 'gone' });
  pages.set('/sitemap.xml', sitemap(paths.filter(path => !lost.includes(path))));
  pages.asked.length = 0;
  collection.pass(1);
  await collection.refresh({ budget: '5%' });
  for (const path of lost) assert.ok(pages.asked.includes(path), `${path} was not looked at in the next round`);
});

test('a refresh stays within the pages that the crawl asked for, and tells new pages apart', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  fill(pages, numbered(200, 'page'));
  await collection.crawl([`${pages.origin}/`], { maxPages: 20 });
  collection.pass(1);
  pages.asked.length = 0;
  const bounded = await collection.refresh({ budget: '100%' });
  assert.equal(bounded.new, 0);
  assert.equal(bounded.full, true, 'the others wait for a crawl');
  assert.ok(new Set(pages.asked).size <= 20, `${new Set(pages.asked).size} pages were asked for`);
  await collection.crawl([`${pages.origin}/`], { maxPages: 40 });
  fill(pages, numbered(200, 'page'), ['/more.html']);
  pages.set('/page-3.html', { body: html('Page 3', ['another text']), tagged: true });
  collection.pass(1);
  const summary = await collection.refresh({ budget: '100%' });
  const since = collection.clock.now() - 3_600_000;
  const listed = collection.look(ledger => changesIn(ledger, { since, limit: 1000 }));
  assert.equal(summary.changed, listed.filter(({ kind }) => kind === 'changed').length);
  assert.equal(summary.changed, 2, 'the front page and page 3');
});

test('why names the rule that decided', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  fill(pages, numbered(30, 'page'), ['/dead.html']);
  await collection.crawl([`${pages.origin}/`]);
  const dead = why(collection, `${pages.origin}/dead.html`);
  assert.equal(dead.rule, 'gone');
  assert.equal(dead.explanation, undefined, 'a fixed rule does not argue with freshness');
  for (let day = 0; day < 3; day++) {
    collection.pass(1);
    await collection.refresh({ budget: '100%' });
  }
  const daily = why(collection, `${pages.origin}/page-3.html`);
  assert.equal(daily.rule, 'budget');
  assert.doesNotMatch(daily.state, /not due for/);
  assert.match(daily.state, /budget/);
});
