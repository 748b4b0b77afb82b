/** Search over a collection that grows, changes and shrinks: what is found is what the newest copies say. */

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { bringUp, freshIndex, searchFile } from '../../src/home/indexing/indexing.ts';
import { openSource } from '../../src/home/indexing/search-source.ts';
import { openSearch } from '../../src/search/index.ts';
import { put } from '../search/documents.ts';
import { openWeb } from '../web/web.ts';
import { makeCollection } from './collection.ts';
import { html, openPages, type Pages } from './pages.ts';
import { fast, skein, skeinJson, start, workplace } from './skein.ts';

const quiet = () => {};

/** Paths of the pages that a query finds, in the order of the alphabet. */
async function find(data: string, query: string): Promise<string[]> {
  const { search } = await freshIndex(data, quiet);
  try {
    return search
      .query(query, { limit: 100 })
      .hits.map(({ url }) => new URL(url).pathname)
      .sort();
  } finally {
    search.close();
  }
}

/** All that an index holds but the order in which it came. */
function contentsOf(data: string): Record<string, unknown[]> {
  const database = new DatabaseSync(searchFile(data));
  database.exec(`CREATE VIRTUAL TABLE temp.words USING fts5vocab('main', 'terms0', 'instance')`);
  const all = (sql: string) => database.prepare(sql).all();
  const contents = {
    words: all('SELECT doc, col, term, count(*) AS n FROM temp.words GROUP BY doc, col, term ORDER BY doc, col, term'),
    pages: all('SELECT id, url, title, language, media_type, changed, content FROM pages ORDER BY id'),
    texts: all('SELECT id, packed, hex(body) AS body, headings FROM texts ORDER BY id'),
    aliases: all('SELECT * FROM aliases ORDER BY page'),
  };
  database.close();
  return contents;
}

/** The index as it is, and made again: there must be no difference. */
async function equalsRebuilt(data: string): Promise<number> {
  (await freshIndex(data, quiet)).search.close();
  const grown = contentsOf(data);
  const search = openSearch(searchFile(data));
  search.updates.rebuild();
  await bringUp(data, search, quiet);
  search.close();
  assert.deepEqual(contentsOf(data), grown);
  return grown['pages']!.length;
}

function settle(pages: Pages): void {
  const links = ['/heron', '/goose', '/secret', '/unkept', '/old', '/twin', '/lost', '/plain.txt'];
  pages.set('/', { body: html('Birds', ['The birds of the marsh.'], links) });
  pages.set('/heron', { body: html('The grey heron', ['It stands and waits.'], ['/']) });
  pages.set('/goose', {
    body: '<html lang="en"><title>Geese</title><h2>Long <b>journeys</b></h2><p>They fly.<a href="/heron">fisherman</a>',
  });
  pages.set('/secret', { body: '<meta name="robots" content="noindex"><title>Secret</title><p>hidden nest' });
  pages.set('/unkept', { body: '<p>fleeting feather', headers: { 'x-robots-tag': 'noarchive' } });
  pages.set('/old', { status: 301, headers: { location: '/new' } });
  pages.set('/new', { body: html('Moved', ['A new nesting place.']) });
  const same = `The same words here and there. ${'Reeds and water, water and reeds. '.repeat(4)}`;
  pages.set('/twin', { body: html('Twin', [same], ['/copy']) });
  pages.set('/copy', { body: html('Twin', [same], ['/copy']) });
  pages.set('/lost', { body: html('Lost', ['An egg that will not stay.']) });
  pages.set('/plain.txt', { body: 'kingfisher', headers: { 'content-type': 'text/plain' } });
}

