import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { HOUR } from '../../src/base/clock.ts';
import { parseDate } from '../../src/notices/dates.ts';
import { parseFeed } from '../../src/notices/feed.ts';
import { parseSitemap, SITEMAP_BYTES, SITEMAP_ENTRIES } from '../../src/notices/sitemap.ts';
import { randomly } from '../random.ts';

const bytes = (text: string, encoding: BufferEncoding = 'utf8') => Buffer.from(text, encoding);
const read = (text: string) => parseSitemap(bytes(text), 'https://h/sitemap.xml');

test('a urlset with everything in it', () => {
  const { kind, entries, problems } = read(`<?xml version="1.0" encoding="UTF-8"?>
    <!-- made by hand --> <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="x">
    <url><loc> https://h/a?x=1&amp;y=2#f </loc><lastmod>2026-01-02</lastmod><changefreq>Daily</changefreq><priority>0.8</priority></url>
    <url><loc><![CDATA[https://h/b?x=1&y=2]]></loc><image:image><image:loc>https://h/i.png</image:loc></image:image></url>
    <url><loc>/c&#x2F;d</loc><lastmod>yesterday</lastmod><priority>7</priority></url>
    <url><lastmod>2026</lastmod></url><url><loc>ftp://h/</loc></url></urlset>`);
  assert.equal(kind, 'urls');
  assert.deepEqual(entries, [
    { url: 'https://h/a?x=1&y=2', lastmod: Date.UTC(2026, 0, 2), changefreq: 'daily', priority: 0.8 },
    { url: 'https://h/b?x=1&y=2' },
    { url: 'https://h/c/d' },
  ]);
  assert.deepEqual(problems, [
    'a lastmod that is not a date',
    'an entry without a URL',
    'an entry whose URL is not one',
  ]);
});

test('an index, in gzip, and in gzip twice', () => {
  const text =
    '<sitemapindex><sitemap><loc>https://h/1.xml.gz</loc><lastmod>2026-01-02T03:04:05+01:00</lastmod></sitemap></sitemapindex>';
  const expected = {
    kind: 'index',
    entries: [{ url: 'https://h/1.xml.gz', lastmod: Date.UTC(2026, 0, 2, 2, 4, 5) }],
    problems: [],
  };
  for (const each of [bytes(text), gzipSync(text), gzipSync(gzipSync(text))]) {
    assert.deepEqual(parseSitemap(each, 'https://h/s.xml'), expected);
  }
});

test('namespaces with prefixes, other encodings, a document type, text before the declaration', () => {
  assert.equal(
    read('<sm:urlset xmlns:sm="x"><sm:url><sm:loc>http://h/a</sm:loc></sm:url></sm:urlset>').entries.length,
    1,
  );
  const utf16 = Buffer.concat([
    Buffer.from([0xff, 0xfe]),
    bytes('<urlset><url><loc>http://h/ä</loc></url></urlset>', 'utf16le'),
  ]);
  assert.deepEqual(parseSitemap(utf16, 'http://h/').entries, [{ url: 'http://h/%C3%A4' }]);
  const latin = bytes(
    '<?xml version="1.0" encoding="ISO-8859-1"?><urlset><url><loc>http://h/ä</loc></url></urlset>',
    'latin1',
  );
  assert.deepEqual(parseSitemap(latin, 'http://h/').entries, [{ url: 'http://h/%C3%A4' }]);
  const typed =
    '<!DOCTYPE urlset [<!ENTITY x SYSTEM "file:///etc/passwd"> ] ><urlset><url><loc>http://h/&x;</loc></url></urlset>';
  assert.deepEqual(read(typed).entries, [{ url: 'http://h/&x;' }]);
  assert.equal(
    read('Warning: x\n<?xml version="1.0"?><urlset><url><loc>http://h/a</loc></url></urlset>').entries.length,
    1,
  );
});

test('tags that are missing or cut off lose as little as possible', () => {
  assert.equal(read('<urlset><url><loc>http://h/a</loc><url><loc>http://h/b</loc></urlset>').entries.length, 2);
  assert.equal(read('<urlset><url><loc>http://h/a</loc></url><url><loc>http://h/b</loc>').entries.length, 2);
  const cut = gzipSync(`<urlset>${'<url><loc>http://h/a</loc></url>'.repeat(1000)}</urlset>`).subarray(0, 60);
  assert.ok(parseSitemap(cut, 'http://h/').entries.length > 0);
  assert.deepEqual(read('<html><body>Not found</body></html>').entries, []);
});

