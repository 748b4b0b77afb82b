import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from '../../src/base/url.ts';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { textCode2 } from '../../src/crawler/detect/text-codes.ts';
import type { Page } from '../../src/crawler/stages.ts';
import { type Facts, mayShowImages, packFacts, unpackFacts } from '../../src/errand/facts.ts';
import { LINK_ALTERNATE, LINK_CANONICAL, LINK_NOFOLLOW } from '../../src/errand/visit.ts';
import { randomly } from '../random.ts';

const URL = 'http://example.org/folder/page.html';

function page(html: string | Uint8Array, type = 'text/html; charset=utf-8', more: Record<string, string> = {}): Page {
  const headers = new Map(Object.entries({ 'content-type': type, ...more }));
  return analyse({ url: URL, headers, body: Buffer.from(html) });
}

const factsOf = (html: string): Facts => unpackFacts(page(html).facts)!;
const lines = (bytes: Uint8Array): string[] => Buffer.from(bytes).toString().split('\n');
const urls = (html: string): string[] => lines(page(html).links.urls);

test('links are resolved against the base, unique, and carry flags and anchors', () => {
  const { links, canonical } = page(
    `<base href="/base/"><link rel=canonical href=/the-page><link rel=alternate hreflang=de href=/de>
     <link rel=stylesheet href=style.css><a href="a.html#x"> First <b>anchor</b> </a><a href=mailto:x@y>mail</a>
     <a href="a.html" rel="nofollow">again</a><a rel="nofollow noopener" href=b.html>b</a><a href=""></a>
     <a rel=ugc href=c.html><img src=i.png alt="An &amp; image"></a><a href=//other.example/>o</a><iframe src=frame></iframe>`,
  );
  assert.deepEqual(lines(links.urls), [
    'http://example.org/the-page',
    'http://example.org/de',
    'http://example.org/base/a.html',
    'http://example.org/base/b.html',
    'http://example.org/base/c.html',
    'http://other.example/',
    'http://example.org/base/frame',
  ]);
  assert.deepEqual([...links.flags], [LINK_CANONICAL, LINK_ALTERNATE, 0, LINK_NOFOLLOW, 0, 0, 0]);
  assert.deepEqual(lines(links.anchors), ['', '', 'First anchor', 'b', 'An & image', 'o', '']);
  assert.equal(links.count, 7);
  assert.equal(links.fingerprints.length, 14);
  assert.equal(canonical, 'http://example.org/the-page');
});

test('an anchor has no line feeds and at most 120 characters', () => {
  const { links } = page(`<a href=x><p>one</p>\n<p>two<br>three</p>${'ö'.repeat(200)}</a><a href=y>y</a>`);
  const [first, second] = lines(links.anchors);
  assert.equal(first, `one two three ${'ö'.repeat(106)}`);
  assert.equal(second, 'y');
});

test('two references that normalise to one URL are one link, with the anchor that says something', () => {
  const { links } = page('<a href="./x.html"></a><a href="../folder/x.html">text</a><a href="x.html?">other</a>');
  assert.ok(lines(links.urls).includes('http://example.org/folder/x.html'));
  assert.equal(lines(links.anchors)[0], 'text');
});

test('a page with more links than the scanner holds at once has them all, once each, with anchors and flags', () => {
  const names = Array.from({ length: 25_000 }, (_, i) => `entry-${i}`);
  const html = names.map((name, i) => `<a ${i === 9 ? 'rel=nofollow ' : ''}href=${name}>${i} ö</a>`).join('\n');
  const { links, facts, title } = page(`<base href=/b/><title>Index</title>${html}<a href=entry-9>again</a>`);
  assert.deepEqual(
    lines(links.urls),
    names.map(name => `http://example.org/b/${name}`),
  );
  assert.deepEqual(
    lines(links.anchors),
    names.map((_, i) => `${i} ö`),
  );
  assert.equal(links.flags.length, names.length);
  assert.ok(
    links.flags.every(flag => flag === 0),
    'what one mention lets us follow may be followed',
  );
  const print = fingerprint('http://example.org/b/entry-24999', { high: 0, low: 0 });
  assert.deepEqual([...links.fingerprints.slice(-2)], [print.high, print.low]);
  assert.deepEqual({ urls: unpackFacts(facts)!.urls, title }, { urls: 25_001, title: 'Index' });
});

test('a page without end has 100,000 links and some', () => {
  const { links } = page(Array.from({ length: 120_000 }, (_, i) => `<A HREF=${i}>`).join(''));
  assert.ok(links.count >= 100_000 && links.count < 110_000, String(links.count));
  assert.equal(new Set(lines(links.urls)).size, links.count);
  const far = `<base href="/${'deep/'.repeat(800)}">${Array.from({ length: 60_000 }, (_, i) => `<a href=${i}>`).join('')}`;
  assert.ok(page(far).links.urls.length < 64e6, 'a long base does not make it as much longer');
});

