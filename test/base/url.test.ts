import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topLevelDomain } from '../../src/base/domain.ts';
import {
  fingerprint,
  hostOf,
  LONGEST_URL,
  normalise,
  normalisePercent,
  originOf,
  resolver,
} from '../../src/base/url.ts';
import { randomly } from '../random.ts';
import { realLinks } from '../real-links.ts';

const cases: [string, string | undefined][] = [
  ['HTTP://Example.ORG', 'http://example.org/'],
  ['https://example.org:443/a', 'https://example.org/a'],
  ['http://example.org:8080/a', 'http://example.org:8080/a'],
  ['http://example.org/a/./b/../c', 'http://example.org/a/c'],
  ['http://example.org/a#top', 'http://example.org/a'],
  ['http://example.org/?#top', 'http://example.org/'],
  ['http://example.org/a?', 'http://example.org/a'],
  ['http://example.org/%7euser/%e3%83%84/%2F', 'http://example.org/~user/%E3%83%84/%2F'],
  ['http://example.org/%2e%2E/x%2Ey', 'http://example.org/x.y'],
  ['http://example.org/ツ', 'http://example.org/%E3%83%84'],
  ['http://bücher.example/', 'http://xn--bcher-kva.example/'],
  ['http://user:secret@example.org/a', 'http://example.org/a'],
  ['http://example.org./a', 'http://example.org/a'],
  ['http://u@example.org.:81/a', 'http://example.org:81/a'],
  ['http://1.2.3../', 'http://1.2.0.3/'],
  ['http://./', undefined],
  ['http://example.org/100%', 'http://example.org/100%'],
  ['http://example.org/%%32E', 'http://example.org/%%32E'],
  ['http://example.org/a\nb', 'http://example.org/ab'],
  ['http://[::1]:8080/', 'http://[::1]:8080/'],
  ['mailto:a@example.org', undefined],
  ['javascript:void(0)', undefined],
  ['ftp://example.org/', undefined],
  ['http://', undefined],
  ['not a url', undefined],
  ['http://h/p?b=2&utm_source=x&a=1', 'http://h/p?b=2&a=1'],
  ['http://h/p?UTM_Source=x', 'http://h/p'],
  ['http://h/p?a=1&gclid=x', 'http://h/p?a=1'],
  ['http://h/p?fbclid=x&a=1&msclkid=2&mc_eid=3', 'http://h/p?a=1'],
  ['http://h/p?u%74m_medium=x&a', 'http://h/p?a'],
  ['http://h/p?PHPSESSID=0123&a=1', 'http://h/p?a=1'],
  ['http://h/p;jsessionid=0A1B?x=1', 'http://h/p?x=1'],
  ['http://h/a/..;jsessionid=1/b', 'http://h/b'],
  ['http://h/a;JSESSIONID=1;v=2/b', 'http://h/a;v=2/b'],
  ['http://h/p?sid=9f3a77c2e1&x=1', 'http://h/p?x=1'],
  ['http://h/story?sid=42', 'http://h/story?sid=42'],
  ['http://h/story?sid=politics', 'http://h/story?sid=politics'],
  ['http://h/p?gcl=1&session=', 'http://h/p?gcl=1&session='],
];

test('the normal form', () => {
  for (const [from, to] of cases) assert.equal(normalise(from), to, from);
});

test('relative references, with dots, queries and fragments', () => {
  const base = 'http://h/a/b/c.html?x=1';
  const resolve = resolver(base);
  const table: [string, string | undefined][] = [
    ['d.html', 'http://h/a/b/d.html'],
    ['../d.html#x', 'http://h/a/d.html'],
    ['./../../../../d', 'http://h/d'],
    ['..', 'http://h/a/'],
    ['.', 'http://h/a/b/'],
    ['', 'http://h/a/b/c.html?x=1'],
    ['#x', 'http://h/a/b/c.html?x=1'],
    ['?y=2', 'http://h/a/b/c.html?y=2'],
    ['?', 'http://h/a/b/c.html'],
    ['/r', 'http://h/r'],
    ['//other.org/r', 'http://other.org/r'],
    ['//OTHER.org:80', 'http://other.org/'],
    ['http:d', 'http://h/a/b/d'],
    ['https:d', 'https://d/'],
    ['tel:123', undefined],
    ['a:b', undefined],
    ['1:b', 'http://h/a/b/1:b'],
    [' d ', 'http://h/a/b/d'],
  ];
  for (const [href, url] of table) {
    assert.equal(resolve(href), url, href);
    assert.equal(normalise(href, base), url, href);
  }
});

