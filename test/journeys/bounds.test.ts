/** The bounds of a crawl move: what they refused comes in, what they now leave out stays out, and nothing is lost. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, test } from 'node:test';
import { rememberMostPages } from '../../src/engine/bounds.ts';
import { readCollection } from '../../src/ledger/collection/collection.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { openWeb, type Web } from '../web/web.ts';
import { makeCollection } from './collection.ts';
import { collected, crawlHere, fast, pagesOf, skeinJson, workplace } from './skein.ts';

const options = { seed: 8, servers: 2, pagesPerServer: 60, links: 2 };

/** Requests for pages, without robots.txt. */
const asked = (web: Web) => web.log.filter(({ url }) => !url.endsWith('/robots.txt')).map(({ url }) => url);

describe('a later crawl', () => {
  test('with a wider scope takes in what was outside, and asks for nothing twice', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    await crawlHere({ data: place.path, scope: '!/p/2*' }, web.seeds);
    const first = collected(await pagesOf(place.path));
    assert.ok(first.length > 10 && first.length < web.mustFind().length);
    await crawlHere({ data: place.path, scope: '*' }, []);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
    assert.equal(new Set(asked(web)).size, asked(web).length);
  });

  test('with a seed on another host takes in what was outside before', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    await crawlHere({ data: place.path }, web.seeds);
    await crawlHere({ data: place.path }, [`${web.origins[1]}/`]);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  });

  test('with a narrower scope leaves out what waits there, and a wider one takes it in again', async () => {
    await using web = await openWeb({ ...options, servers: 1 });
    using place = workplace();
    await crawlHere({ data: place.path, maxPages: 10 }, web.seeds);
    const before = web.log.length;
    await crawlHere({ data: place.path, scope: '!/p/*' }, []);
    assert.deepEqual(
      web.log.slice(before).filter(({ url }) => url.includes('/p/')),
      [],
    );
    const left = [...(await pagesOf(place.path)).values()].filter(({ outcome }) => outcome === 'refused');
    assert.ok(left.length > 0);
    for (const { url, reason } of left) assert.equal(reason, 'out-of-scope', url);
    await crawlHere({ data: place.path, scope: '*' }, []);
    assert.deepEqual(collected(await pagesOf(place.path)), web.mustFind());
  });

  test('without bounds of its own goes on with those of the last', async () => {
    await using web = await openWeb(options);
    using place = workplace();
    const words = ['crawl', '--data', place.path, ...fast];
    await skeinJson(...words, ...web.seeds, '--scope', '!/p/2*', '--depth', '3', '--max-pages', '9');
    await skeinJson(...words);
    const resumed = await pagesOf(place.path);
    using other = workplace();
    await crawlHere({ data: other.path, scope: '!/p/2*', depth: 3 }, web.seeds);
    assert.deepEqual(collected(resumed), collected(await pagesOf(other.path)));
  });

  test('with another cap of pages a server holds to it, up and down', async () => {
    await using web = await openWeb({ ...options, servers: 1, features: ['sitemaps'] });
    using place = workplace();
    // Sitemaps are no pages.
    const pages = async () => collected(await pagesOf(place.path)).filter(url => !/\/sitemap[^/]*$/.test(url));
    await crawlHere({ data: place.path, perServer: 20 }, web.seeds);
    assert.equal((await pages()).length, 20);
    await crawlHere({ data: place.path, perServer: 40, maxPages: 5 }, []);
    await crawlHere({ data: place.path, perServer: 30 }, []);
    assert.equal((await pages()).length, 30);
    await crawlHere({ data: place.path, perServer: 1000 }, []);
    assert.deepEqual(await pages(), web.mustFind());
  });

  test('finds out that robots.txt allows what it forbade', async () => {
    using collection = makeCollection();
    let rules = 'User-agent: *\nDisallow: /b';
    const links = ['a', 'b1', 'b2', 'b3'].map(name => `<a href="/${name}">${name}</a>`).join(' ');
    await using site = await serve(path => (path === '/robots.txt' ? rules : links));
    const paths = async () => collected(await pagesOf(collection.directory)).map(url => new URL(url).pathname);
    await collection.crawl([`${site.origin}/`]);
    assert.deepEqual(await paths(), ['/', '/a']);
    const before = site.requests();
    await collection.crawl([]);
    assert.equal(site.requests(), before, 'a fresh copy of the rules is not doubted');
    rules = '';
    collection.pass(1.1);
    await collection.crawl([]);
    assert.deepEqual(await paths(), ['/', '/a', '/b1', '/b2', '/b3']);
  });
});