test('plain text, RSS and Atom serve as sitemaps', () => {
  const text = parseSitemap(bytes('\ufeffhttps://h/a\r\nhttps://h/b\n\nnonsense\n'), 'https://h/s.txt');
  assert.deepEqual(text, {
    kind: 'urls',
    entries: [{ url: 'https://h/a' }, { url: 'https://h/b' }],
    problems: ['a line that is not a URL'],
  });
  const rss =
    '<rss version="2.0"><channel><link>https://h/</link><item><link>https://h/p</link><pubDate>Fri, 02 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>';
  assert.deepEqual(read(rss).entries, [{ url: 'https://h/p', lastmod: Date.UTC(2026, 0, 2) }]);
  const atom =
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="/p?a=1&amp;b=2"/><updated>2026-01-02T00:00:00Z</updated></entry></feed>';
  assert.deepEqual(read(atom).entries, [{ url: 'https://h/p?a=1&b=2', lastmod: Date.UTC(2026, 0, 2) }]);
});

test('limits: entries, bytes, and a bomb', () => {
  const many = read(`<urlset>${'<url><loc>http://h/a</loc></url>'.repeat(SITEMAP_ENTRIES + 5)}</urlset>`);
  assert.equal(many.entries.length, SITEMAP_ENTRIES);
  assert.equal(many.problems.length, 1);
  const lines = parseSitemap(bytes('http://h/a\n'.repeat(SITEMAP_ENTRIES + 5)), 'http://h/');
  assert.equal(lines.entries.length, SITEMAP_ENTRIES);
  const bomb = parseSitemap(gzipSync(Buffer.alloc(SITEMAP_BYTES + 1000), { level: 1 }), 'http://h/');
  assert.deepEqual(bomb.entries, []);
  assert.match(bomb.problems.join(), /when decompressed/);
});

test('dates', () => {
  const table: [string, number | undefined][] = [
    ['2026', Date.UTC(2026, 0)],
    ['2026-03', Date.UTC(2026, 2)],
    ['2026-03-04', Date.UTC(2026, 2, 4)],
    [' 2026-03-04T05:06Z ', Date.UTC(2026, 2, 4, 5, 6)],
    ['2026-03-04T05:06:07.890-02:00', Date.UTC(2026, 2, 4, 7, 6, 7)],
    ['2026-03-04 05:06:07', Date.UTC(2026, 2, 4, 5, 6, 7)],
    ['2026-03-04T05:06:07+0130', Date.UTC(2026, 2, 4, 3, 36, 7)],
    ['2026-03-04 05:06:07 UTC', Date.UTC(2026, 2, 4, 5, 6, 7)],
    ['2026/3/4', Date.UTC(2026, 2, 4)],
    ['Wed, 04 Mar 2026 05:06:07 +0100', Date.UTC(2026, 2, 4, 4, 6, 7)],
    ['4 Mar 2026 05:06', Date.UTC(2026, 2, 4, 5, 6)],
    ['Wed, 04 Mar 2026 05:06:07 EST', Date.UTC(2026, 2, 4, 10, 6, 7)],
    ['2026-02-31', undefined],
    ['2026-13-01', undefined],
    ['0001-01-01T00:00:00Z', undefined],
    ['1970-01-01', undefined],
    ['today', undefined],
    ['12', undefined],
    ['', undefined],
  ];
  for (const [text, time] of table) assert.equal(parseDate(text), time, text);
});

