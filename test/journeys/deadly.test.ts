/**
 * Pages that were made to kill whoever reads them, over real sockets, in threads whose heap is small: what analysis
 * bounds is read like any other page; what no bound covers kills its thread, is found out, and the crawl goes on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { html, openPages, prose } from './pages.ts';
import { collected, fast, pagesOf, skein, skeinJson, workplace } from './skein.ts';

/** Megabytes of heap for each thread, home's among them. */
const HEAP = 96;
const node = [`--max-old-space-size=${HEAP}`];

/** `unit` again and again between `head` and `tail`, a few megabytes in all. */
function endless(unit: string, head = '', tail = ''): string {
  return head + unit.repeat(Math.floor(3e6 / unit.length)) + tail;
}

function numbered(count: number, make: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => make(index)).join('');
}

const links = numbered(10_000, index => `<a href="p${index}">x</a>`);

/** By path. Each would take gigabytes, or hours, of a reader that has no bound for it. */
const cruel: Readonly<Record<string, string>> = {
  '/base': `<base href="http://x.test/${'b/'.repeat(500_000)}">${links}`,
  '/base-long': `${endless('b/', '<base href="http://x.test/', '">')}<a href="a">x</a>`,
  '/links': numbered(100_000, index => `<a href="http://x${index}.test/${'y'.repeat(30)}">x</a>`),
  '/long-links': numbered(40, index => `<a href="http://l${index}.test/${'y'.repeat(80_000)}">x</a>`),
  '/escapes': numbered(1000, index => `<a href="/${index}${'é'.repeat(1500)}">x</a>`),
  '/dots': endless('../a/', '<a href="', '">x</a>'),
  '/nesting': endless('<div>'),
  '/inline': endless('<b><i>'),
  '/attributes': `<p${numbered(300_000, index => ` a${index}=b`)}>`,
  '/entities': endless('&amp;'),
  '/ampersands': endless('&'),
  '/srcset': `<img srcset="${numbered(200_000, index => `/i${index}.png ${index + 1}x, `)}">`,
  '/json-ld': endless('[', '<script type="application/ld+json">', '</script>'),
  '/title': endless('title ', '<title>'),
  '/comments': endless('<!---->'),
  '/refresh': endless(' ', '<meta http-equiv=refresh content="5', '">'),
  '/language': endless('a-', '<html lang="', '">'),
  '/robots': endless('noindexes,', '<meta name=robots content="', '">'),
  '/words': numbered(400_000, index => `w${index.toString(36)} `),
  '/blocks': numbered(300_000, index => `<p>${index}`),
  '/tables': endless('<table><tr><td>'),
};

/** Sitemaps that name no page, and cost as little. */
const cruelMaps: Readonly<Record<string, string>> = {
  '/entities.xml': endless('&amp;', '<urlset><url><loc>http://x.test/', '</loc></url></urlset>'),
  '/doctype.xml': endless('<!ENTITY a "&b;&b;">', '<!DOCTYPE x [', ']><urlset/>'),
  '/nesting.xml': endless('<url>', '<urlset>'),
  '/lines.txt': endless('x\n'),
  '/quotes.xml': endless(`<a b="' `, '<urlset>'),
};

test('cruel pages and sitemaps are read within a small heap, and none of them stops anything', async () => {
  await using pages = await openPages();
  using place = workplace();
  const paths = Object.keys(cruel);
  pages.set('/', { body: html('Start', [prose(1)], [...paths, '/plain']) });
  pages.set('/plain', { body: html('Plain', [prose(2)]) });
  for (const [path, body] of Object.entries({ ...cruel, ...cruelMaps })) pages.set(path, { body });
  const maps = Object.keys(cruelMaps).map(path => `Sitemap: ${pages.origin}${path}`);
  pages.set('/robots.txt', { body: `User-agent: *\nDisallow: /p\nAllow: /plain\n${maps.join('\n')}\n` });
  const only = ['', ...paths, '/plain'].map(path => `${pages.origin}${path || '/'}`);
  const args = ['crawl', pages.origin, '--data', place.path, ...fast, '--depth', '1'];
  const { code, stderr } = await skein([...args, '--set', 'threads=1'], { node });
  assert.equal(code, 0, stderr);
  const found = await pagesOf(place.path);
  assert.deepEqual(
    [...only].filter(url => !collected(found).includes(url)),
    [],
  );
  assert.deepEqual(
    [...found.values()].filter(({ reason }) => reason === 'killed' || reason === 'crashed'),
    [],
  );
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
});

test('what is too much for a thread kills it for real; it is named, and all other pages are collected', async () => {
  await using pages = await openPages();
  using place = workplace();
  // Fifty thousand addresses of 700 characters, 200 kB on the wire: allowed, and more than this heap can hold.
  const long = 'goose-'.repeat(120);
  const map = `<urlset>${numbered(50_000, index => `<url><loc>${pages.origin}/${index}/${long}</loc></url>`)}</urlset>`;
  const count = 6;
  const paths = Array.from({ length: count }, (_, index) => `/p${index}`);
  pages.set('/', { body: html('Start', [prose(1)], paths) });
  for (const [index, path] of paths.entries()) pages.set(path, { body: html(`Page ${index}`, [prose(index)]) });
  pages.set('/deadly.xml.gz', { body: gzipSync(map), headers: { 'content-type': 'application/gzip' } });
  pages.set('/robots.txt', { body: `User-agent: *\nAllow: /\nSitemap: ${pages.origin}/deadly.xml.gz\n` });
  const args = ['crawl', pages.origin, '--data', place.path, ...fast, '--set', 'threads=2'];
  const { code, stderr } = await skein(args, { node: ['--max-old-space-size=32'] });
  assert.equal(code, 0, stderr);
  const found = await pagesOf(place.path);
  assert.equal(found.get(`${pages.origin}/deadly.xml.gz`)?.reason, 'killed', stderr);
  assert.equal(collected(found).length, count + 1);
  assert.ok(pages.asked.filter(path => path === '/deadly.xml.gz').length > 1, 'it was tried again, apart');
  assert.deepEqual((await skeinJson('verify', '--data', place.path))['problems'], []);
});
