/** Main content of pages: what stays, what goes, and what becomes of headings, code, tables, lists, links and images. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunksOf } from '../../src/extract/chunks.ts';
import { extractPage, markdownOf, textOf } from '../../src/extract/page.ts';
import { SiteBlocks } from '../../src/extract/site.ts';

const BASE = 'http://example.org/docs/page.html';
const sentence = (n: number) => `Sentence ${n} is long enough to count as prose, with a comma and some more words.`;
const prose = [1, 2, 3, 4, 5, 6].map(n => `<p>${sentence(n)}</p>`).join('');

function markdown(inner: string): string {
  return markdownOf(extractPage(`<html><body><main>${inner}${prose}</main></body></html>`, BASE));
}

test('navigation, footer, comments and what is hidden go; the text stays whole', () => {
  const html = `<body><nav><a href=/>Home</a></nav><div class="sidebar">Other things to read here</div>
    <div id=content><h1>Title</h1>${prose}<p hidden>secret</p></div>
    <section id="comments"><p>First! What a page, I like it very much indeed.</p></section><footer>Imprint</footer></body>`;
  const text = textOf(extractPage(html, BASE));
  for (let n = 1; n <= 6; n++) assert.ok(text.includes(sentence(n)));
  for (const gone of ['Home', 'Other things', 'secret', 'First!', 'Imprint']) assert.ok(!text.includes(gone), gone);
});

test('comments go also where readers wrote more than the author, and nothing else goes because of them', () => {
  const comment = (n: number) => `<article class="comment-body"><p>Reader ${n} disagrees: ${sentence(n)}</p></article>`;
  const article = [...Array(16).keys()].map(n => `<p>${sentence(n)}</p>`).join('');
  const comments = [...Array(40).keys()].map(comment).join('');
  const page = (text: string) =>
    `<body><div id=wrap><div class="post tag-birds">${text}</div><div class="comments-area">${comments}</div></div></body>`;
  const found = textOf(extractPage(page(article), BASE));
  assert.ok(found.includes(sentence(15)) && !found.includes('disagrees'));
  // Where little else is there, they are what the page says.
  assert.ok(textOf(extractPage(page('<p>What do you think?</p>'), BASE)).includes('Reader 39 disagrees'));
});

test('the tree of headings is kept, without the signs that link to them', () => {
  const found = markdown('<h1>A</h1><h2 id=b>B <a href="#b">¶</a></h2><h3>C <em>d</em></h3>');
  assert.deepEqual(found.match(/^#+ .*$/gm), ['# A', '## B', '### C *d*']);
});

test('code keeps its lines, its spaces and its language; backticks inside it do not end it', () => {
  const code = 'if (a &lt; b) {\n    return `x`;\n\n    // ```\n}';
  const found = markdown(`<pre><code class="language-js">${code}</code></pre><p>Say <code>a\`b</code> here.</p>`);
  assert.ok(found.includes('````js\nif (a < b) {\n    return `x`;\n\n    // ```\n}\n````'), found);
  assert.ok(found.includes('Say ``a`b`` here.'), found);
});

test('tables keep rows and columns, also where cells span; bars in cells are escaped', () => {
  const found = markdown(`<table><tr><th>Name<th>Type<th>Note</tr><tr><td rowspan=2>a|b<td>int<td>one</tr>
    <tr><td colspan=2><a href="t.html">both</a></tr></table>`);
  assert.deepEqual(
    found.split('\n').filter(line => line.startsWith('|')),
    [
      '| Name | Type | Note |',
      '| --- | --- | --- |',
      '| a\\|b | int | one |',
      '|  | [both](http://example.org/docs/t.html) |  |',
    ],
  );
});

test('a heading is found by the name that its generator gave it, wherever it put it', () => {
  const anchorOf = (inner: string) =>
    extractPage(`<html><body><main><p>Before it.</p>${inner}${prose}</main></body></html>`, BASE).blocks.find(
      ({ kind }) => kind === 'heading',
    )?.anchor;
  assert.equal(anchorOf('<h2 id="own">Tides</h2>'), 'own');
  assert.equal(anchorOf('<h2><a name="inside"></a>Tides</h2>'), 'inside');
  assert.equal(
    anchorOf('<section id="sphinx"><span id="other"></span><h2>Tides<a href="#sphinx">¶</a></h2></section>'),
    'sphinx',
  );
  assert.equal(anchorOf('<section id="section"> <div><h2>Tides</h2></div></section>'), 'section');
  assert.equal(anchorOf('<a name="m-"><!-- --></a><ul><li><h4>Tides</h4><p>x</p></li></ul>'), 'm-');
  assert.equal(anchorOf('<div id="far"><p>Something else.</p><h2>Tides</h2></div>'), undefined);
});

test('lists keep their order, their nesting and the blocks in their items', () => {
  const found = markdown('<ol><li>one<ul><li>inner</li></ul></li><li><p>two</p><pre>x\n  y</pre></li></ol>');
  assert.ok(found.startsWith('1. one\n   - inner\n2. two\n\n   ```\n   x\n     y\n   ```'), found);
});

test('a list of sections is no list: their headings stay in the tree, and chunks end with them', () => {
  const method = (name: string, n: number) =>
    `<li><section id="${name}(long)"><h3>${name}</h3><p>${sentence(n)}</p></section></li>`;
  const details = `<h2>Method details</h2><ul>${method('skip', 7)}${method('read', 8)}</ul>`;
  const html = `<h1>Reader</h1><ul class="details"><li><section>${details}</section></li></ul><h2>End</h2>`;
  const found = markdown(html);
  for (const heading of ['## Method details', '### skip', '### read'])
    assert.ok(found.includes(`\n\n${heading}\n\n`), `${heading} in ${found}`);
  const chunks = chunksOf(extractPage(`<html><body><main>${html}${prose}</main></body></html>`, BASE), BASE);
  assert.deepEqual(
    chunks.map(({ path }) => path.join(' > ')),
    ['Reader > Method details > skip', 'Reader > Method details > read', 'Reader > End'],
  );
});

test('links and images become absolute; addresses that act are left out', () => {
  const [link, image] = ['<a href="../x (1).html">X</a>', '<img src=i.png alt="An [i]">'];
  const found = markdown(`<p>${link} ${image} <a href="javascript:alert(1)">J</a></p>`);
  const wanted = '[X](http://example.org/x%20%281%29.html) ![An \\[i\\]](http://example.org/docs/i.png) J';
  assert.equal(found.split('\n')[0], wanted);
});

test('text that looks like marks is escaped', () => {
  const found = markdown('<p>2 * 3 * 4 and [x] and <tt>y</tt> &lt;b></p>');
  assert.equal(found.split('\n')[0], '2 \\* 3 \\* 4 and \\[x\\] and `y` \\<b>');
});

test('with its site, blocks that its pages share go, whatever they are called', () => {
  const page = (own: string) =>
    `<body><div><p>Welcome to our site, where all of these pages begin with the very same words.</p></div>
     <div><h2>${own}</h2>${[1, 2, 3].map(n => `<p>${own}: ${sentence(n)}</p>`).join('')}</div>
     <div><p>All rights reserved by us, who wrote all of this and put it below each and every page.</p></div></body>`;
  const site = new SiteBlocks();
  for (const own of ['one', 'two', 'three', 'four', 'five']) site.add(page(own));
  const alone = textOf(extractPage(page('six'), BASE));
  const together = textOf(extractPage(page('six'), BASE, site));
  assert.ok(alone.includes('Welcome to our site'));
  assert.ok(together.includes(`six: ${sentence(3)}`));
  for (const gone of ['Welcome', 'All rights']) assert.ok(!together.includes(gone), gone);
});

test('pages nested twenty thousand deep, empty or cut anywhere are read to their end', () => {
  const deep = `${'<div>'.repeat(20_000)}<p>${sentence(1)}</p>`;
  assert.ok(textOf(extractPage(deep, BASE)).includes('Sentence 1'));
  assert.equal(textOf(extractPage('', BASE)), '');
  const html = `<table><tr><td rowspan=99999 colspan=99999>x<td><ul><li><pre>${prose}</table><a href="http://[">y</a>`;
  for (let end = 0; end < html.length; end += 7) extractPage(html.slice(0, end), BASE);
});

test('ids that name what is explained do not make it navigation', () => {
  const section = `<section class="detail" id="isPopupMenuVisible()"><h3>isPopupMenuVisible</h3><p>${sentence(9)}</p></section>`;
  assert.ok(markdown(section).includes(sentence(9)));
});

test('generators name sections, headings and signatures after what they say: such an id is no name of a menu', () => {
  const section = (id: string, heading: string, n: number) =>
    `<section id="${id}"><h2 id="${id}-1">${heading}<a href="#${id}">¶</a></h2><p>${sentence(n)}</p></section>`;
  const page = `<main><h1>Editor</h1>
${section('file-menu-shell-and-editor', 'File menu (Shell and Editor)', 1)}
${section('related-work', 'Related work', 2)}
<div class="section" id="tags-and-modals"><h3>Tags and modals</h3><p>${sentence(3)}</p></div>
<section id="skip(long)" class="detail"><h3>skip</h3><p>${sentence(4)}</p></section>
<section id="method.share" class="method"><h4>share</h4></section><p>${sentence(5)}</p>
<dl><dt id="http.cookies.BaseCookie">class BaseCookie</dt><dd><p>${sentence(6)}</p></dd></dl>
<h2 id="tags">Tags</h2><p>${sentence(7)}</p>
<section id="related-posts"><h2>You may also like</h2><p>${sentence(8)}</p></section>
<div id="related-links"><h2>Related links</h2><p>${sentence(9)}</p></div></main>`;
  const found = textOf(extractPage(`<html><body>${page}</body></html>`, BASE));
  for (const n of [1, 2, 3, 4, 5, 6, 7]) assert.ok(found.includes(sentence(n)), `sentence ${n} is lost`);
  for (const heading of ['File menu', 'skip', 'share', 'class BaseCookie', 'Tags'])
    assert.ok(found.includes(heading), `${heading} is lost`);
  for (const n of [8, 9]) assert.ok(!found.includes(sentence(n)), `sentence ${n} is there`);
});

test('pages with more pieces than a call takes arguments are read to their end', () => {
  const many = 130_000;
  assert.ok(markdown(`<pre>${'`a\n'.repeat(many)}</pre>`).includes('`a'));
  assert.equal(textOf(extractPage(`<main><dl>${'<dt>x<dd>y'.repeat(many)}</dl></main>`, BASE)).length > many, true);
});

test('headings lose the sign that links to them however deep it stands; code keeps its parts apart, and no buttons', () => {
  const heading = '<h2>Path<span><a class="mark" href="#path" id="path">#</a></span></h2>';
  const code = `<pre><code class="language-js cjs">const path = require('path');</code><code class="language-js mjs">import path from 'path';</code><button>copy</button></pre>`;
  const found = markdown(`${heading}${code}`);
  assert.ok(found.startsWith("## Path\n\n```js\nconst path = require('path');\nimport path from 'path';\n```"), found);
});

test('a page of a few words keeps its headings, and leaves its footer', () => {
  const small = `<body><nav><a href=/>Home</a></nav><section id=main><header><h3>Constant</h3><h1><a href=..>Gdk</a>KEY_ohook</h1></header>
<section><div><h4>Declaration</h4><pre>#define GDK_KEY_ohook 16777889</pre></div><div><h4>Description</h4><div>None yet.</div></div></section></section></body>`;
  const found = extractPage(small, BASE);
  for (const part of ['# ', 'KEY_ohook', '#### Declaration', '#define GDK_KEY_ohook', '#### Description', 'None yet.'])
    assert.ok(markdownOf(found).includes(part), `${part} in ${markdownOf(found)}`);
  const footer = `<div class="footer">© <a href=/c>Copyright</a> 2001-2026, The Foundation of the Software.<br>${sentence(1)} ${sentence(2)} ${sentence(3)}</div>`;
  const page = `<body><div class="document"><h1>urls</h1><p>${sentence(4)}</p><p>${sentence(5)}</p></div>${footer}</body>`;
  const text = textOf(extractPage(page, BASE));
  assert.ok(text.includes(sentence(4)) && !text.includes('Foundation'), text);
});

test('a list of links beside what has a heading and text of its own is a menu, however long it is', () => {
  const menu = Array.from(
    { length: 90 },
    (_, n) => `<li><a href="c${n}.html">Chapter ${n} about something</a></li>`,
  ).join('');
  const own = `<div><div><h1>Comments</h1><p>${sentence(1)}</p><p>${sentence(2)}</p></div></div>`;
  const text = textOf(extractPage(`<body><div><ol>${menu}</ol></div>${own}</body>`, BASE));
  assert.ok(text.includes(sentence(2)) && !text.includes('Chapter 7 '), text.slice(0, 300));
  const index = textOf(
    extractPage(`<body><div><h1>Index</h1><p>${sentence(1)}</p><ol>${menu}</ol></div></body>`, BASE),
  );
  assert.ok(index.includes('Chapter 7 ') && index.includes('Index'));
  const titled = `<body><div><h1>Book</h1><p>${sentence(1)}</p></div><div><ol>${menu}</ol></div></body>`;
  assert.ok(textOf(extractPage(titled, BASE)).includes('Chapter 7 '), 'contents of a book, behind its title');
});

/** What an author writes who names nothing. */
const sheet = (before: string, inner: string, behind = '') =>
  `<html><head><title>Ferries (Manual of Boats)</title></head><body>${before}<div><h3>4.2 Ferries</h3>${inner}</div>${behind}</body></html>`;
