import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Fingerprint, fingerprint, normalise } from '../../src/base/url.ts';
import { analyse } from '../../src/crawler/analyse.ts';
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
