import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Parser } from 'htmlparser2';
import { entriesOf, historiesAvailable, openBlobs } from '../../bench/histories.ts';
import { buildScanner, LAYOUT_FILE, WASM_FILE } from '../../src/crawler/scanner/build.ts';
import { layoutSource, regions } from '../../src/crawler/scanner/layout.ts';
import { at, MAX_SCAN, Scanner } from '../../src/crawler/scanner/scanner.ts';
import { randomly } from '../random.ts';
import { levelsOf, longOf } from './scanner-memory.ts';

const scanner = new Scanner();

test('the committed module is what the sources give, and imports nothing', async () => {
  const committed = readFileSync(WASM_FILE);
  assert.ok(Buffer.from(await buildScanner()).equals(committed), 'run npm run build:scanner');
  assert.deepEqual(WebAssembly.Module.imports(new WebAssembly.Module(committed)), []);
});

test('no two regions of its memory overlap, and the module has the same map', () => {
  assert.equal(readFileSync(LAYOUT_FILE, 'utf8'), layoutSource(), 'run npm run build:scanner');
  const all = Object.entries(regions).sort(([, a], [, b]) => a.at - b.at);
  for (const [i, [name, { at, bytes }]] of all.slice(0, -1).entries()) {
    const [next, { at: end }] = all[i + 1]!;
    assert.ok(at + bytes <= end, `${name} reaches into ${next}`);
  }
});

test("the compiler's own data stays in its region", () => {
  const { at, bytes } = regions.STATIC;
  for (const { from, length } of dataSegments(readFileSync(WASM_FILE))) {
    assert.ok(from >= at && from + length <= at + bytes, `${length} bytes at ${from}`);
  }
});

/** Where a module puts its data: the active segments of section 11, each at a constant address. */
function dataSegments(module: Uint8Array): { from: number; length: number }[] {
  let at = 8;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = module[at++]!;
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < module.length) {
    const section = module[at++]!;
    const size = number();
    if (section !== 11) at += size;
    else
      return Array.from({ length: number() }, () => {
        assert.deepEqual([number(), module[at++]], [0, 0x41], 'an active segment at a constant');
        const from = number(); // addresses below 2^31 - 2^27 read the same signed or not, in as many bytes
        assert.equal(module[at++], 0x0b);
        const length = number();
        at += length;
        return { from, length };
      });
  }
  return [];
}

interface Reading {
  readonly hrefs: readonly string[];
  readonly tags: number;
  readonly title: string;
}

const scheme = /^\s*([a-z]+):/i;

/** What the scanner keeps of an href: no fragment, only what leads to a page. */
function reference(href: string): string | undefined {
  const plain = href
    .replace(/[\t\n\r]/g, '')
    .replace(/^[\x00-\x20]+|[\x00-\x20]+$/g, '')
    .replace(/#.*$/s, '');
  const found = scheme.exec(plain)?.[1]?.toLowerCase();
  if (plain === '' || plain.length > 8192 || (found !== undefined && found.length < 12 && !/^https?$/.test(found)))
    return undefined;
  return plain;
}

function hrefOf(name: string, attributes: Readonly<Record<string, string>>): string | undefined {
  if (name === 'a' || name === 'area') return attributes['href'];
  if (name === 'frame' || name === 'iframe') return attributes['src'];
  const leads = /(?:^|\s)(?:canonical|alternate|next|prev)(?:\s|$)/i.test(attributes['rel'] ?? '');
  return name === 'link' && leads ? attributes['href'] : undefined;
}

/** The oracle: htmlparser2, which passes the tokenizer tests of html5lib. */
function parse(html: string): Reading {
  const hrefs = new Set<string>();
  let tags = 0;
  let title: string | undefined;
  let inTitle = false;
  let svg = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes, implied) {
        if (implied) return;
        tags++;
        if (name === 'svg') svg++;
        if (name === 'title' && svg === 0 && title === undefined) {
          title = '';
          inTitle = true;
        }
        const href = svg > 0 ? undefined : hrefOf(name, attributes);
        const kept = href === undefined ? undefined : reference(href);
        if (kept !== undefined) hrefs.add(kept);
      },
      ontext(text) {
        if (inTitle) title += text;
      },
      onclosetag(name) {
        if (name === 'svg') svg--;
        if (name === 'title') inTitle = false;
      },
    },
    { decodeEntities: true },
  );
  parser.end(html);
  return { hrefs: [...hrefs], tags, title: (title ?? '').replace(/[\s\0]+/g, ' ').trim() };
}

function scan(html: string | Uint8Array): Reading {
  scanner.scan(typeof html === 'string' ? Buffer.from(html) : html, 'html');
  const hrefs = Array.from({ length: scanner.get(at.links) }, (_, i) => scanner.linkReference(i));
  let tags = 0;
  for (const count of levelsOf(scanner)) tags += count;
  const title = scanner.string(scanner.get(at.title), scanner.get(at.titleEnd) || scanner.get(at.title));
  return { hrefs, tags, title: title.replace(/\s+/g, ' ').trim() };
}