const menu = (words: string) =>
  `<div><h4>${words}</h4><p><a href=/1>${words} one</a>, <a href=/2>${words} two</a></p></div>`;

test('menus stand before the heading that says what the title says, and beside what it stands in; lists below it are content', () => {
  const contents = '<ul><li><a href=/3>Timetables</a><li><a href=/4>Fares</a></ul>';
  const found = textOf(extractPage(sheet(menu('Previous'), `<p>${sentence(1)}</p>${contents}`, menu('Next')), BASE));
  assert.deepEqual(found.split('\n\n'), ['4.2 Ferries', sentence(1), '- Timetables\n- Fares']);
});

test('lists of what a page itself has, its headings or its translations, go; references to some of them stay', () => {
  const sections = ['Oars', 'Sails', 'Engines', 'Anchors'].map(
    (name, n) => `<h2 id=s${n}>${name}</h2><p>${sentence(n)}</p>`,
  );
  const links = (...names: string[]) => names.map((name, n) => `<li><a href="#s${n}">${name}</a>`).join('');
  const languages = '<p>Languages: <a href=/de/ hreflang=de>Deutsch</a> <a href=/fr/ hreflang=fr>Français</a></p>';
  const toc = `<ul>${links('Oars', 'Sails', 'Engines', 'Anchors')}</ul>`;
  const found = textOf(extractPage(sheet('', `${languages}${toc}${sections.join('')}<ul>${links('Oars')}</ul>`), BASE));
  assert.ok(!found.includes('Deutsch') && !found.includes('- Sails') && found.includes('Sails\n\n'), found);
  assert.ok(found.includes('- Oars'), found);
});

