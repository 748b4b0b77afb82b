/** A folder of files, watched: what is told is what a reader of the pages would see. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseFeed } from '../../src/notices/feed.ts';
import { bucketDigest, bucketOf, decodeEntries } from '../../src/notices/site/manifest.ts';
import { bodyHash } from '../../src/notices/site/pages.ts';
import { byPathHash } from '../../src/notices/site/paths.ts';
import { folder, PUBLIC, page, startSite, until, write } from './site-here.ts';

test('every page is in the manifest, and what may not be told is not', async context => {
  const root = folder(context);
  const outside = folder(context);
  write(outside, 'secret.html', page('Secret', 'x'));
  write(root, 'index.html', page('Home', 'welcome'));
  write(root, 'a b/über.html', page('Über', 'text'));
  write(root, 'q?a&b#c%41;.html', page('Odd', 'text'));
  write(root, 'sub/index.htm', page('Sub', 'text'));
  write(root, 'private/x.html', page('Private', 'text'));
  write(root, 'old/y.html', page('Old', 'text'));
  write(root, 'style.css', 'body {}');
  write(root, '.hidden/z.html', page('Hidden', 'text'));
  write(root, 'noindex.html', '<html><head><meta name="robots" content="noindex"></head><body>text</body></html>');
  write(root, 'robots.txt', 'User-agent: *\nDisallow: /private/\n');
  symlinkSync(join(outside, 'secret.html'), join(root, 'link.html'));
  const here = await startSite(context, { directory: root, allow: ['!/old/**'] });
  const { pages, digests } = await here.summary();
  const all = digests.map((_, i) => i).join(',');
  const answer = await here.get(`/.well-known/skein/manifest?buckets=${digests.length}&of=${all}`);
  const held = byPathHash(() => [`${PUBLIC}noindex.html`, `${PUBLIC}private/x.html`]);
  const entries = decodeEntries(new Uint8Array(await answer.arrayBuffer()), PUBLIC, held);
  const expected = ['', 'a%20b/%C3%BCber.html', 'noindex.html', 'q%3Fa&b%23c%2541;.html', 'sub/'].map(
    path => PUBLIC + path,
  );
  assert.deepEqual(entries.map(({ url }) => url).sort(), expected);
  assert.equal(pages, expected.length);
  for (const [i, digest] of digests.entries()) {
    const inBucket = entries.filter(({ url }) => bucketOf(url, digests.length) === i);
    assert.deepEqual(new Uint8Array(bucketDigest(inBucket)), digest);
  }
});

test('a change is told once, a touched file is not, and a removed one is told when it stays away', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  write(root, 'b.html', page('B', 'one'));
  const here = await startSite(context, { directory: root, goneAfter: 1.5 });
  const { cursor } = (await here.discovery()).journal;
  assert.equal(await here.changes(cursor), undefined);
  const waiting = here.changes(cursor, '&wait=60');
  write(root, 'a.html', page('A', 'two'));
  const first = (await waiting)!;
  assert.deepEqual(
    first.changes.map(({ url, operation }) => [url, operation]),
    [[`${PUBLIC}a.html`, 'update']],
  );
  rmSync(join(root, 'b.html'));
  write(root, 'c.html', page('C', 'one'));
  await until(() => here.site.journal.pages.has('/c.html'));
  assert.ok(here.site.journal.pages.has('/b.html'), 'it may come back: builds remove files and write them again');
  await until(() => !here.site.journal.pages.has('/b.html'));
  const second = (await here.changes(first.cursor))!;
  assert.deepEqual(second.changes.map(({ url, operation }) => `${operation} ${url}`).sort(), [
    `create ${PUBLIC}c.html`,
    `delete ${PUBLIC}b.html`,
  ]);
  const whole = (await here.changes(cursor))!;
  assert.equal(whole.changes.length, 3);
  assert.equal(whole.cursor, second.cursor);
});

test('a build that writes every file anew tells of the one that changed', async context => {
  const root = folder(context);
  const text = (i: number, stamp: string) =>
    `<html><head><meta name="generated" content="${stamp}"><script>var build="${stamp}"</script></head>` +
    `<body><h1>Page ${i}</h1><p>The text of page ${i}.</p></body></html>`;
  for (let i = 0; i < 300; i++) write(root, `p/${i}.html`, text(i, 'one'));
  const here = await startSite(context, { directory: root });
  const { cursor } = (await here.discovery()).journal;
  for (let i = 0; i < 300; i++) write(root, `p/${i}.html`, i === 7 ? text(1007, 'two') : text(i, 'two'));
  await here.site.changed();
  const told = (await here.changes(cursor))!.changes;
  assert.deepEqual(
    told.map(({ url }) => url),
    [`${PUBLIC}p/7.html`],
  );
});

test('a page comes as its difference from the version that the reader holds', async context => {
  const root = folder(context);
  const long = Array.from({ length: 4000 }, (_, i) => `word${(i * 7919) % 4001}`).join(' ');
  write(root, 'a.html', page('A', `${long} one`));
  write(root, 'b.html', page('B', 'small'));
  const here = await startSite(context, { directory: root });
  const old = readFileSync(join(root, 'a.html'));
  write(root, 'a.html', page('A', `${long} two`));
  await here.site.changed();
  const wanted = [
    { url: `${PUBLIC}a.html`, have: bodyHash(old) },
    { url: `${PUBLIC}b.html` },
    { url: `${PUBLIC}none` },
  ];
  const [a, b, none] = await here.pages(wanted, () => old);
  assert.equal(Buffer.from((a as { body: Uint8Array }).body).toString(), page('A', `${long} two`));
  assert.equal((b as { title: string }).title, 'B');
  assert.deepEqual(none, { state: 'gone' });
  const now = readFileSync(join(root, 'a.html'));
  assert.deepEqual(await here.pages([{ url: `${PUBLIC}a.html`, have: bodyHash(now) }]), [{ state: 'same' }]);
});

test('after a restart the journal goes on, with what happened meanwhile', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  write(root, 'b.html', page('B', 'one'));
  const first = await startSite(context, { directory: root });
  const { cursor } = (await first.discovery()).journal;
  await first.close();
  write(root, 'a.html', page('A', 'two'));
  const again = await startSite(context, { directory: root, data: first.data });
  const told = (await again.changes(cursor))!;
  assert.deepEqual(
    told.changes.map(({ url }) => url),
    [`${PUBLIC}a.html`],
  );
  await assert.rejects(startSite(context, { directory: root, data: first.data }), { code: 'data-in-use' });
});

test('lastmod is when the content changed, not when the file was written', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  utimesSync(join(root, 'a.html'), 1_700_000_000, 1_700_000_000);
  const here = await startSite(context, { directory: root });
  writeFileSync(join(root, 'a.html'), page('A', 'one'));
  await here.site.changed();
  const text = await (await here.get('/.well-known/skein/sitemap-1.xml')).text();
  assert.match(text, /<lastmod>2023-11-14T22:13:20Z<\/lastmod>/);
});

test('a file that is copied with its date changed now, and no feed puts it before what was told', async context => {
  const root = folder(context);
  const begun = Date.now();
  const put = (name: string, text: string, age: number) => {
    write(root, `${name}.html`, page(name, text));
    utimesSync(join(root, `${name}.html`), begun / 1000 - age, begun / 1000 - age);
  };
  put('a', 'one', 9000);
  put('b', 'one', 9000);
  const here = await startSite(context, { directory: root });
  put('a', 'two', 60);
  await here.site.changed();
  put('b', 'two', 3600);
  await here.site.changed();
  assert.equal(here.site.journal.cursor.sequence, 2);
  for (const { time } of here.site.journal.pages.values()) assert.ok(time >= begun - 1000);
  const feed = parseFeed(Buffer.from(await (await here.get('/.well-known/skein/atom.xml')).text()), PUBLIC);
  const [newest, before] = feed.entries;
  assert.ok(newest!.url.endsWith('/b.html') && newest!.time! > before!.time!);
});

test('a folder that is gone takes nothing away, and the owner is told', async context => {
  const root = folder(context);
  write(root, 'site/a.html', page('A', 'one'));
  const here = await startSite(context, { directory: join(root, 'site') });
  rmSync(join(root, 'site'), { recursive: true });
  await here.site.changed();
  assert.equal(here.site.status().pages, 1);
  assert.match(here.site.status().sources[0]!.problem, /does not exist/);
  assert.equal((await here.pages([{ url: `${PUBLIC}a.html` }]))[0]!.state, 'elsewhere');
  assert.ok(readdirSync(here.data).includes('journal'));
});

test('folders that come, go and come again are watched', async context => {
  const root = folder(context);
  write(root, 'a.html', page('A', 'one'));
  const here = await startSite(context, { directory: root, goneAfter: 0.2 });
  const { pages } = here.site.journal;
  const text = async (name: string, words: string) => {
    write(root, name, page(name, words));
    const { sequence } = here.site.journal.cursor;
    await until(() => here.site.journal.cursor.sequence > sequence || pages.get(`/${name}`)?.content !== undefined);
  };
  await text('new/deep/b.html', 'one');
  await until(() => pages.has('/new/deep/b.html'));
  const { content } = pages.get('/new/deep/b.html')!;
  write(root, 'new/deep/b.html', page('B', 'two'));
  await until(() => pages.get('/new/deep/b.html')!.content !== content);
  rmSync(join(root, 'new'), { recursive: true });
  await until(() => !pages.has('/new/deep/b.html'));
  write(root, 'new/deep/b.html', page('B', 'three'));
  await until(() => pages.has('/new/deep/b.html'));
});

/** How a build puts a new folder where the old one was, whose pages are at `public/`. */
const builds: Record<string, (root: string, text: string) => void> = {
  'removed and made anew': (root, text) => {
    rmSync(join(root, 'public'), { recursive: true, force: true });
    write(root, 'public/docs/v1.2/a.html', text);
  },
  'moved away for another': (root, text) => {
    rmSync(join(root, 'old'), { recursive: true, force: true });
    write(root, 'new/docs/v1.2/a.html', text);
    renameSync(join(root, 'public'), join(root, 'old'));
    renameSync(join(root, 'new'), join(root, 'public'));
  },
  'emptied of its folders': (root, text) => {
    rmSync(join(root, 'public', 'docs'), { recursive: true, force: true });
    write(root, 'public/docs/v1.2/a.html', text);
  },
};

