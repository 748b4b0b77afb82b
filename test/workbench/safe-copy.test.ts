import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser } from 'htmlparser2';
import { marked } from '../../src/workbench/marked-copy.ts';
import { escaped, safeDocument, safeHtml } from '../../src/workbench/safe-copy.ts';
import { randomly } from '../random.ts';

/** What a parser that we did not write finds in it that could act or load. */
function dangers(html: string): string[] {
  const found: string[] = [];
  const parser = new Parser({
    onopentag(name, attributes) {
      const bad = /^(script|iframe|object|embed|form|input|button|link|meta|base|svg|math|video|audio|template|frame)$/;
      if (bad.test(name)) found.push(name);
      for (const [attribute, value] of Object.entries(attributes)) {
        if (/^on|^(href|action|formaction|srcset|srcdoc|ping|poster|background|xlink:href)$/.test(attribute))
          found.push(attribute);
        if (attribute === 'src' && !value.startsWith('data:image/')) found.push(`src=${value}`);
        if (/url\s*\(|@import/i.test(attribute === 'style' ? value : '')) found.push(`style=${value}`);
      }
    },
  });
  parser.write(html);
  parser.end();
  return found;
}

const hostile = [
  '<script>top.hacked = 1</script>after',
  '<img src=x onerror="top.hacked = 1">',
  '<svg onload=alert(1)><script>alert(1)</script></svg>',
  '<a href="javascript:alert(1)" onclick=alert(1)>link</a>',
  '<form action=https://evil.test/><input name=a><button>go</button></form>',
  '<meta http-equiv=refresh content="0;url=https://evil.test/">',
  '<base href=https://evil.test/><link rel=stylesheet href=//evil.test/a.css><link rel=dns-prefetch href=//evil.test>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<div style="background:url(https://evil.test/a.png)">x</div>',
  '<style>@import "https://evil.test/a.css"; p { background: url(//evil.test) } </style><script>alert(1)</script>',
  '<style><!--</style><script>alert(1)//--></script>',
  '<title><img src=x onerror=alert(1)></title>',
  '<textarea></textarea><img src=x onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>',
  '<p title="a&quot; onmouseover=alert(1) b">x</p>',
  `<p title='a" onmouseover=alert(1) b'>x</p>`,
  '<!--><img src=x onerror=alert(1)>-->',
  '<<script>alert(1)</script>',
  '<scr<script>ipt>alert(1)</script>',
  '<img src="data:text/html,<script>alert(1)</script>">',
  '<img src="data:image/svg+xml;base64,PHN2Zz4=">',
  '<video poster=https://evil.test/p.png src=https://evil.test/v.mp4></video>',
  '<p\u0000onclick=alert(1)>x',
  '<',
  '<p',
  '<p title="',
  '</',
  '<!--',
  '<style>',
  '<script>',
];

test('nothing of a hostile page can act or load', () => {
  for (const html of hostile) assert.deepEqual(dangers(safeHtml(html)), [], html);
});

function mixture(random: ReturnType<typeof randomly>): string {
  const parts = Array.from({ length: 1 + random.below(6) }, () => {
    const piece = hostile[random.below(hostile.length)]!;
    const cut = random.below(piece.length + 1);
    return random.below(2) === 0 ? piece : random.below(2) === 0 ? piece.slice(0, cut) : piece.slice(cut);
  });
  return parts.join('');
}

test('no mixture of hostile pieces can either, and marks add nothing but themselves', () => {
  const random = randomly(20_261);
  let before = '';
  for (let round = 0; round < 3000; round++) {
    const html = mixture(random);
    const copy = safeHtml(html);
    assert.deepEqual(dangers(copy), [], html);
    for (const as of ['came', 'went'] as const) {
      const shown = marked(copy, before, as);
      assert.deepEqual(dangers(shown), [], html);
      const bare = shown.replace(
        /<(ins|del) class="skein-(came|went)">|<\/(ins|del)>|<span id="skein-first"><\/span>/g,
        '',
      );
      assert.equal(bare, copy, html);
    }
    before = copy;
  }
});

test('what differs is marked on the side that has it, word by word, and both sides know where it begins', () => {
  const before = '<h1>Tides</h1><p>High at six in the morning.</p><p>Low <b>at noon</b>.</p>';
  const after = '<h1>Tides</h1><p>High at seven in the  early evening.</p><p>Low <b>at noon</b>.</p><p>Gale</p>';
  assert.equal(
    marked(before, after, 'went'),
    '<h1>Tides</h1><p>High at <span id="skein-first"></span><del class="skein-went">six</del> in the ' +
      '<del class="skein-went">morning.</del></p><p>Low <b>at noon</b>.</p>',
  );
  assert.equal(
    marked(after, before, 'came'),
    '<h1>Tides</h1><p>High at <span id="skein-first"></span><ins class="skein-came">seven</ins> in the  ' +
      '<ins class="skein-came">early evening.</ins></p><p>Low <b>at noon</b>.</p><p><ins class="skein-came">Gale</ins></p>',
  );
  assert.equal(marked(before, before, 'came'), before);
  // What only one side has: the other shows where it would be, at its very end too.
  assert.equal(marked('<p>a c</p>', '<p>a b c</p>', 'went'), '<p>a <span id="skein-first"></span>c</p>');
  assert.equal(marked('<p>a</p>', '<p>a</p><p>b</p>', 'went'), '<p>a</p><span id="skein-first"></span>');
});

test('another image in the same place is marked, a sheet is not', () => {
  const page = (name: string) =>
    safeHtml(`<style>p { color: ${name} }</style><p>Our <img src="/${name}.png" alt="goose"></p>`);
  const shown = marked(page('grey'), page('white'), 'came');
  assert.match(
    shown,
    /Our <span id="skein-first"><\/span><ins class="skein-came"><span class="skein-image" title="\/grey/,
  );
  assert.equal(shown.match(/<ins/g)!.length, 1);
});

test('a long page that changed at both ends is marked there only', () => {
  const middle = Array.from({ length: 3000 }, (_, n) => `<p>paragraph ${n}</p>`).join('');
  const page = (word: string) =>
    `${`<p>${`${word} `.repeat(900)}</p>`.repeat(2)}${middle}<p>${`${word} `.repeat(900)}</p>`;
  assert.equal(marked(page('new'), page('old'), 'came').match(/<ins/g)!.length, 3);
});

test('what a reader sees stays', () => {
  const html =
    '<h1 class=a>Geese &amp; <b>ducks</b></h1><ul><li>one<li>two</ul><p lang=de style="color:red">Gänse &lt;3</p>';
  assert.equal(
    safeHtml(html),
    '<h1 class="a">Geese &amp; <b>ducks</b></h1><ul><li>one<li>two</ul><p lang="de" style="color:red">Gänse &lt;3</p>',
  );
  assert.equal(safeHtml('<a href="/next">on</a>'), '<a title="/next">on</a>');
  assert.match(
    safeHtml('<img src="/a.png" alt="a goose">'),
    /<span class="skein-image" title="\/a.png">a goose<\/span>/,
  );
  assert.match(
    safeHtml('<img src="data:image/png;base64,AAAA" alt=x>'),
    /^<img src="data:image\/png;base64,AAAA" alt="x">$/,
  );
});

test('text is shown as text', () => {
  assert.equal(escaped('<b>&amp;"</b>'), '&lt;b&gt;&amp;amp;&quot;&lt;/b&gt;');
  assert.deepEqual(dangers(safeDocument(`<pre>${escaped('<script>alert(1)</script>')}</pre>`)), ['meta']);
});

test('escapes and entities hide nothing from who looks for what loads', () => {
  const ways = [
    '\\75rl(//evil.example/1)',
    '\\000075 rl(//evil.example/2)',
    'u\\72 l(//evil.example/3)',
    'ur\\l(//evil.example/4)',
    '\\55\\52\\4c(//evil.example/5)',
    'url\\28//evil.example/6)',
    'image\\-set("//evil.example/7" 1x)',
    'src("//evil.example/8")',
    'u\\\nrl(//evil.example/9)',
    '\\\\75rl(//evil.example/10)',
  ];
  for (const way of ways) {
    const html = safeHtml(
      `<style>p { background: ${way} } @\\69mport "//evil.example/x";</style><p style='background:${way}'>x`,
    );
    assert.doesNotMatch(html, /\b(?:url|src)\s*\(|image-set\s*\(|@import/i, way);
    assert.equal(html.includes('\\'), false, way);
  }
  for (const way of ['u&#114;l(//evil.example/)', '&#92;75rl(//evil.example/)', 'u&#x72;l(//evil.example/)'])
    assert.doesNotMatch(safeHtml(`<p style="background:${way}">x`), /evil/, way);
  assert.match(safeHtml('<p style="font-family: &quot;Serif&quot;; color: red">x'), /color: red/);
});

test('images and style sheets that the collection has are written into the copy, made harmless', () => {
  const assets = {
    image: (source: string) =>
      source === '/a.png?x=1&y=2' ? 'data:image/png;base64,AAAA' : 'data:text/html;base64,AAAA',
    sheet: (href: string) =>
      href === '/s.css' ? 'p{color:red;background:url(//evil.test/x)}</style><script>1</script>' : undefined,
  };
  const html =
    '<link rel="stylesheet" href="/s.css"><link rel="icon" href="/s.css"><img src="/a.png?x=1&amp;y=2"><img src="/b.html">';
  const copy = safeHtml(html, assets);
  assert.match(copy, /<style>p\{color:red;background:none/);
  assert.match(copy, /<img src="data:image\/png;base64,AAAA">/);
  assert.equal(copy.match(/<style>/g)!.length, 1);
  assert.doesNotMatch(copy, /text\/html;base64,AAAA">$|<img src="data:text/);
  assert.deepEqual(dangers(copy), []);
});