test('what has a name of the frame but stands among paragraphs as one of them is content, and so are rows of tables', () => {
  const long = `${sentence(7)} ${sentence(8)}`;
  const box = (inner: string) => `<div class=sidebar><b>Note</b><p>${inner}</p></div>`;
  const table =
    '<table><tr class="widget related"><td>hull</td><td>oak</td></tr><tr><td>mast</td><td>pine</td></tr></table>';
  const found = textOf(
    extractPage(sheet('', `<p>${long}</p>${box(`Noted. ${long}`)}<p>${long}</p>${table}${box('Ads.')}`), BASE),
  );
  assert.ok(found.includes('Noted.') && found.includes('oak') && !found.includes('Ads.'), found);
});

test('markup in the sections of characters of a feed is read, and leaves no signs of them', () => {
  const feed = `<?xml version="1.0"?><rss><channel><item><title>First</title><description><![CDATA[<p>${sentence(1)}</p><p>two</p>]]></description></item></channel></rss>`;
  assert.equal(textOf(extractPage(feed, BASE)), `First\n\n${sentence(1)}\n\ntwo`);
});

test('words in a drawing are kept, and icons go', () => {
  const found = markdown(
    '<svg><path d=M0/><text>WITH</text><g><text>a*b</text></g></svg><svg><title>Edit</title><path d=M0/></svg>',
  );
  assert.ok(found.startsWith('WITH a\\*b\n\n') && !found.includes('Edit'), found);
});

