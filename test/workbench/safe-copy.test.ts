import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parser } from 'htmlparser2';
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

test('no mixture of hostile pieces can either', () => {
  const random = randomly(20_261);
  for (let round = 0; round < 3000; round++) {
    const parts = Array.from({ length: 1 + random.below(6) }, () => {
      const piece = hostile[random.below(hostile.length)]!;
      const cut = random.below(piece.length + 1);
      return random.below(2) === 0 ? piece : random.below(2) === 0 ? piece.slice(0, cut) : piece.slice(cut);
    });
    const html = parts.join('');
    assert.deepEqual(dangers(safeHtml(html)), [], html);
  }
});

test('what a reader sees stays', () => {
  const html =
    '<h1 class=a>Geese &amp; <b>ducks</b></h1><ul><li>one<li>two</ul><p lang=de style="color:red">Gänse &lt;3</p>';
  assert.equal(
    safeHtml(html),
    '<h1 class="a">Geese &amp; <b>ducks</b></h1><ul><li>one<li>two</ul><p lang="de" style="color:red">Gänse &lt;3</p>',
  );
  assert.equal(safeHtml('<a href="/next">on</a>'), '<a title="/next">on</a>');
  assert.match(safeHtml('<img src="/a.png" alt="a goose">'), /<span class="skein-image">a goose<\/span>/);
  assert.match(
    safeHtml('<img src="data:image/png;base64,AAAA" alt=x>'),
    /^<img src="data:image\/png;base64,AAAA" alt="x">$/,
  );
});

test('text is shown as text', () => {
  assert.equal(escaped('<b>&amp;"</b>'), '&lt;b&gt;&amp;amp;&quot;&lt;/b&gt;');
  assert.deepEqual(dangers(safeDocument(`<pre>${escaped('<script>alert(1)</script>')}</pre>`)), ['meta']);
});
