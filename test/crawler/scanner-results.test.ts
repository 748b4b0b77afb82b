/**
 * The ledger keeps what the scanner found, so a scanner that finds something else makes every page look changed once.
 * Faster is welcome, different is not: these digests are of all that it gives for generated pages. Whoever changes them
 * on purpose says so in CHANGELOG.md.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { lent } from '../../src/base/borrowed.ts';
import { at, type Mode, Scanner } from '../../src/crawler/scanner/scanner.ts';
import { randomly } from '../random.ts';
import { blocksOf, LINK_WORDS, levelsOf, linksOf, longOf } from './scanner-memory.ts';

const markup = [
  ...['<p>', '</p>', '<div class="a b" id=c>', '</div>', '<DIV\nCLASS=x >', '</div a="b>c">', '<li>', '<h1>', '</h1>'],
  ...['<tr><td>1<td class=x>2', '<table><tr><td>', '</table>', '<dt>', '<dd>', '<option>', '<br>', '<br/>', '<td/>'],
  ...['<b>', '</b>', '<code>', '</code>', '<i title="a > b">', '</i>', '<span class="col-first even-row-color">'],
  ...['<nav>', '</nav>', '<main>', '</main>', '<footer>', '<div role=navigation>', '<div class="ad-banner">'],
  ...['<div class="ad">', '<i id="timestamp">', '<span class="last-updated">', '<p class="ads">', '<p class="a"b="c">'],
  ...['<a href="one.html">', '<a href="../two.html#x">', '<a rel=nofollow href=three>', '<a href="?sid=1&amp;b=2">'],
  ...['<a href=" f&#10;our ">', '<a href="/5/0123456789abcdef0">', '<a href="漢字">', '<a href="mailto:x@y">', '</a>'],
  ...['<img src="a.png?1" alt="x &amp; y">', '<img src=data:abc>', '<img data-src="b-deadbee1.png" srcset="c 2x">'],
  ...['<script>a < b</script>', '<style>', '</style>', '<textarea>', '</textarea>', '<title>T &lt; U</title>', '<svg>'],
  ...['<path d="M1 2"/>', '</svg>', '<object>', '</object>', '<object/>', '<noscript>', '</noscript>', '<!-- x -->'],
  ...[
    '<!--',
    '-->',
    '<![CDATA[ & ]]>',
    '<?x y?>',
    '<!doctype html>',
    '<x:y a=b>',
    '</x:y>',
    '<',
    '</',
    '<a href="',
    "<b c='",
  ],
  ...[
    '<abcdefghijklmnop=x>',
    '<a-name-of-many-letters b>',
    '</a-name-of-many-letters>',
    '<html lang=en>',
    '<base href=/b/>',
    '<meta name=robots content="none">',
    '<link rel=canonical href=/c>',
    '<div\0\x0b>',
  ],
];

const text = [
  ...[
    'word',
    ' ',
    '\n',
    '\t\r\n  ',
    ', ',
    'a',
    'I',
    'of the ',
    'characters ',
    'An_identifier0 ',
    'sixteen-or-more bytes. ',
  ],
  ...[
    'A sentence of quite a few words that goes on beyond the sixty-four bytes which are read at once. ',
    '123 ',
    '\x01',
  ],
  ...['averyveryverylongwordthatgoesonandonbeyondsixtyfourbyteswithoutasingleblankinsideofitandonandon'],
  ...['&amp;', '&nbsp;', '\u00a0', '&eacute;', '&copy 2019 ', '&unknown;', '&#65;', '&#x1f600;', '&#150;', '&', '&#'],
  ...['Last updated on 5 May 2020 at 10:15. ', 'as of 2020-05-05 ', 'an hour ago ', 'vor 3 Tagen ', '1,234 views '],
  ...[
    'commit 1234567 ',
    'deadbeef01 ',
    '2024-01-01T10:00:00Z ',
    '更新 ',
    '2020年5月25日 ',
    'last ',
    'update ',
    'May ',
    '© ',
  ],
  ...['ünïcödé ', '漢字', 'é', '\u{1f600}', '\u2014', '3日前 ', 'обновлено 5 мая '],
];

/** Pages of both, sometimes cut, sometimes with bytes that are no text. */
function page(seed: number): Uint8Array {
  const random = randomly(seed);
  let whole = '';
  for (let i = random.below(60); i >= 0; i--) whole += random.pick(random.below(3) === 0 ? markup : text);
  const bytes = Buffer.from(whole);
  if (seed % 5 === 0) for (let i = random.below(8); i > 0; i--) bytes[random.below(bytes.length)] = random.below(256);
  return seed % 7 === 0 ? bytes.subarray(0, random.below(bytes.length + 1)) : bytes;
}