for (const [how, build] of Object.entries(builds)) {
  test(`a folder that is ${how} is watched as before`, async context => {
    const root = folder(context);
    mkdirSync(join(root, 'public'));
    const here = await startSite(context, { directory: join(root, 'public'), every: 1e6 });
    const { pages } = here.site.journal;
    const told = async (text: string, put: () => void): Promise<void> => {
      const before = pages.get('/docs/v1.2/a.html')?.content;
      put();
      await until(
        () => pages.get('/docs/v1.2/a.html') !== undefined && pages.get('/docs/v1.2/a.html')!.content !== before,
      );
      assert.match(readFileSync(join(root, 'public/docs/v1.2/a.html'), 'utf8'), new RegExp(text));
    };
    for (const round of ['one', 'two', 'three']) {
      await told(round, () => build(root, page('A', round)));
      const text = `${round} and a half`;
      await told(text, () => write(root, 'public/docs/v1.2/a.html', page('A', text)));
    }
  });
}

test('a link that is set to another folder is followed', async context => {
  const root = folder(context);
  const { pages } = await (async () => {
    write(root, 'releases/1/a.html', page('A', 'one'));
    write(root, 'releases/2/a.html', page('A', 'two'));
    symlinkSync(join(root, 'releases/1'), join(root, 'current'));
    return (await startSite(context, { directory: join(root, 'current'), every: 1e6 })).site.journal;
  })();
  const { content } = pages.get('/a.html')!;
  symlinkSync(join(root, 'releases/2'), join(root, 'next'));
  renameSync(join(root, 'next'), join(root, 'current'));
  await until(() => pages.get('/a.html')!.content !== content);
  const second = pages.get('/a.html')!.content;
  write(root, 'releases/2/a.html', page('A', 'three'));
  await until(() => pages.get('/a.html')!.content !== second);
});

