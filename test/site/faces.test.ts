/** The standard faces say what the journal says, in the words of their standards. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Answered, Asking } from '../../src/home/notices/reading/asking.ts';
import { pollSync } from '../../src/home/notices/reading/read-sync.ts';
import type { FaceState } from '../../src/ledger/schedule/faces.ts';
import { parseFeed } from '../../src/notices/feed.ts';
import { parseSitemap } from '../../src/notices/sitemap.ts';
import { resourceSync } from '../../src/site/faces/resourcesync.ts';
import { sitemap, sitemapIndex } from '../../src/site/faces/sitemap.ts';
import { Journal } from '../../src/site/journal/journal.ts';
import { root } from '../journeys/skein.ts';
import { breaches, readSync } from './resourcesync-rules.ts';
import { folder, PUBLIC, page, startSite, until, write } from './site-here.ts';

const suite = join(root, '..', 'shared', 'suites', 'resourcesync');

test('the rules hold for every example of the specification, both versions', context => {
  if (!existsSync(suite)) return context.skip('the examples of the specification are not here');
  const files = globSync('v1_*/*.xml', { cwd: suite });
  assert.ok(files.length > 60, `${files.length} examples`);
  const wrong = files.flatMap(file =>
    breaches(readSync(readFileSync(join(suite, file), 'utf8'))).map(what => `${file}: ${what}`),
  );
  assert.deepEqual(wrong, []);
});

test('the rules can fail', () => {
  const text = (md: string, entry = '') =>
    `<urlset xmlns:rs="x"><rs:md ${md}/><url><loc>https://a.org/</loc>${entry}</url></urlset>`;
  for (const bad of [
    text('capability="nothing"'),
    text('capability="resourcelist"'),
    text('capability="changelist" from="2013-01-01"'),
    text('capability="changelist" from="yesterday"', '<rs:md change="updated"/>'),
    text('capability="resourcelist" at="2013-01-03T09:00:00Z"', '<rs:md hash="md5:1"/>'),
    text('capability="resourcelist" at="2013-01-03T09:00:00Z"', '<lastmod>1 May</lastmod>'),
  ])
    assert.notDeepEqual(breaches(readSync(bad)), [], bad);
});

test('sitemap, ResourceSync and Atom tell the same, and keep the rules', async context => {
  const folderHere = folder(context);
  write(folderHere, 'index.html', page('Front & <more>', 'x'));
  write(folderHere, 'a&b.html', page('A', 'one'));
  write(folderHere, 'c.html', page('C', 'one'));
  const here = await startSite(context, { directory: folderHere, goneAfter: 0.3 });
  write(folderHere, 'a&b.html', page('A', 'two'));
  write(folderHere, 'new.html', page('New', 'one'));
  rmSync(join(folderHere, 'c.html'));
  await here.site.changed();
  await until(() => here.site.journal.pages.size === 3);
  const text = async (path: string) => (await here.get(path)).text();

  const index = parseSitemap(Buffer.from(await text('/.well-known/skein/sitemap.xml')), PUBLIC);
  assert.deepEqual([index.kind, index.problems], ['index', []]);
  const map = parseSitemap(Buffer.from(await text(new URL(index.entries[0]!.url).pathname)), PUBLIC);
  assert.deepEqual(map.entries.map(({ url }) => url).sort(), [PUBLIC, `${PUBLIC}a&b.html`, `${PUBLIC}new.html`]);
  for (const { url, lastmod } of map.entries)
    assert.equal(lastmod, here.site.journal.pages.get(new URL(url).pathname)!.time);

  const description = readSync(await text('/.well-known/resourcesync'));
  const capabilityList = readSync(await text(new URL(description.entries[0]!.loc).pathname));
  const [resources, changes] = await Promise.all(
    capabilityList.entries.map(async ({ loc }) => readSync(await text(new URL(loc).pathname))),
  );
  for (const each of [description, capabilityList, resources!, changes!]) assert.deepEqual(breaches(each, true), []);
  assert.deepEqual(resources!.entries.map(({ loc }) => loc).sort(), map.entries.map(({ url }) => url).sort());
  const front = resources!.entries.find(({ loc }) => loc === PUBLIC)!;
  assert.equal(front.md['hash'], `sha-256:${hash('sha256', readFileSync(join(folderHere, 'index.html')), 'hex')}`);
  assert.deepEqual(changes!.entries.map(({ loc, md }) => `${md['change']} ${loc}`).sort(), [
    `created ${PUBLIC}new.html`,
    `deleted ${PUBLIC}c.html`,
    `updated ${PUBLIC}a&b.html`,
  ]);

  const written = await text('/.well-known/skein/atom.xml');
  const feed = parseFeed(Buffer.from(written), `${PUBLIC}.well-known/skein/atom.xml`);
  assert.deepEqual(feed.problems, []);
  assert.deepEqual(feed.entries.map(({ url }) => url).sort(), [`${PUBLIC}a&b.html`, `${PUBLIC}new.html`]);
  assert.match(written, new RegExp(`<at:deleted-entry ref="${PUBLIC}c.html"`));
});