test('what was crawled is found by text, heading, link and type; what must not be is not', async () => {
  await using pages = await openPages();
  settle(pages);
  using collection = makeCollection();
  const { directory } = collection;
  await collection.crawl([`${pages.origin}/`]);
  assert.deepEqual(await find(directory, 'marsh'), ['/']);
  assert.deepEqual(await find(directory, 'journey'), ['/goose']);
  assert.deepEqual(await find(directory, 'title:heron'), ['/heron']);
  assert.ok((await find(directory, 'fisherman waits')).includes('/heron'), 'by the text of a link and its own');
  assert.ok((await find(directory, 'old nesting')).includes('/new'), 'by the text of a link to its alias');
  assert.deepEqual(await find(directory, 'type:text kingfisher'), ['/plain.txt']);
  assert.deepEqual(await find(directory, 'hidden OR secret OR fleeting OR feather'), ['/']); // as texts of links
  assert.equal((await find(directory, 'reeds water')).length, 1, 'of two pages that say the same one is shown');

  pages.set('/heron', { body: html('The grey heron', ['It swallows a perch.'], ['/']) });
  pages.set('/lost', { status: 404, body: 'gone' });
  pages.set('/goose', { status: 301, headers: { location: '/heron' } });
  pages.set('/new', { body: html('Moved', ['A new nesting place.']), headers: { 'x-robots-tag': 'noindex' } });
  pages.set('/secret', { body: '<title>Secret</title><p>hidden nest' });
  for (let day = 0; day < 3; day++) {
    collection.pass(40);
    await collection.refresh({ budget: '100%' });
  }
  assert.deepEqual(await find(directory, 'swallows'), ['/heron']);
  assert.deepEqual(await find(directory, 'waits'), []);
  assert.deepEqual(await find(directory, 'egg'), [], 'gone');
  assert.deepEqual(await find(directory, 'journey'), [], 'moved');
  assert.deepEqual(await find(directory, '"nesting place"'), [], 'says noindex now, and is otherwise as it was');
  assert.deepEqual(await find(directory, 'hidden'), ['/secret'], 'no longer says noindex');
  assert.ok((await equalsRebuilt(directory)) >= 6);
});

test('pages of a site whose robots.txt fails for a while are still found; those that it forbids are not', async () => {
  await using pages = await openPages();
  pages.set('/', { body: html('Start', ['a curlew'], ['/heron']) });
  pages.set('/heron', { body: html('Heron', ['a perch']) });
  using collection = makeCollection();
  const { directory } = collection;
  await collection.crawl([`${pages.origin}/`]);
  assert.deepEqual(await find(directory, 'perch'), ['/heron']);

  const refreshed = async (robots: Parameters<typeof pages.set>[1]) => {
    pages.set('/robots.txt', robots);
    for (let round = 0; round < 3; round++) {
      collection.pass(40);
      await collection.refresh({ budget: '100%' });
    }
    return find(directory, 'curlew OR perch');
  };
  assert.equal((await refreshed({ status: 503, body: 'busy' })).length, 2);
  assert.equal(await equalsRebuilt(directory), 2);
  assert.deepEqual(await refreshed({ body: 'User-agent: *\nDisallow: /heron\n' }), ['/']);
  assert.equal(await equalsRebuilt(directory), 1);
});

test('a page that changed or went is read before the new ones that wait, and only once', async () => {
  await using pages = await openPages();
  const paths = Array.from({ length: 30 }, (_, index) => `/new-${index}`);
  pages.set('/', { body: html('Start', ['a curlew'], ['/lost', ...paths]) });
  pages.set('/lost', { body: html('Lost', ['an egg'], paths) });
  for (const path of paths) pages.set(path, { body: html(path, ['one of many']) });
  using collection = makeCollection();
  const { directory } = collection;
  await collection.crawl([`${pages.origin}/`], { maxPages: 2 });
  assert.deepEqual(await find(directory, 'curlew OR egg'), ['/', '/lost']);
  await collection.crawl([], { maxPages: 100 });
  collection.pass(40);
  pages.set('/', { body: html('Start', ['a whimbrel instead'], ['/lost', ...paths]) });
  pages.set('/lost', { status: 404, body: 'gone' });
  await collection.refresh({ budget: '100%' });

  const search = openSearch(searchFile(directory));
  const source = openSource(directory, search);
  const read: string[] = [];
  const speaking: number[] = [];
  for (let steps = 0; steps < 30; steps++) {
    const from = search.updates.cursor();
    const step = source.since(from, 4);
    if (step.cursor === from) break;
    read.push(...step.changed.map(({ url }) => new URL(url).pathname));
    speaking.push(...step.said!.map(each => each.source));
    search.updates.apply({ ...step, from });
    if (steps === 0) assert.deepEqual([search.query('whimbrel').total, search.query('egg').total], [1, 0]);
  }
  assert.deepEqual([read[0], [...read].sort()], ['/', ['/', ...paths].sort()]);
  const start = search.query('whimbrel').hits[0]!.page;
  assert.equal(speaking.filter(page => page === start).length, 1, 'what its links say is read once, too');
  source.close?.();
  search.close();
  assert.equal(await equalsRebuilt(directory), 31);
});