const pieces = [
  ...[
    'a',
    'B',
    'page',
    'index.html',
    '.',
    '..',
    '...',
    '.x',
    '/',
    '//',
    '///',
    '\\',
    '?',
    '#',
    '&',
    '=',
    ';',
    ':',
    '@',
    '%',
    '%2',
    '%2e',
    '%2F',
  ],
  ...[
    '%7e',
    '%41',
    '%zz',
    '%%34',
    ' ',
    '\t',
    '\n',
    '\r\n',
    "'",
    '"',
    '<',
    '>',
    '|',
    '^',
    '`',
    '{',
    '}',
    '[',
    ']',
    '+',
    '~',
    '*',
    '$',
    ',',
    '!',
    '(',
  ],
  ...[
    'http:',
    'https:',
    'http://',
    'HTTPS://',
    'ftp://',
    'mailto:',
    'javascript:',
    'data:',
    'example.org',
    'Example.ORG.',
    '1.2.3',
    '0x7f.1',
    '[::1]',
  ],
  ...[
    ':80',
    ':443',
    ':8080',
    ':99999',
    'user:pw@',
    'utm_source=x',
    'sid=abc123def',
    'gclid',
    ';jsessionid=12',
    'é',
    'ツ',
    '\ud800',
    '\u00ad',
    '\u3002',
  ],
];