test('a reader of many changes asks for the last of them alone, and misses none', async context => {
  let time = 1_700_000_000_000;
  const journal = new Journal({ directory: folder(context), now: () => (time += 10), keep: 2000 });
  const page = (n: number) => ({
    ...{ source: 'files', kind: 'page' as const, type: 'text/html', title: '', bytes: 1, time, path: `/${n}` },
    ...{ content: '0'.repeat(32), body: '0'.repeat(64) },
  });
  journal.begin([]);
  const add = (...numbers: readonly number[]) =>
    journal.append(numbers.map(n => ({ operation: 'create' as const, page: page(n) })));
  const asked: string[] = [];
  const own = async ({ url }: { url: string }): Promise<Answered> => {
    const path = new URL(url).pathname;
    asked.push(path.slice(path.lastIndexOf('/') + 1));
    const text = resourceSync(path, journal, PUBLIC, time);
    if (text !== undefined) assert.deepEqual(breaches(readSync(text), true), [], path);
    return { status: text === undefined ? 404 : 200, url, body: Buffer.from(text ?? ''), headers: new Map() };
  };
  const asking = {
    own,
    get now() {
      return time;
    },
  } as unknown as Asking;
  const told = new Set<string>();
  let state: FaceState = {};
  const poll = async () => {
    asked.length = 0;
    const url = `${PUBLIC}.well-known/resourcesync`;
    const done = await pollSync({ asking, holdings: () => [] }, { kind: 'resourcesync', url, state });
    for (const notice of done.notices) told.add(notice.url);
    state = done.state;
    return asked.slice(2).join(' ');
  };
  let next = 0;
  const addMany = (count: number) => {
    for (const end = next + count; next < end; next += 250) add(...Array.from({ length: 250 }, (_, i) => next + i));
  };
  addMany(750);
  assert.equal(await poll(), 'changelist.xml resourcelist.xml');
  addMany(1750);
  await poll();
  assert.equal(told.size, 2500);
  await poll();
  add(next++);
  assert.equal(await poll(), '');
  assert.deepEqual(asked, ['changelist-3.xml']);
  // The list that it knew is closed, and what was written first is forgotten.
  addMany(2500);
  await poll();
  assert.equal(told.size, next);
  assert.ok(journal.first > 0);
  assert.equal(resourceSync('/.well-known/skein/resourcesync/changelist-1.xml', journal, PUBLIC, time), undefined);
});

test('a standard face that has not changed costs a 304', async context => {
  const folderHere = folder(context);
  write(folderHere, 'index.html', page('Front', 'x'));
  const here = await startSite(context, { directory: folderHere });
  for (const path of ['/.well-known/skein/sitemap.xml', '/.well-known/skein/atom.xml', '/.well-known/resourcesync']) {
    const first = await here.get(path);
    await first.text();
    const again = await here.get(path, { 'if-none-match': first.headers.get('etag')! });
    assert.equal(again.status, 304, path);
    await again.text();
  }
});

test('a site of more pages than a sitemap may hold has several', context => {
  const directory = folder(context);
  const journal = new Journal({ directory, now: Date.now });
  const about = {
    source: 'files',
    kind: 'page',
    type: 'text/html',
    title: '',
    bytes: 1,
    time: 1_700_000_000_000,
  } as const;
  const hashes = { content: '0'.repeat(32), body: '0'.repeat(64) };
  journal.begin(Array.from({ length: 50_001 }, (_, i) => ({ ...about, ...hashes, path: `/${i}` })));
  const index = parseSitemap(Buffer.from(sitemapIndex(journal, PUBLIC)), PUBLIC);
  assert.equal(index.entries.length, 2);
  const sizes = [1, 2].map(n => parseSitemap(Buffer.from(sitemap(journal, PUBLIC, n)!), PUBLIC).entries.length);
  assert.deepEqual(sizes, [50_000, 1]);
  assert.equal(sitemap(journal, PUBLIC, 3), undefined);
  const list = (name: string) =>
    readSync(resourceSync(`/.well-known/skein/resourcesync/${name}.xml`, journal, PUBLIC, 1e12)!);
  const [all, second] = [list('resourcelist'), list('resourcelist-2')];
  assert.deepEqual([all.root, all.entries.length, second.entries.length], ['sitemapindex', 2, 1]);
  for (const each of [all, second]) assert.deepEqual(breaches(each, true), []);
  assert.ok(second.links.some(({ rel }) => rel === 'index'));
});