const COUNTS = [
  ...(['distinctCodes', 'urls', 'words', 'keywords', 'tagFirst', 'tagLast', 'structure', 'imageHash'] as const),
  ...(['robots', 'ascii', 'title', 'titleEnd', 'base', 'baseEnd', 'language', 'languageEnd'] as const),
];

/** All that a scan gives, one after another. Addresses depend on the page's length alone, so they may be part of it. */
function everything(scan: Scanner): readonly Uint8Array[] {
  scan.resolveLinks('http://docs.test/api/lang/', 16);
  const links = linksOf(scan);
  // Words 5 to 7 are the scanner's own.
  const told = links.filter((_, i) => i % LINK_WORDS < 5 || i % LINK_WORDS > 7);
  const urls: Uint8Array[] = [];
  for (let at = 0; at < links.length; at += LINK_WORDS) urls.push(lent(scan.bytes(links[at + 8]!, links[at + 9]!)));
  const numbers = Array.from({ length: 7 }, (_, i) => longOf(scan, i));
  const levels = levelsOf(scan);
  const images = Array.from({ length: scan.get(at.images) * 2 }, (_, i) => scan.image(i >> 1, i & 1));
  const counts = COUNTS.map(name => scan.get(at[name]));
  return [
    Buffer.from(JSON.stringify([numbers.map(String), levels, images, counts, [...told], [...blocksOf(scan)]])),
    lent(scan.bytes(scan.get(at.text), scan.get(at.textEnd))),
    lent(scan.bytes(scan.get(at.canon), scan.get(at.canonEnd))),
    lent(scan.bytes(scan.get(at.references), scan.get(at.referencesEnd))),
    lent(scan.bytes(scan.get(at.anchors), scan.get(at.anchorsEnd))),
    ...urls,
  ];
}

const digests: Readonly<Record<Mode, string>> = {
  html: 'c7ef512e0968b31f60d2c24a2d919aa8',
  xml: '3f60a9f1c7e1486be8d766f4f8fa7bfb',
  plain: '3f57e28efd07f16ff45ca3713b96bf3b',
};

for (const [mode, expected] of Object.entries(digests) as [Mode, string][]) {
  test(`what the scanner finds on generated pages is what it always found: ${mode}`, () => {
    const scan = new Scanner();
    const digest = createHash('sha256');
    for (let seed = 1; seed <= 4000; seed++) {
      scan.scan(page(seed), mode);
      for (const part of everything(scan)) digest.update(part);
    }
    assert.equal(digest.digest('hex').slice(0, 32), expected);
  });
}

test('… nor do many blocks, tags and words on one page make a difference', () => {
  const scan = new Scanner();
  const digest = createHash('sha256');
  for (let first = 1; first <= 4000; first += 400) {
    const pages = Array.from({ length: 400 }, (_, i) => page(first + i));
    // Each ends what it left open.
    const end = Buffer.from('\'">--></script></style></textarea></title></html><html>');
    scan.scan(Buffer.concat(pages.flatMap(one => [one, end])), 'html');
    for (const part of everything(scan)) digest.update(part);
  }
  assert.equal(digest.digest('hex').slice(0, 32), '6e329c5f26dda63b02091fa4134cf6a4');
});

test('of long tags that differ only in their middle none is taken for another', () => {
  const start = '<div class="a-name-that-goes-on-beyond-thirty-two-bytes-of-a-tag ';
  const end = ' and-another-name-that-goes-on-beyond-thirty-two-bytes">';
  const pageOf = (middle: string): Buffer => Buffer.from(`${start}${middle}${end}one</div><p>two`);
  const canonical = (scan: Scanner, body: Buffer): string => {
    scan.scan(body, 'html');
    return lent(scan.bytes(scan.get(at.canon), scan.get(at.canonEnd))).toString('latin1');
  };
  const used = new Scanner();
  for (const middle of ['adslot', 'abslot', 'adslot', 'abslots', 'adslot">x<b title="']) {
    assert.equal(canonical(used, pageOf(middle)), canonical(new Scanner(), pageOf(middle)), middle);
  }
  assert.notEqual(canonical(used, pageOf('adslot')), canonical(used, pageOf('abslot')));
});

test('the last word of a page says nothing of the first word of the next', () => {
  const facts = (scan: Scanner): unknown => {
    scan.scan(Buffer.from('<p>update 5 May 2020'), 'html');
    return lent(scan.bytes(scan.get(at.canon), scan.get(at.canonEnd))).toString();
  };
  const used = new Scanner();
  used.scan(Buffer.from('<p>at last'), 'html');
  assert.equal(facts(used), facts(new Scanner()));
});