test('normalising twice changes nothing, and the result is clean ASCII: 50,000 generated references', () => {
  const random = randomly(7);
  const bases = [
    'http://example.org/a/b/c.html?q=1',
    'https://h:8443/',
    'http://h/a//b/%7Ex/',
    'http://h/;v=1/x',
    'http://h/x/..;jsessionid=1/y',
  ];
  const resolvers = bases.map(base => resolver(base));
  let valid = 0;
  for (let i = 0; i < 50_000; i++) {
    const href = random.text(pieces, 1 + random.below(7));
    const which = i % bases.length;
    const url = normalise(href, bases[which]);
    assert.equal(resolvers[which]!(href), url, JSON.stringify([bases[which], href]));
    if (url === undefined) continue;
    valid++;
    assert.equal(normalise(url), url, JSON.stringify(href));
    assert.match(url, /^https?:\/\/[!-"$-~]+$/, JSON.stringify(href));
    assert.equal(originOf(url), new URL(url).origin);
    assert.equal(hostOf(url), new URL(url).hostname);
  }
  assert.ok(valid > 20_000, `only ${valid} were URLs`);
});

test('10,000 malformed inputs neither throw nor hang', () => {
  const random = randomly(11);
  for (let i = 0; i < 10_000; i++) {
    const href = random.garbage(120);
    const url = normalise(href);
    if (url !== undefined) assert.equal(normalise(url), url);
    normalise(href, 'http://h/a');
    resolver(href)(random.garbage(20));
    normalisePercent(href);
  }
});

test('the resolver agrees with the parser on links of real pages', t => {
  const links = realLinks(6000);
  if (links === undefined) return t.skip('../shared/data/dev is not there');
  assert.ok(links.length > 10_000, `${links.length} links`);
  const resolvers = new Map<string, (href: string) => string | undefined>();
  for (const [base, href] of links) {
    let resolve = resolvers.get(base);
    if (resolve === undefined) resolvers.set(base, (resolve = resolver(base)));
    assert.equal(resolve(href), normalise(href, base), `${href} at ${base}`);
  }
});

test('a changed bit changes half of the fingerprint', () => {
  const random = randomly(3);
  const one = { high: 0, low: 0 };
  const two = { high: 0, low: 0 };
  const flips = new Float64Array(64);
  const trials = 40_000;
  for (let i = 0; i < trials; i++) {
    const url = `http://h/${random.text('abcdefghijklmnopqrstuvwxyz0123456789/-_'.split(''), 1 + random.below(60))}`;
    const at = random.below(url.length);
    const code = url.charCodeAt(at) ^ (1 << random.below(7));
    fingerprint(url, one);
    fingerprint(url.slice(0, at) + String.fromCharCode(code) + url.slice(at + 1), two);
    for (let bit = 0; bit < 32; bit++) {
      flips[bit]! += ((one.high ^ two.high) >>> bit) & 1;
      flips[bit + 32]! += ((one.low ^ two.low) >>> bit) & 1;
    }
  }
  // Five standard deviations of a fair coin.
  const slack = 5 * Math.sqrt(trials / 4);
  flips.forEach((count, bit) => {
    assert.ok(Math.abs(count - trials / 2) < slack, `bit ${bit} flips ${count} times of ${trials}`);
  });
});

test('2,000,000 similar URLs have 2,000,000 fingerprints, evenly spread', () => {
  const count = 2_000_000;
  const all = new BigUint64Array(count);
  const halves = new Uint32Array(all.buffer);
  const out = { high: 0, low: 0 };
  const buckets = { high: new Uint32Array(1024), low: new Uint32Array(1024) };
  for (let i = 0; i < count; i++) {
    const n = i >> 2;
    const url = [
      `http://h/p/${n}`,
      `http://h/p?id=${n}&x=0`,
      `http://s${n % 1000}.example/a/${n}/b`,
      `https://h/${n}.html`,
    ][i & 3]!;
    fingerprint(url, out);
    halves[i * 2] = out.low;
    halves[i * 2 + 1] = out.high;
    buckets.high[out.high & 1023]!++;
    buckets.low[out.low >>> 22]!++;
  }
  all.sort();
  for (let i = 1; i < count; i++) if (all[i] === all[i - 1]) assert.fail('two URLs share a fingerprint');
  for (const counts of [buckets.high, buckets.low]) {
    const expected = count / 1024;
    const chi = counts.reduce((sum, seen) => sum + (seen - expected) ** 2 / expected, 0);
    assert.ok(chi < 1023 + 6 * Math.sqrt(2 * 1023), `chi square ${chi}`);
  }
});

test('fingerprints are stored, so they stay what they are', () => {
  const out = { high: 0, low: 0 };
  assert.deepEqual(fingerprint('http://example.org/', out), { high: 1266342541, low: 1191890185 });
  // Longer than the buffer it is read through, and the same prefix.
  const long = `http://example.org/${'abcdefgh'.repeat(600)}`;
  const { high, low } = fingerprint(long, { high: 0, low: 0 });
  assert.notDeepEqual(fingerprint(`${long}x`, out), { high, low });
  assert.notDeepEqual(fingerprint(`${long.slice(0, -1)}x`, out), { high, low });
  assert.deepEqual(fingerprint(long, out), { high, low });
});

test('what is too long is no URL, as a base and as a link, before and after escaping', () => {
  const long = `http://example.org/${'a/'.repeat(LONGEST_URL)}`;
  assert.equal(normalise(long), undefined);
  assert.equal(normalise('/x', long.slice(0, LONGEST_URL)), 'http://example.org/x');
  for (const href of ['a'.repeat(LONGEST_URL), 'é'.repeat(LONGEST_URL / 3), `?${'b'.repeat(LONGEST_URL - 10)}`]) {
    assert.equal(normalise(href, 'http://example.org/'), undefined, href.slice(0, 10));
    assert.equal(resolver('http://example.org/')(href), undefined, href.slice(0, 10));
  }
  const fits = `http://example.org/${'a'.repeat(LONGEST_URL - 19)}`;
  assert.equal(normalise(fits), fits);
  assert.equal(resolver('http://example.org/x')('a'.repeat(LONGEST_URL - 19)), fits);
});

test('top-level domains', () => {
  assert.equal(topLevelDomain('www.example.co.uk'), 'uk');
  assert.equal(topLevelDomain('127.0.0.1'), '');
  assert.equal(topLevelDomain('[2001:db8::1.2.3.4]'), '');
  assert.equal(topLevelDomain('localhost'), '');
});