test('entities in references and titles', () => {
  assert.deepEqual(urls('<a href="?a=1&amp;b=2&copy=3&#x26;d=4">'), [`${URL}?a=1&b=2&copy=3&d=4`]);
  assert.equal(page('<title>A &lt;b&gt; &eacute;&#8364;&#128;&hellip; &nosuch;</title>').title, 'A <b> é€€… &nosuch;');
});

test('title, language, refresh, images', () => {
  const found = page(
    `<html lang="en-GB"><title> Two\n words </title><meta http-equiv="Refresh" content="5; URL='next.html'">
     <nav><img src=logo.png></nav><img src=a.png><img data-src=b.png src="data:image/gif;base64,x"><img src=a.png>`,
  );
  assert.equal(found.title, 'Two words');
  assert.equal(found.language, 'en');
  assert.equal(found.refresh, 'http://example.org/folder/next.html');
  assert.deepEqual(
    found.images,
    ['logo', 'a', 'b'].map(name => `http://example.org/folder/${name}.png`),
  );
  assert.equal(page('<p>x', 'text/html', { 'content-language': 'de-AT, en' }).language, 'de');
});

test('robots rules of meta elements and of the header, for all and for us', () => {
  const flags = (html: string, header = ''): string => {
    const { noindex, nofollow, noarchive } = page(html, 'text/html', header ? { 'x-robots-tag': header } : {});
    return [noindex && 'index', nofollow && 'follow', noarchive && 'archive'].filter(Boolean).join(' ');
  };
  assert.equal(flags('<meta name="ROBOTS" content="NoIndex, nofollow">'), 'index follow');
  assert.equal(flags('<meta name=skein content=noarchive>'), 'archive');
  assert.equal(flags('<meta name=otherbot content=noindex>'), '');
  assert.equal(flags('<meta name=robots content=none>'), 'index follow');
  assert.equal(flags('', 'noindex'), 'index');
  assert.equal(flags('', 'otherbot: noindex, nofollow'), '');
  assert.equal(flags('', 'otherbot: noindex, skein: noarchive, unavailable_after: 25 Jun 2030'), 'archive');
});

test('visible text: blocks on lines, white space collapsed, what is hidden left out', () => {
  const html = `<title>T</title><script>no()</script><style>no</style><noscript>no</noscript><template>no</template>
    <h1> A  <i>b</i>c </h1><p>one<br>two&nbsp;three<svg><text>no</text></svg> four<div>five</div>six<textarea> <seven> </textarea>`;
  assert.equal(page(html).text(), 'T\nA bc\none\ntwo three four\nfive\nsix\n<seven>\n');
});

test('an empty object does not hide what follows it', () => {
  assert.equal(page('<p>one<object data=x /><p>two<noscript/><p>three').text(), 'one\ntwo\nthree\n');
});

test('a frame without an end hides no more than the noscript that it stands in', () => {
  const tracker = '<noscript><iframe src="https://track.test/ns?id=1" height="0" /></noscript>';
  assert.equal(page(`<head>${tracker}</head><p>one<p>two`).text(), 'one\ntwo\n');
  assert.equal(page(`<p>one${tracker.replace(' />', '>')}<p>two</p>`).text(), 'one\ntwo\n');
  assert.equal(page('<p>one<iframe src="/x"></noscript>no</iframe><p>two').text(), 'one\ntwo\n', 'in no noscript');
  const quoted = '<noscript><p>no</p></noscript><script>let a = "</noscript><p>no</p>"</script><p>one';
  assert.equal(page(quoted).text(), 'one\n');
});

test('the text lives on when the next page is analysed', () => {
  const first = page('<p>first');
  page('<p>second page with more text');
  assert.equal(first.text(), 'first\n');
});

test('counts: links, words, words that are no general words, levels', () => {
  const facts = factsOf(
    '<html><body><p>The cat and the dog</p><p>are on <a href=a>a</a> <a href=a>mat</a></p></body></html>',
  );
  assert.equal(facts.urls, 2);
  assert.equal(facts.words, 9);
  assert.equal(facts.keywords, 3);
  assert.deepEqual(facts.levels, [1, 1, 2, 2]);
});

test('sums of codes are those of the characters', () => {
  const text = 'Größe: 12 漢字 😀 naïve text, long enough to fill more than one step of sixteen bytes';
  const facts = factsOf(`<p>${text}</p>`);
  const codes = [...text].map(c => c.codePointAt(0)!);
  assert.equal(facts.textCode1, codes.reduce((a, b) => a + b, 0) / new Set(codes).size);
  assert.equal(
    facts.textCode2,
    textCode2(
      codes.reduce((a, b) => a + b * b, 0),
      codes.length,
    ),
  );
  assert.equal(
    facts.asciiSum,
    Buffer.from(`<p>${text}</p>`).reduce((a, b) => a + b, 0),
  );
});