test('a batch is full when it has much text, however few pages, and nothing is left out', async () => {
  await using pages = await openPages();
  const paths = ['/long-1', '/long-2', '/long-3', '/long-4'];
  pages.set('/', { body: html('Start', ['a curlew'], paths) });
  const words = 'reeds and water, '.repeat(130_000);
  for (const path of paths) pages.set(path, { body: html(path, [words]) });
  using collection = makeCollection();
  await collection.crawl([`${pages.origin}/`]);
  const search = openSearch(searchFile(collection.directory));
  const source = openSource(collection.directory, search);
  const sizes: number[] = [];
  for (let from = search.updates.cursor(); sizes.length < 20; from = search.updates.cursor()) {
    const step = source.since(from, 100);
    if (step.cursor === from) break;
    search.updates.apply({ ...step, from });
    sizes.push(step.changed.length);
  }
  assert.ok(Math.max(...sizes) < 4, `pages of each batch: ${sizes}`);
  assert.equal(search.query('reeds OR curlew', { unfold: true }).total, 5);
  source.close?.();
  search.close();
});

test('a ledger that is another than before is read from its beginning', async () => {
  await using pages = await openPages();
  settle(pages);
  using collection = makeCollection();
  const { directory } = collection;
  await collection.crawl([`${pages.origin}/`]);
  assert.deepEqual(await find(directory, 'egg'), ['/lost']);
  const search = openSearch(searchFile(directory));
  put(search, [{ ...strayed, page: 900 }]);
  search.updates.apply({ changed: [], gone: [], cursor: 'visits:0:5:1' });
  search.close();
  assert.deepEqual(await find(directory, '"stray"'), []);
  assert.deepEqual(await find(directory, 'egg'), ['/lost']);
});

const strayed = {
  ...{ url: 'http://a.test/', title: '', headings: '', anchors: '', text: 'stray', language: 'en' },
  ...{ mediaType: 'text/html', fetched: 0, changed: 0, importance: 0, noindex: false, noarchive: false },
};

test('kill -9 of a crawl and its feeder: the index goes on, and ends as one made anew', async () => {
  await using web = await openWeb({
    ...{ seed: 5, servers: 2, pagesPerServer: 120 },
    features: ['redirects', 'directives', 'duplicates'],
  });
  using place = workplace();
  const crawl = ['crawl', ...web.seeds, '--data', place.path, ...fast, '--scope', '*'];
  let before = 0;
  for (let kill = 0; kill < 2; kill++) {
    const running = start([...crawl, '--pace', '0.1']); // slow enough to be fed while it runs
    const more = grown(place.path, before + 1);
    before = await Promise.race([more, running.ended.then(({ stderr }) => assert.fail(`it ended: ${stderr}`))]);
    running.child.kill('SIGKILL');
    await running.ended;
  }
  const { code, stderr } = await skein([...crawl, '--json']);
  assert.equal(code, 0, stderr);
  const indexed = await equalsRebuilt(place.path);
  const shown = web.mustFind().length;
  assert.ok(indexed > 200 && indexed <= shown, `${indexed} of ${shown} pages`);
});