const pieces = [
  '<a href="one.html">one</a>',
  '<a href=\'two.html?a=1&amp;b=2#part\' class="x">two</a>',
  '<A HREF=three.html>three</A>',
  '<a href = "four.html" href="ignored.html">four</a>',
  '<a href="http://example.org/&eacute;&copy;x&notit;&lt;">five</a>',
  '<a title="a > b" href="six.html">',
  '<a data-href="no.html">no</a>',
  '<area href="//host/seven" alt="">',
  '<img src=x.png alt="a<b">',
  '<p>text &amp; more &#65;&#x42;&unknown; & <',
  '<ul><li>1<li>2</ul>',
  '<br/><hr>',
  '<!-- comment <a href="hidden.html"> -->',
  '<!--><a href="shown.html">-->',
  '<!---><a href="shown2.html">-->',
  '<script>if (a < b) document.write("<a href=\'script.html\'>")</script>',
  '<style>a > b { content: "</a>" }</style>',
  '<textarea><a href="area.html"></textarea>',
  '<title>Title &amp; <b>bold</b></title>',
  '<table><tr><td>cell<td>cell<tr><td>x</table>',
  '<div class="a b" id=c>',
  '</div>',
  '</p></b></>',
  '<?php echo ?>',
  '<!doctype html>',
  '<svg><path d="M0 0"/><title>drawing</title></svg>',
  '<b><i>x</b></i>',
  ' < b',
  '1 <2',
  '<a href="eight.html"/>',
  '<a href="nine.html"title=\'t\'>',
  '<a href=>',
  '<a href="  spaces.html\n">',
  '<custom-element href="ten.html">',
  'ünïcödé 漢字 \u00a0',
  '<a href="漢字.html">wide</a>',
];

test('links, number of tags and title are those of htmlparser2 on generated pages', () => {
  for (let seed = 1; seed <= 3000; seed++) {
    const html = randomly(seed).text(pieces, 1 + (seed % 12));
    assert.deepEqual(scan(html), parse(html), JSON.stringify(html));
  }
});

test('… and on real pages', { skip: !historiesAvailable && 'no ../shared/data/dev' }, () => {
  const blob = openBlobs();
  const pages = entriesOf(0).filter(entry => entry.ct.startsWith('text/html'));
  let count = 0;
  for (let i = 0; i < pages.length; i += 7) {
    const body = blob(pages[i]!.b);
    assert.deepEqual(scan(body), parse(body.toString()), `${pages[i]!.s}${pages[i]!.u}`);
    count++;
  }
  assert.ok(count > 200, `${count} pages`);
});

const broken = [
  ...pieces,
  '<a href="',
  "<a href='",
  '<a',
  '<',
  '</',
  '<!',
  '<!-',
  '<!--',
  '--',
  '&',
  '&#',
  '&#x',
  '&#99999999999;',
  '<svg>',
  '<title>',
  '<script>',
  '</script',
  '<![CDATA[',
  ']]>',
  '\0',
  '\u{10ffff}',
  '2024-01-01T10:00:00',
  'updated 5 May',
  '3 days ago',
  'deadbeef01',
];

test('10,000 malformed inputs: always a result, memory within its bound', () => {
  const modes = ['html', 'xml', 'plain'] as const;
  for (let seed = 1; seed <= 10_000; seed++) {
    const random = randomly(seed);
    const body = seed % 3 === 0 ? random.bytes(600) : Buffer.from(random.text(broken, 1 + random.below(30)));
    const cut = body.subarray(0, random.below(body.length + 1));
    scanner.scan(cut, modes[seed % 3]!);
    assert.ok(scanner.get(at.textEnd) - scanner.get(at.text) <= cut.length + 1, `seed ${seed}: more text than input`);
    assert.ok(scanner.get(at.canonEnd) >= scanner.get(at.canon), `seed ${seed}`);
  }
  assert.ok(scanner.memory <= 1600 * 65_536);
});

test('the longest inputs of the worst kinds stay within memory and time', () => {
  for (const piece of ['<a href="x', '<div>', '&amp;', '<', 'a ', '<a href=/', '<p>1', '\u{1f600}', '<b class="ad">']) {
    const body = Buffer.alloc(MAX_SCAN / 8, piece);
    scanner.scan(body, 'html');
    assert.ok(scanner.get(at.links) <= 10_000);
  }
  scanner.scan(Buffer.alloc(MAX_SCAN + 100, '<a href=/x><p>word 12:30 '), 'html');
  assert.ok(scanner.memory <= 1600 * 65_536);
});

test('a result depends on the page alone, not on those before it', () => {
  const page = Buffer.from(randomly(7).text(pieces, 40));
  const read = (one: Scanner): unknown => {
    one.scan(page, 'html');
    return [
      scan(page),
      longOf(one, 1),
      longOf(one, 2),
      longOf(one, 3),
      longOf(one, 4),
      one.get(at.structure),
      one.get(at.words),
    ];
  };
  const fresh = read(new Scanner());
  for (let seed = 1; seed < 50; seed++) scanner.scan(Buffer.from(randomly(seed).text(broken, 50)), 'html');
  assert.deepEqual(read(scanner), fresh);
});