test('simhash: near for texts that differ little, far for others, 0 without text', () => {
  const words = Array.from({ length: 400 }, (_, i) => `word${i * 7919}`);
  const distance = (a: bigint, b: bigint): number => [...(a ^ b).toString(2)].filter(bit => bit === '1').length;
  const one = factsOf(`<p>${words.join(' ')}`).simhash;
  const near = factsOf(`<p>${words.with(200, 'changed').join(' ')}`).simhash;
  const far = factsOf(`<p>${words.map(word => `x${word}`).join(' ')}`).simhash;
  assert.ok(distance(one, near) <= 6, `${distance(one, near)} bits`);
  assert.ok(distance(one, far) >= 16, `${distance(one, far)} bits`);
  assert.equal(factsOf('<img src=x>').simhash, 0n);
});

test('other types: XHTML as XML, feeds, plain text, and what is no text', () => {
  const xhtml = page(
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title><script/></head><body><p>a <![CDATA[<b>]]></p><a href="y"/>z</body></html>',
    'application/xhtml+xml',
  );
  assert.equal(xhtml.title, 'X');
  assert.equal(xhtml.text(), 'X\na <b>\nz\n');
  assert.deepEqual(lines(xhtml.links.urls), ['http://example.org/folder/y']);
  const plain = page('One line\nand another & <tag> &amp;\n\nNext', 'text/plain');
  assert.equal(plain.text(), 'One line\nand another & <tag> &amp;\nNext\n');
  assert.equal(plain.words, 7);
  const image = page(Uint8Array.of(1, 2, 3), 'image/png');
  assert.equal(image.links.count, 0);
  assert.equal(image.text(), '');
  assert.notDeepEqual(image.facts, page(Uint8Array.of(1, 2, 4), 'image/png').facts);
});

test('in the text of a feed a link and what follows it stand apart', () => {
  const item = (n: number) =>
    `<item><title>Item ${n}</title><link>http://a.org/${n}</link><guid>http://a.org/g${n}</guid><description>What ${n} says</description></item>`;
  const feed = page(`<?xml version="1.0"?><rss><channel>${item(1)}${item(2)}</channel></rss>`, 'application/rss+xml');
  const said = [1, 2].map(n => `Item ${n}\nhttp://a.org/${n}\nhttp://a.org/g${n}\nWhat ${n} says\n`).join('');
  assert.equal(feed.text(), said);
});

test('a page in another encoding gives the facts of the same page in UTF-8, but for its bytes', () => {
  const html = '<title>Größe</title><p>façade <a href="größe.html">x</a>';
  const other = page(Buffer.from(html, 'latin1'), 'text/html; charset=iso-8859-1');
  const same = page(html);
  assert.equal(other.title, same.title);
  assert.deepEqual(unpackFacts(other.facts)!.content, unpackFacts(same.facts)!.content);
  assert.deepEqual(other.links, same.links);
});

test('focused: what the anchor, the URL and the page say', () => {
  const html =
    '<p>All about geese.</p><a href=goose.html>geese</a><a href=/geese/x>there</a><a href=cars.html>cars</a>';
  const headers = new Map([['content-type', 'text/html']]);
  const relevance = analyse({ url: URL, headers, body: Buffer.from(html) }, { focus: ['Geese'] }).links.relevance;
  assert.ok(relevance[0]! > 150 && relevance[1]! > 150, String(relevance));
  assert.ok(relevance[2]! > 0 && relevance[2]! < 100, String(relevance));
  assert.deepEqual([...page(html).links.relevance], [0, 0, 0]);
});

test('2,000 malformed pages become pages', () => {
  const parts = [
    '<a href="http://[',
    '">',
    '<p>',
    '\0',
    '&#xd800;',
    '<base href="::">',
    '<meta charset=utf-16>',
    '漢',
    '<svg>',
  ];
  for (let seed = 1; seed <= 2000; seed++) {
    const random = randomly(seed);
    const body = seed % 2 ? random.bytes(300) : Buffer.from(random.text(parts, 20));
    const found = page(body, random.pick(['text/html', 'text/html; charset=utf-16le', 'text/plain', 'text/xml', '']));
    const facts = unpackFacts(found.facts)!;
    assert.deepEqual(packFacts(facts), found.facts, 'packed by the scanner as by us');
    assert.equal(facts.words, found.words);
    assert.equal(found.links.count, found.links.urls.length === 0 ? 0 : lines(found.links.urls).length);
    assert.equal(found.links.count, found.links.flags.length);
  }
});

test('a page shows no image that its facts deny', () => {
  const parts = [
    '<p>words',
    '<img>',
    '<img src="a.png">',
    '<img data-src="b.png">',
    '<svg>',
    '</svg>',
    '<a href="c.png">',
  ];
  let shown = 0;
  for (let seed = 1; seed <= 500; seed++) {
    const found = page(randomly(seed).text(parts, 4));
    const may = mayShowImages(found.facts);
    if (found.images.length > 0) assert.ok(may, String(seed));
    if (found.images.length > 0) shown++;
  }
  assert.ok(shown > 100 && shown < 500);
  assert.equal(mayShowImages(page('<p>Words and <a href="/x.png">a link</a>.').facts), false);
});
