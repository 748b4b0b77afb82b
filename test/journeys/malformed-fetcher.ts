/**
 * A web of nonsense without sockets, loaded by an outpost's thread: whatever is asked for is answered with HTML,
 * headers, robots.txt and sitemaps that are broken in ways drawn from a seed. Each host's root leads to all its pages.
 */
import { gzipSync } from 'node:zlib';
import type { Answer, Ask, Fetcher } from '../../src/crawler/stages.ts';
import { type Random, randomly } from '../random.ts';

export interface MalformedOptions {
  readonly seed: number;
  readonly pagesPerHost: number;
}

const PIECES = [
  ...['<', '>', '</', '<!--', '-->', '<![CDATA[', ']]>', '<!DOCTYPE', '<a href=', '<a href="', '" ', "'", '&#', '&#x'],
  ...['&amp', '&#0;', '&#x110000;', '&nosuch;', '\u0000', '\u001b[31m', '\u009b2J', '\u202e', '\r\n', '\n', '\t', ' '],
  ...['<title>', '</title>', '<script>', '</script', '<style>', '<textarea>', '<base href=', '<base href="//">', '<p>'],
  ...[
    '<meta charset=',
    '<meta charset="utf-7">',
    '<meta http-equiv=refresh content="0;url=',
    '<link rel=canonical href=',
  ],
  ...['<meta name=robots content="', 'noindex', '<img src=', '<svg>', '<table><tr><td>', '<div id=x>', '</div></div>'],
  ...[
    'http://',
    'https://[::1',
    'http://a b/',
    'javascript:alert(1)',
    'data:,',
    'mailto:a@b',
    '//x..y/',
    'http://%zz/',
  ],
  ...[
    'http://1.2.3.4.5/',
    'http://xn--/',
    'http://\u00fc\u0308.test/',
    '../../../..',
    '?&&==&',
    '#',
    '%',
    '%u0041',
    '\ud800',
  ],
];
const TYPES = [
  'text/html',
  'text/html; charset="',
  'TEXT/HTML;;;',
  'application/xhtml+xml',
  '',
  'text',
  'image/png',
  '\u001b[7m/x',
];
const LINES = [
  'User-agent',
  'Disallow',
  'Allow',
  'Sitemap',
  'Crawl-delay',
  '',
  ':',
  '#',
  'User-agent: skein',
  'Crawl-delay: -1e999',
];

export function makeFetcher(options: MalformedOptions): Fetcher {
  return {
    fetch: ask => new Promise(resolve => setImmediate(() => resolve(answerTo(options, ask)))),
    release: () => {},
    close: async () => {},
  };
}

function answerTo(options: MalformedOptions, ask: Ask): Answer {
  const random = randomly(hashOf(ask.url) ^ options.seed);
  const path = ask.url.slice(ask.url.indexOf('/', 8));
  const sitemap = path.includes('sitemap');
  const robots = path === '/robots.txt';
  const text = robots ? robotsText(random) : sitemap ? sitemapText(random) : htmlText(random);
  const links = path === '/' ? pages(options.pagesPerHost) : '';
  let body: Uint8Array = Buffer.from(links + text, random.pick(['utf8', 'utf8', 'latin1', 'utf16le'] as const));
  const headers = new Map<string, string>();
  const well = robots || path === '/';
  headers.set('content-type', well ? 'text/html' : random.pick(TYPES));
  if (well) body = Buffer.from(links + text);
  else addOddHeaders(random, headers);
  if (random.below(8) === 0) {
    headers.set('content-encoding', random.pick(['gzip', 'br', 'zstd', 'deflate', 'gzip, gzip', 'x-nothing', ',']));
    if (random.below(2) === 0) body = gzipSync(body).subarray(0, random.below(200));
  }
  const status = well ? 200 : random.pick([200, 200, 200, 200, 200, 200, 206, 301, 302, 304, 404, 500, 204, 999]);
  return response(ask, status, headers, body);
}

function addOddHeaders(random: Random, headers: Map<string, string>): void {
  const names = [
    'location',
    'etag',
    'last-modified',
    'x-robots-tag',
    'content-language',
    'retry-after',
    'link',
    'date',
  ];
  for (let i = random.below(6); i > 0; i--) {
    // As the reader of heads gives them: no line ends, any other byte.
    headers.set(random.pick(names), random.text(PIECES, random.below(6)).replace(/[\r\n\0]/g, ''));
  }
}

function pages(count: number): string {
  return Array.from({ length: count }, (_, page) => `<a href="/p/${page}">${page}</a>`).join('\n');
}

function htmlText(random: Random): string {
  if (random.below(10) === 0) return random.pick(PIECES).repeat(random.below(20_000));
  return random.text(PIECES, random.below(400)) + random.garbage(200);
}

function robotsText(random: Random): string {
  const line = () =>
    `${random.pick(LINES)}${random.pick([':', '', ' : ', ':::'])} ${random.text(PIECES, random.below(3))}`;
  return `Sitemap: /sitemap-${random.below(1e6)}.xml\n${Array.from({ length: random.below(30) }, line).join(random.pick(['\n', '\r', '\r\n']))}`;
}

function sitemapText(random: Random): string {
  const parts = [
    '<urlset>',
    '<url>',
    '<loc>',
    '</loc>',
    '</url>',
    '<sitemapindex>',
    '<sitemap>',
    '<lastmod>',
    '9999-99-99',
  ];
  const entities = [
    '<!DOCTYPE x [<!ENTITY a "&b;&b;"><!ENTITY b "&a;">]>',
    '&a;',
    '<?xml version="1.0"?>',
    '/p/1',
    'http://',
  ];
  return random.text([...parts, ...entities, ...PIECES], random.below(200));
}

function response(ask: Ask, status: number, headers: Map<string, string>, body: Uint8Array): Answer {
  const head = [`HTTP/1.1 ${status} Odd`, ...[...headers].map(([name, value]) => `${name}: ${value}`), '', ''].join(
    '\r\n',
  );
  return {
    ...{ kind: 'response', status, headers, protocol: 'http/1.1', address: '192.0.2.1' },
    head: Buffer.from(head),
    requestHead: Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    body: body.length > ask.maxBytes ? body.subarray(0, ask.maxBytes) : body,
    wire: { up: 20, down: head.length + body.length, firstByte: 1, total: 1 },
  };
}

function hashOf(text: string): number {
  let hash = 7;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}