test('a heading inside a formula, and a hundred thousand boxes in a row, are read to their end', () => {
  const page = `<title>x</title><body><math><mi><h1>x</h1></mi></math>${`<div class=sidebar>${sentence(1)}</div><i></i>`.repeat(1e5)}`;
  assert.ok(textOf(extractPage(page, BASE)).length > 100);
});

test('formulas are TeX where the page has it, else their signs in a line', () => {
  const mathml = (inner: string) =>
    `<math><semantics><mrow><mi>c</mi><mo>=</mo><mn>1</mn></mrow>${inner}</semantics></math>`;
  const tex = '<annotation encoding="application/x-tex">c = \\sqrt{1}_a</annotation>';
  const katex = `<span class="katex"><span class="katex-mathml">${mathml(tex)}</span><span class="katex-html" aria-hidden="true">c=1</span></span>`;
  const script = '<script type="math/tex; mode=display">x^2</script>';
  const found = markdown(`<p>So ${katex} holds.</p><p>And ${mathml('')} too.</p><p>Where ${script}</p>`);
  assert.ok(found.startsWith('So $c = \\sqrt{1}_a$ holds.\n\nAnd c=1 too.\n\nWhere $$x^2$$'), found);
});

test('powers stay powers', () => {
  const found = markdown('<p>10<sup>6</sup> of H<sub>2</sub>O<sup><a href="#n">1</a></sup></p>');
  assert.ok(found.startsWith('10<sup>6</sup> of H<sub>2</sub>O<sup>[1]('), found);
});

test('a table without a header gets an empty one; numbers of lines beside code go', () => {
  const found = markdown('<table><tr><td>k1<td>v1<tr><td>k2<td>v2</table>');
  assert.ok(found.startsWith('|  |  |\n| --- | --- |\n| k1 | v1 |\n| k2 | v2 |'), found);
  for (const first of ['<tr><th>a<th>b', '<thead><tr><td>a<td>b</thead>', '<tr><td><b>a</b><td><strong>b</strong>'])
    assert.match(markdown(`<table>${first}<tr><td>1<td>2</table>`), /^\| \**a\** \| \**b\** \|\n\| --- /);
  const code = '<table><tr><td class=l><pre>1\n2</pre></td><td><pre>x = 1\ny = 2</pre></td></tr></table>';
  assert.ok(markdown(code).startsWith('```\nx = 1\ny = 2\n```'), markdown(code));
});