/** A server that answers every path with what `body` makes of it. */
async function serve(body: (path: string, origin: string) => string) {
  let requests = 0;
  const server = createServer((request, response) => {
    requests++;
    const type = request.url === '/robots.txt' ? 'text/plain' : 'text/html';
    response.writeHead(200, { 'content-type': type }).end(body(request.url!, `http://${request.headers.host}`));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

test('a trap is noticed as early when the crawl was stopped in it', async () => {
  const text = 'There is nothing to see in this room but a door to the next and one to the room behind it. '.repeat(9);
  const door = (room: number) => `<a href="/room/${room}">a door</a>`;
  await using site = await serve(path => {
    const room = Number(path.split('/')[2] ?? 0);
    return path === '/robots.txt' ? '' : `<title>A room</title><p>${text}${door(room + 1)} ${door(room + 2)}`;
  });
  const counts = [];
  for (const stops of [[], [20], [7, 31]]) {
    using place = workplace();
    for (const maxPages of [...stops, 10_000]) {
      // One page at a time: where a trap is noticed depends on what is under way.
      await crawlHere({ data: place.path, maxPages, threads: 1 }, [`${site.origin}/room/1`]);
    }
    const pages = await pagesOf(place.path);
    assert.ok([...pages.values()].some(({ reason }) => reason === 'near-identical'));
    counts.push(collected(pages).length);
  }
  // Which of the pages were under way just then differs.
  assert.ok(Math.min(...counts) >= 50 && Math.max(...counts) <= 53, `${counts} pages`);
});

test('a shop whose filters go together without end is left, with all that waits there', async () => {
  const names = ['brand', 'colour', 'fit', 'price', 'size', 'sort', 'store'];
  const wares = 'We have boots, bags, hats and coats for everybody who likes to walk, and maps of the hills. '.repeat(
    5,
  );
  await using site = await serve(path => {
    const filter = (name: string, value: number) => `<a href="${path}&amp;${name}=${value}">${name}</a>`;
    const more = names.map((name, i) => filter(name, (path.length * 7 + i) % 10)).join(' ');
    return path === '/robots.txt' ? '' : `<title>Shop</title><p>${wares} Offer ${path.length}: ${more}`;
  });
  using place = workplace();
  await crawlHere({ data: place.path, maxPages: 10_000 }, [`${site.origin}/shop?page=1`]);
  assert.ok(site.requests() < 4000, `${site.requests()} requests`);
  const { waiting } = await skeinJson('status', '--data', place.path);
  assert.equal(waiting, 0);
});

test('the limit of pages counts neither sitemaps nor robots.txt', async () => {
  await using web = await openWeb({ features: ['sitemaps'], pagesPerServer: 30 });
  using place = workplace();
  const files = (url: string) => /robots\.txt|sitemap/.test(url);
  let total = 0;
  for (const maxPages of [4, 9]) {
    const { pages } = await crawlHere({ data: place.path, maxPages, connections: 2 }, web.seeds);
    assert.equal(pages, maxPages);
    total += maxPages;
    assert.equal(web.log.filter(({ url }) => !files(url)).length, total);
  }
  assert.ok(web.log.some(({ url }) => url.includes('sitemap')));
});

test('an index of sitemaps is no level, and indexes in indexes without end come to one', async () => {
  const index = (url: string) => `<sitemapindex><sitemap><loc>${url}</loc></sitemap></sitemapindex>`;
  await using site = await serve((path, origin) => {
    if (path === '/robots.txt') return `Sitemap: ${origin}/index.xml\nSitemap: ${origin}/endless/0.xml`;
    if (path === '/index.xml') return index(`${origin}/pages.xml`);
    if (path === '/pages.xml') return `<urlset><url><loc>${origin}/a</loc></url></urlset>`;
    const endless = /endless.(\d+)/.exec(path);
    if (!endless) return path === '/a' ? '<a href="/b">b</a>' : 'nothing';
    return index(`${origin}/endless/${Number(endless[1]) + 1}.xml`);
  });
  using place = workplace();
  await crawlHere({ data: place.path, depth: 1 }, [`${site.origin}/`]);
  const pages = await pagesOf(place.path);
  const deep = (path: string) => {
    const { outcome, reason, depth } = pages.get(`${site.origin}${path}`) ?? {};
    return [outcome, reason, depth];
  };
  assert.deepEqual(deep('/pages.xml'), ['fetched', 'ok', 0]);
  assert.deepEqual(deep('/a'), ['fetched', 'ok', 1]);
  assert.deepEqual(deep('/b').slice(1), ['too-deep', 2]);
  assert.deepEqual([deep('/endless/10.xml')[0], deep('/endless/11.xml')[1]], ['fetched', 'too-deep']);
  assert.equal(pages.has(`${site.origin}/endless/12.xml`), false);
});

/** As a crawl without --max-pages does that is stopped before it asks for anything. */
function liftMostPages(data: string): void {
  for (const { directory } of readCollection(data).here) {
    const ledger = new Ledger(directory, 'write');
    ledger.begin();
    rememberMostPages(ledger.settings, undefined);
    ledger.close();
  }
}

test('refresh keeps new pages inside its budget, and leaves half of it to what is due', async () => {
  using collection = makeCollection();
  await using web = await openWeb({ seed: 5, pagesPerServer: 80, clock: collection.clock, rates: [1] });
  await collection.crawl(web.seeds, { maxPages: 20 });
  collection.pass(0.9);
  await collection.refresh({ budget: '10' });
  assert.equal(collected(await pagesOf(collection.directory)).length, 20, 'a crawl of 20 pages stays one');
  liftMostPages(collection.directory);
  let total = 20;
  for (let round = 0; round < 3; round++) {
    collection.pass(0.9); // a round has a day's budget, however soon it follows the last
    const before = web.log.length;
    const { waiting } = await collection.refresh({ budget: '10' });
    // A page may be asked for twice: once with its validators, once to check what they say. And once a server is asked
    // for a path that cannot exist, to know its not-found page.
    const asked = web.log.slice(before).map(({ url }) => url);
    const urls = new Set(asked.filter(url => !url.includes('no-such-page')));
    urls.delete(`${web.origins[0]}/robots.txt`);
    assert.ok(urls.size <= 10, [...urls].join('\n'));
    const known = collected(await pagesOf(collection.directory)).length;
    assert.equal(known - total, 5, 'half of them are new');
    total = known;
    assert.ok(waiting > 0);
  }
});
