/** A site that cooperates is asked for changes instead of pages; what it gives is archived as what it is, and checked. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keepFresh } from '../../src/cli/commands/refresh.ts';
import { openLedger } from '../../src/engine/open-ledger.ts';
import { findPage } from '../../src/home/answers/lookup.ts';
import { whyOf } from '../../src/home/answers/why.ts';
import { verifyCollection } from '../../src/home/checks/verify.ts';
import { openCopiesHere } from '../../src/home/copies/copies.ts';
import { distrusted } from '../../src/home/notices/bulk/site-carriers.ts';
import { encodeFailure } from '../../src/notices/site/discovery.ts';
import { type CooperatingSite, openSite } from '../home/notices/cooperating-site.ts';
import { type Collection, chosen, makeCollection } from './collection.ts';
import { html, prose } from './pages.ts';
import { skein } from './skein.ts';

const numbers = Array.from({ length: 30 }, (_, i) => i);
const page = (n: number, edition = 'first') =>
  html(`Page ${n}`, [prose(n, 300), `The ${edition} edition of page ${n}.`, prose(n + 1, 300)], ['/']);

function furnish(site: CooperatingSite): void {
  site.set('/', {
    body: html(
      'Front',
      [prose(99)],
      numbers.map(n => `/${n}.html`),
    ),
  });
  for (const n of numbers) site.set(`/${n}.html`, { body: page(n) });
}

const newest = (collection: Collection, url: string) =>
  collection.look(ledger => {
    const id = collection.visits(url).at(-1)!.page;
    const copies = openCopiesHere(ledger);
    const stored = copies.newest(ledger.pages.known(id)!);
    copies.close();
    return stored;
  });

const why = (collection: Collection, url: string) =>
  collection.look(ledger => whyOf(ledger, findPage(ledger, url), collection.clock.now())).state;

test('after the first round nothing is asked for but changes, and these come as differences', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ freshness: 0.95 });
  const face = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'cursor'))!;
  assert.equal(face.found, 'well-known');
  assert.equal(face.trouble, '');
  assert.match(face.state.cursor!, /^31-/);
  collection.pass(1);
  site.set('/4.html', { body: page(4, 'second') });
  site.set('/11.html', { body: page(11, 'second') });
  site.set('/new.html', { body: page(77, 'only') });
  site.set('/17.html', undefined);
  site.asked.length = 0;
  await collection.refresh({ budget: '6', audit: 0 });
  const bulk = site.asked.filter(path => path === 'POST /.well-known/skein/pages');
  assert.ok(bulk.length >= 1 && bulk.length <= 4, `${site.asked}`);
  for (const n of [4, 11]) {
    const visit = collection.visits(`${site.origin}/${n}.html`).at(-1)!;
    assert.deepEqual([visit.outcome, visit.cause, visit.outpost], ['fetched', 'delta', `site ${site.origin}`]);
    assert.ok(!site.asked.includes(`GET /${n}.html`));
    assert.match(Buffer.from(newest(collection, `${site.origin}/${n}.html`)!.body).toString(), /second edition/);
    assert.match(why(collection, `${site.origin}/${n}.html`), /The site told us of its last change\./);
  }
  assert.doesNotMatch(why(collection, `${site.origin}/5.html`), /told us/);
  assert.equal(collection.visits(`${site.origin}/new.html`).at(-1)!.outcome, 'fetched');
  // A site cannot make a page disappear: that it is gone was seen with a request.
  assert.equal(collection.visits(`${site.origin}/17.html`).at(-1)!.outcome, 'gone');
  assert.ok(site.asked.includes('GET /17.html'));
  const trust = collection.look(ledger => ledger.schedule.noticeTrust.of(1, 'cursor'));
  assert.deepEqual([trust.pings, trust.confirmed], [3, 3]);
  const causes = collection.look(ledger => new Set(ledger.servers.account.rows().map(({ cause }) => cause)));
  assert.ok(causes.has('cursor') && causes.has('delta'));
  collection.pass(1);
  site.asked.length = 0;
  await collection.refresh({ freshness: 0.5, audit: 0 });
  assert.deepEqual(site.asked, ['GET /.well-known/skein/changes'], 'a day without changes is one small request');
});

test('however much a site tells of at once, a freshness that is to be kept is kept that day', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  for (let day = 0; day < 3; day++) {
    await collection.refresh({ freshness: 0.9 });
    collection.pass(1);
  }
  for (const n of numbers) site.set(`/${n}.html`, { body: page(n, 'second') });
  const news = numbers.map(n => `/news-${n}.html`);
  for (const [n, path] of news.entries()) site.set(path, { body: page(100 + n) });
  await collection.refresh({ freshness: 0.9 });
  const outcomes = (paths: readonly string[]) =>
    paths.map(path => collection.visits(site.origin + path).at(-1)?.outcome);
  const all = numbers.map(() => 'fetched');
  assert.deepEqual(outcomes(numbers.map(n => `/${n}.html`)), all, 'pages that changed');
  assert.deepEqual(outcomes(news), all, 'pages that are new');
});

test('documents that a site names beside a single page come in a run or two, and after one that was cut short', async () => {
  for (const later of [{ freshness: 0.9 }, { budget: '50%' }]) {
    using collection = makeCollection();
    await using site = await openSite();
    site.set('/', { body: html('Front', [prose(99)]) });
    await collection.crawl([`${site.origin}/`]);
    for (const n of numbers) site.set(`/papers/${n}`, { body: page(n), kind: 'record' });
    await collection.refresh({ budget: '1' });
    const visited = () => numbers.filter(n => collection.visits(`${site.origin}/papers/${n}`).length > 0).length;
    assert.ok(visited() <= 1, 'a number of pages is kept');
    await collection.refresh(later);
    assert.ok(visited() >= (later.freshness ? 30 : 15), `${visited()} of 30 with ${JSON.stringify(later)}`);
    collection.look(({ schedule }) =>
      assert.equal(schedule.told.size + visited(), 30, 'what was visited is no longer named'),
    );
  }
});

test('a watch that is to keep a freshness looks at once at what a site tells, and waits with the rest', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ freshness: 0.9 });
  collection.pass(1);
  for (const n of numbers.slice(0, 20)) site.set(`/${n}.html`, { body: page(n, 'second') });
  const stop = new AbortController();
  const options = chosen(collection.directory, { freshness: 0.9, signal: stop.signal });
  const watching = keepFresh('watch', options, { clockShift: collection.clockShift });
  const editions = (n: number) =>
    collection.visits(`${site.origin}/${n}.html`).filter(({ outcome }) => outcome === 'fetched').length;
  const visited = () => numbers.filter(n => editions(n) === 2);
  try {
    while (visited().length < 20) await new Promise(resolve => setTimeout(resolve, 200));
  } finally {
    stop.abort();
    await watching;
  }
  assert.deepEqual(visited(), numbers.slice(0, 20));
});

test('what came in bulk is a resource record, and the whole collection is sound', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ budget: '1' });
  collection.pass(1);
  site.set('/3.html', { body: page(3, 'second') });
  await collection.refresh({ budget: '3', audit: 0 });
  const stored = newest(collection, `${site.origin}/3.html`)!;
  assert.equal(stored.type, 'resource');
  assert.equal(stored.record.get('skein-source'), 'site');
  assert.equal(stored.record.get('content-type'), 'text/html; charset=utf-8');
  const ledger = openLedger(collection.directory);
  const { problems } = await verifyCollection(ledger);
  ledger.close();
  assert.deepEqual(problems, []);
});

test('documents to which no link leads are archived and marked', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  const record = (n: number) => html(`Record ${n}`, [`Row ${n} of a table that nobody links to.`, prose(n, 100)]);
  for (const n of [1, 2, 3]) site.set(`/records/${n}`, { body: record(n), kind: 'record' });
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ budget: '10' });
  const visit = collection.visits(`${site.origin}/records/2`).at(-1)!;
  assert.deepEqual([visit.outcome, visit.cause], ['fetched', 'delta']);
  const stored = newest(collection, `${site.origin}/records/2`)!;
  assert.equal(stored.type, 'resource');
  assert.match(Buffer.from(stored.body).toString(), /Row 2 of a table/);
  assert.equal(
    collection.look(ledger => ledger.links.hidden.of(visit.page)),
    'record',
  );
  collection.pass(1);
  site.set('/records/2', { body: record(22), kind: 'record' });
  await collection.refresh({ budget: '3' });
  assert.match(Buffer.from(newest(collection, `${site.origin}/records/2`)!.body).toString(), /Row 22 of a table/);
  // Nobody else can ask for it, so that it is not held against a request.
  assert.ok(!site.asked.includes('GET /records/2'));
  const url = `${site.origin}/records/2`;
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await skein([...words, '--data', collection.directory]);
    assert.equal(code, 0, stderr);
    return stdout.toString();
  };
  const search = await run('search', '"row 22 of a table"');
  assert.match(search, /records\/2/);
  assert.match(search, /from a database of the site; no link leads to it/);
  const [hit] = JSON.parse(await run('search', '"row 22 of a table"', '--json')).hits;
  assert.equal(hit.hidden, 'record');
  const [plain] = JSON.parse(await run('search', `site:${new URL(url).host} url:html`, '--json')).hits;
  assert.equal(plain?.hidden, undefined);
  assert.match(await run('diff', url), /22/);
  assert.match(await run('show', url), /hidden +record/);
  const lines = (await run('export', '--format', 'jsonl')).trim().split('\n');
  const exported = lines.map(line => JSON.parse(line)).find(each => each.url === url);
  assert.equal(exported?.hidden, 'record');
  assert.match(await run('cat', url), /Row 22 of a table/);
});

test('documents of a site that cannot give them at the moment are not taken for gone', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  site.set('/', { body: html('Front', [prose(99)]) });
  for (const n of [1, 2, 3]) site.set(`/records/${n}`, { body: page(n), kind: 'record' });
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ freshness: 0.9 });
  // What stands behind the site is gone: the web server before it has no such pages.
  site.extra.set('/.well-known/skein/pages', () => ({ status: 503, body: encodeFailure('not-ready', 'later') }));
  for (const n of [1, 2, 3]) site.set(`/records/${n}`, { body: page(n, 'second'), kind: 'record' });
  collection.pass(1);
  await collection.refresh({ freshness: 0.9 });
  const last = (n: number) => collection.visits(`${site.origin}/records/${n}`).at(-1)!.outcome;
  assert.ok(![1, 2, 3].some(n => last(n) === 'gone'), `${[1, 2, 3].map(last)}`);
  site.extra.clear();
  site.set('/records/3', undefined);
  collection.pass(1);
  await collection.refresh({ freshness: 0.9 });
  assert.deepEqual([1, 2, 3].map(last), ['fetched', 'fetched', 'gone']);
});

test('a site that gives other pages than its server shows is found out, and its pages are fetched again', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ budget: '1' });
  collection.pass(1);
  const forged = [3, 5, 7, 9, 11, 13, 15, 17];
  for (const n of forged) {
    site.set(`/${n}.html`, { body: page(n, 'second') });
    site.forge(`/${n}.html`, page(n, 'forged'));
  }
  await collection.refresh({ budget: '12', audit: 1 });
  assert.ok(
    collection.look(ledger => distrusted(ledger)[site.origin])?.includes('differs from the page on the server'),
  );
  collection.pass(1);
  site.asked.length = 0;
  await collection.refresh({ budget: '100%' });
  assert.ok(!site.asked.includes('POST /.well-known/skein/pages'));
  for (const n of forged)
    assert.match(Buffer.from(newest(collection, `${site.origin}/${n}.html`)!.body).toString(), /second edition/);
});

test('a site that was put back in time is read anew, by its manifest', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ budget: '1' });
  collection.pass(1);
  site.restore(5);
  for (const n of [20, 21, 22, 23, 24, 25, 26]) site.set(`/${n}.html`, { body: page(n, 'restored') });
  site.asked.length = 0;
  await collection.refresh({ budget: '12', audit: 0 });
  assert.ok(site.asked.includes('GET /.well-known/skein/manifest'));
  for (const n of [20, 26])
    assert.match(Buffer.from(newest(collection, `${site.origin}/${n}.html`)!.body).toString(), /restored edition/);
  const face = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'cursor'))!;
  assert.deepEqual([face.trouble, face.failures], ['', 0]);
});

test('a face that sends nonsense is trouble, and the pages are looked at as ever', async () => {
  using collection = makeCollection();
  await using site = await openSite();
  furnish(site);
  const nonsense = () => ({ status: 200, body: Buffer.alloc(5000, 7) });
  site.extra.set('/.well-known/skein/changes', nonsense);
  site.extra.set('/.well-known/skein/pages', nonsense);
  await collection.crawl([`${site.origin}/`]);
  await collection.refresh({ budget: '1' });
  collection.pass(1);
  site.set('/4.html', { body: page(4, 'second') }, { silent: true });
  await collection.refresh({ budget: '100%' });
  assert.match(Buffer.from(newest(collection, `${site.origin}/4.html`)!.body).toString(), /second edition/);
  const face = collection.look(ledger => ledger.schedule.faces.all().find(({ kind }) => kind === 'cursor'))!;
  assert.match(face.trouble, /does not decode/);
});