test('feeds say how often, who tells, and what changed', () => {
  const rss = parseFeed(
    bytes(`<rss version="2.0" xmlns:atom="a" xmlns:media="m" xmlns:sy="s"><channel><title>News &amp; more</title><link>https://h/</link>
      <atom:link rel="hub" href="https://hub.example/"/><atom:link rel="self" href="/feed.xml"/><ttl>30</ttl>
      <item><title>One</title><media:title>no</media:title><guid>https://h/1</guid></item>
      <item><title>Two</title><guid isPermaLink="false">x-2</guid></item>
      <item><link>https://h/3</link><guid isPermaLink="false">x-3</guid><dc:date xmlns:dc="d">2026-01-02</dc:date></item></channel></rss>`),
    'https://h/feed.xml',
  );
  assert.deepEqual(rss, {
    format: 'rss',
    title: 'News & more',
    hubs: ['https://hub.example/'],
    self: 'https://h/feed.xml',
    every: 1_800_000,
    entries: [
      { url: 'https://h/1', id: 'https://h/1', title: 'One' },
      { url: 'https://h/3', id: 'x-3', title: '', time: Date.UTC(2026, 0, 2) },
    ],
    problems: ['an entry without a URL'],
  });
  const rdf =
    '<rdf:RDF xmlns:rdf="r"><channel><sy:updatePeriod>daily</sy:updatePeriod><sy:updateFrequency>2</sy:updateFrequency></channel><item rdf:about="https://h/1"><title>x</title></item></rdf:RDF>';
  const { every, entries } = parseFeed(bytes(rdf), 'https://h/');
  assert.deepEqual([every, entries.length], [12 * HOUR, 1]);
  const json = parseFeed(
    bytes(
      '{"version":"https://jsonfeed.org/version/1.1","title":"J","hubs":[{"type":"WebSub","url":"https://hub.example/"},null],"items":[{"id":1,"url":"/1","date_modified":"2026-01-02"},{},7]}',
    ),
    'https://h/feed.json',
  );
  assert.deepEqual(json.entries, [{ url: 'https://h/1', id: '1', title: '', time: Date.UTC(2026, 0, 2) }]);
  assert.deepEqual(json.hubs, ['https://hub.example/']);
  assert.deepEqual(json.problems, ['an entry without a URL (2 times)']);
  assert.equal(parseFeed(bytes('{'), 'https://h/').format, 'none');
});

test('10,000 malformed sitemaps and feeds are read without an error', () => {
  const random = randomly(23);
  const tags = [
    '<urlset>',
    '<url>',
    '<loc>',
    'http://h/a',
    '</loc>',
    '</url>',
    '<sitemap>',
    '<lastmod>',
    '2026-01-01',
    '</lastmod>',
    '<',
    '>',
    '</',
    '/>',
  ];
  const odd = [
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
    '<!DOCTYPE',
    '[',
    ']',
    '<?xml',
    '?>',
    '"',
    "'",
    '=',
    '&amp;',
    '&#0;',
    '&#x110000;',
    '&x;',
    '\0',
    'é',
  ];
  const feeds = [
    '<rss>',
    '<item>',
    '<link>',
    '<link href=',
    '</link>',
    '<feed>',
    '<entry>',
    '<guid isPermaLink=',
    '{"items":[',
    '{}',
    ']}',
    'null',
  ];
  let found = 0;
  for (let i = 0; i < 10_000; i++) {
    const text = i % 4 === 0 ? random.garbage(300) : random.text([...tags, ...odd, ...feeds], random.below(40));
    let input: Uint8Array = bytes(text);
    if (i % 5 === 0) input = gzipSync(input).subarray(0, random.below(60));
    if (i % 7 === 0) input = random.bytes(200);
    found += parseSitemap(input, 'http://h/s').entries.length;
    parseFeed(input, random.pick(['http://h/f', '', 'x']));
  }
  assert.ok(found > 100, `${found} entries`);
});

test('text made to be slow to read is not', () => {
  for (const piece of [
    '<!x>',
    '<!x',
    '<a ',
    "<a '",
    '<!--',
    '<![CDATA[',
    '<?',
    '<',
    '&',
    '<url>',
    '<link href="',
    '<!D [',
    '<a b=',
  ]) {
    parseSitemap(bytes(`<urlset>${piece.repeat(200_000)}`), 'http://h/');
    parseFeed(bytes(`<rss>${piece.repeat(200_000)}`), 'http://h/');
  }
});

test('two addresses in one entry are two entries', () => {
  const text =
    '<urlset><url><loc>https://a.org/1</loc><loc>https://a.org/2</loc><lastmod>2026-01-02</lastmod></url></urlset>';
  const { entries } = parseSitemap(Buffer.from(text), 'https://a.org/sitemap.xml');
  assert.deepEqual(
    entries.map(({ url }) => url),
    ['https://a.org/1', 'https://a.org/2'],
  );
});

test('what is no entry counts towards the most that are read', () => {
  const lines = Buffer.from(`${'http://[\n'.repeat(60_000)}https://a.org/behind\n`);
  const plain = parseSitemap(lines, 'https://a.org/sitemap.txt');
  assert.deepEqual(plain.entries, []);
  assert.ok(plain.problems.some(problem => problem.includes('the rest is ignored')));
  const empty = `<urlset>${'<url><loc>http://[</loc></url>'.repeat(60_000)}<url><loc>https://a.org/behind</loc></url></urlset>`;
  assert.deepEqual(parseSitemap(Buffer.from(empty), 'https://a.org/sitemap.xml').entries, []);
});
