import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingsOf } from '../../src/home/copies/headings.ts';

test('headings are text: markup, entities and paragraph marks are gone', () => {
  const html = `<h1 class="a">One <em>two</em></h1><p>no</p><H2>R&amp;D &#8211; caf&#xe9;&nbsp;¶</H2><header>no</header>`;
  assert.equal(headingsOf(html), 'One two\nR&D – café');
});

test('what is left open, empty or nonsense gives nothing, and the rest is still read', () => {
  assert.equal(headingsOf('<h1><h2></h2><h3>three</h3>&#1114112;<h4>&#0;&#xffffff;</h4><h5'), 'three');
  assert.equal(headingsOf(`<h1>${'x'.repeat(5000)}<h2>after</h2>`), 'after');
});

test('a page of nothing but openings costs time by its length only, and headings are bounded', () => {
  assert.equal(headingsOf('<h1 '.repeat(100_000)), '');
  assert.equal(headingsOf('<dt id="'.repeat(100_000)), '');
  assert.equal(headingsOf('<h1>a</h1>'.repeat(1000)).split('\n').length, 400);
  assert.equal(headingsOf(`<h1>${'word '.repeat(200)}</h1>`).length, 400);
});

test('names that a page defines and that can be linked to are headings', () => {
  const html =
    '<h1>os.path</h1><dl><dt class="sig" id="os.path.join"><span>os.path.</span><b>join</b>(<i>path</i>, *paths)' +
    '<dd>joins</dd><dt>a word</dt><dd>and what it is</dd><dt id="x"><code>work_mem</code> (<i>integer</i>)</dt>' +
    `<dt id="y">${'a sentence '.repeat(20)}</dt></dl>`;
  assert.equal(headingsOf(html), 'os.path\nos.path.join\nwork_mem');
});
