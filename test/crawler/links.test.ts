import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fingerprint, fingerprint, normalise } from '../../src/base/url.ts';
import { analyse } from '../../src/crawler/analysis/analyse.ts';
import { randomly } from '../random.ts';
import { realLinks } from '../real-links.ts';

/** URLs and fingerprints that analysis finds on a page at `base` with these links. */
function analysed(base: string, hrefs: readonly string[]): [string, number, number][] {
  const html = hrefs.map(href => `<a href="${href.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">x</a>`).join('');
  const { links } = analyse({
    url: base,
    headers: new Map([['content-type', 'text/html; charset=utf-8']]),
    body: Buffer.from(html),
  });
  const urls = links.count === 0 ? [] : Buffer.from(links.urls).toString().split('\n');
  return urls.map((url, i) => [url, links.fingerprints[i * 2]!, links.fingerprints[i * 2 + 1]!]);
}

/** The same by the URL parser alone; references without more than a fragment are no links. */
function parsed(base: string, hrefs: readonly string[]): [string, number, number][] {
  const found = new Map<string, [string, number, number]>();
  for (const href of hrefs) {
    const bare = href
      .replace(/[\t\n\r]/g, '')
      .replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '')
      .replace(/#.*$/s, '');
    const url = bare === '' || bare.length > 8192 ? undefined : normalise(bare, base);
    if (url === undefined) continue;
    const print: Fingerprint = fingerprint(url, { high: 0, low: 0 });
    if (!found.has(url)) found.set(url, [url, print.high, print.low]);
  }
  return [...found.values()];
}

const bases = [
  'http://example.org/',
  'https://example.org/page.html',
  'http://example.org:8080/a/b/c/d.html?q=1',
  'http://example.org/a%20b/c.html',
  'http://example.org/a/.hidden/c',
  'http://127.0.0.1:3000/x/y/',
  'http://[::1]/x/',
];

const parts = [
  'a',
  'b.html',
  '/',
  '//',
  '.',
  '..',
  './',
  '../',
  '-_~',
  '%20',
  '%2e',
  '?x=1',
  '&y',
  ';j',
  ':',
  '@',
  '(1)',
  '+',
  'É',
  '\\',
  '#f',
  ' ',
  'http://example.org/',
  'https://',
  "'",
  '$!*,=',
];

test('the scanner resolves as the URL parser does, and gives the same fingerprints', () => {
  for (let seed = 1; seed <= 400; seed++) {
    const random = randomly(seed);
    const base = random.pick(bases);
    const hrefs = Array.from({ length: 25 }, () => random.text(parts, 1 + random.below(6)));
    assert.deepEqual(analysed(base, hrefs), parsed(base, hrefs), `seed ${seed}`);
  }
});

test('… on the links of real pages', t => {
  const links = realLinks(3000);
  if (links === undefined) return t.skip('no ../shared/data/dev');
  const pages = Map.groupBy(links, ([page]) => page);
  for (const [page, found] of pages) {
    const hrefs = found.map(([, href]) => href);
    assert.deepEqual(analysed(page, hrefs), parsed(page, hrefs), page);
  }
});

/** URLs that are found in this markup. */
function linksIn(html: string): string[] {
  const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
  const { links } = analyse({ url: 'https://a.org/', headers, body: Buffer.from(html) });
  return links.count === 0 ? [] : Buffer.from(links.urls).toString().split('\n').sort();
}

test('links in drawings are found, however they are written', () => {
  assert.deepEqual(
    linksIn('<svg><a href="/1"><path d="M0"/></a><g><a xlink:href="/2"><text>x</text></a></g></svg><a href=/3>y</a>'),
    ['https://a.org/1', 'https://a.org/2', 'https://a.org/3'],
  );
  assert.deepEqual(
    linksIn(
      '<svg><foreignObject><div><a href="/in">x</a></div></foreignObject><path d="M1"/></svg><a href="/out">y</a>',
    ),
    ['https://a.org/in', 'https://a.org/out'],
  );
});

test('a drawing that is never closed ends where the page goes on', () => {
  assert.deepEqual(
    linksIn('<body><svg><path d="M0"><div><a href="/1">x</a><p><img src="/i.png"></div><a href="/2">y</a>'),
    ['https://a.org/1', 'https://a.org/2'],
  );
  const { title, text } = analysedText(
    '<title>T</title><svg><rect><p>visible words<svg><text>drawn</text></svg> after',
  );
  assert.equal(title, 'T');
  assert.match(text, /visible words/);
  assert.match(text, /after/);
  assert.doesNotMatch(text, /drawn/);
});

function analysedText(html: string): { title: string; text: string } {
  const headers = new Map([['content-type', 'text/html; charset=utf-8']]);
  const page = analyse({ url: 'https://a.org/', headers, body: Buffer.from(html) });
  return { title: page.title, text: page.text() };
}

test('a page of very many links takes none from comments, scripts or attributes', () => {
  let html = '<body>';
  const wanted: string[] = [];
  for (let i = 0; i < 14_000; i++) {
    wanted.push(`https://a.org/${i}`);
    html += `<p><a href="/${i}" title="a > b">${i}</a>`;
    if (i % 700 === 0) {
      html += `<!-- ${'<a href="/commented">x</a> '.repeat(3000)} -->`;
      html += `<script>${`document.write('<a href="/scripted">x</a>'); `.repeat(2500)}</script>`;
      html += `<p title='<!-- <a href="/quoted">'>`;
    }
  }
  assert.deepEqual(linksIn(html), wanted.sort());
});