test('a pipe in the place of a page or of robots.txt holds nobody up', async context => {
  const root = folder(context);
  for (const name of ['a', 'b', 'c', 'd', 'e']) write(root, `${name}.html`, page(name, 'one'));
  const here = await startSite(context, { directory: root });
  for (const name of ['a.html', 'b.html', 'c.html', 'd.html', 'robots.txt']) {
    rmSync(join(root, name), { force: true });
    execFileSync('mkfifo', [join(root, name)]);
  }
  for (const name of ['a', 'b', 'c', 'd']) assert.equal(await here.site.read(`/${name}.html`), undefined);
  assert.match(Buffer.from((await here.site.read('/e.html'))!.body).toString(), /one/);
  await until(async () => {
    await here.site.changed();
    return /robots\.txt is not a file/.test(here.site.status().sources[0]!.problem);
  });
  assert.equal(here.site.journal.pages.size, 5, 'without rules that can be read nothing is told');
});

test('robots.txt may change its mind, either way', async context => {
  const root = folder(context);
  write(root, 'a/x.html', page('X', 'one'));
  write(root, 'b/y.html', page('Y', 'one'));
  write(root, 'robots.txt', 'User-agent: *\nDisallow: /a/');
  const here = await startSite(context, { directory: root });
  const paths = () => [...here.site.journal.pages.keys()];
  assert.deepEqual(paths(), ['/b/y.html']);
  write(root, 'robots.txt', 'User-agent: *\nDisallow: /b/');
  await here.site.changed();
  assert.deepEqual(paths(), ['/a/x.html']);
  write(root, 'robots.txt', '');
  await here.site.changed();
  assert.deepEqual(paths().sort(), ['/a/x.html', '/b/y.html']);
});