/** Resolves when a running crawl has made at least so many pages findable; gives their number. */
async function grown(data: string, least: number): Promise<number> {
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, 20));
    try {
      const database = new DatabaseSync(searchFile(data), { readOnly: true, timeout: 1000 });
      const { n } = database.prepare('SELECT count(*) AS n FROM pages').get() as { n: number };
      database.close();
      if (n >= least) return n;
    } catch {
      // There is no index yet, or no tables in it.
    }
  }
}

test('the command shows results safely, and opening one makes the page important', async () => {
  await using pages = await openPages();
  const evil = '\u001b[31mred\u0007 <script>alert(1)</script> \u202eevil';
  pages.set('/', { body: html('Home', ['geese'], ['/a', '/b']) });
  pages.set('/a', { body: html('First', [`wild geese ${evil}`]) });
  pages.set('/b', { body: `<title>&#27;[2J Second</title><p>wild geese` });
  using place = workplace();
  const data = ['--data', place.path];
  await skein(['crawl', `${pages.origin}/`, ...data, ...fast]);
  const shown = await skein(['search', 'wild', 'geese', ...data]);
  assert.equal(shown.code, 0, shown.stderr);
  const text = shown.stdout.toString();
  assert.match(text, /2 pages for wild geese/);
  assert.match(text, /checked .* ago, probably unchanged \(\d+% chance it changed\); skein cat http/);
  assert.doesNotMatch(text, /[\u0007\u001b\u202e]/);

  const found = await skeinJson<{ hits: { url: string }[] }>('search', 'title:first', ...data);
  assert.deepEqual(
    found.hits.map(({ url }) => url),
    [`${pages.origin}/a`],
  );
  const opened = await skeinJson<{ url: string; text: string }>('search', 'title:first', '--open', '1', ...data);
  assert.match(opened.text, /wild geese/);
  const why = (path: string) =>
    skeinJson<{ searches: number; explanation: { importance: number } }>('why', `${pages.origin}${path}`, ...data);
  const [wanted, other] = [await why('/a'), await why('/b')];
  assert.ok(wanted.searches > 1 && other.searches < 1);
  assert.ok(wanted.explanation.importance > other.explanation.importance * 1.5);

  assert.equal((await skein(['search', 'geese', '--open', '9', ...data])).code, 3);
  assert.equal((await skein(['search', '(open', ...data])).code, 2);
  assert.match(
    (await skein(['search', 'geeze', ...data])).stdout.toString(),
    /No results for geeze\. Showing results for geese:/,
  );
  const status = await skeinJson('index', 'status', ...data);
  assert.deepEqual([status['documents'], status['behind'], status['fed']], [3, 0, false]);
  assert.equal((await skeinJson('index', 'rebuild', ...data))['documents'], 3);
});

test('near copies are folded into one result, and a look that finds nothing new makes it younger', async () => {
  await using pages = await openPages();
  const story = Array.from({ length: 12 }, (_, at) => `The heron of chapter ${at} waits in the reeds until evening.`);
  pages.set('/', { body: html('Home', ['marsh'], ['/a', '/b']) });
  pages.set('/a', { body: html('Heron', story) });
  pages.set('/b', { body: html('Heron', [...story, 'Printed in June.']) });
  using place = workplace();
  const data = ['--data', place.path];
  await skein(['crawl', `${pages.origin}/`, ...data, ...fast]);
  assert.match(
    (await skein(['search', 'reeds', ...data])).stdout.toString(),
    /1 similar page hidden; --unfold shows it/,
  );
  type Found = { hits: { url: string; alike: number; time: string }[] };
  const [best] = (await skeinJson<Found>('search', 'reeds', ...data)).hits;
  const { hits } = await skeinJson<Found>('search', 'reeds', '--unfold', ...data);
  assert.deepEqual(
    hits.map(({ url, alike }) => [url, alike]).sort(),
    ['/a', '/b'].map(path => [`${pages.origin}${path}`, 0]),
  );

  await skein(['refresh', '--budget', '100%', ...data, ...fast]);
  const [later] = (await skeinJson<Found>('search', 'reeds', ...data)).hits;
  assert.equal(later!.url, best!.url);
  assert.ok(later!.time > best!.time);
});
