/** Long tables, lists and code in pieces: each row once, its header in each piece, and ids that edits elsewhere leave alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Chunk, chunkChanges, chunksOf } from '../../src/extract/chunks.ts';
import { extractPage } from '../../src/extract/page.ts';
import { type Random, randomly } from '../random.ts';

const URL_OF_PAGE = 'http://example.org/docs/page.html';
/** What a part of a cut block may hold, with the text before it: no reader of chunks has to expect more. */
const MOST = 6000;

const chunks = (body: string): Chunk[] =>
  chunksOf(extractPage(`<body><main><h1>Reference</h1>${body}</main></body>`, URL_OF_PAGE), URL_OF_PAGE);

type BodyOf = (rows: readonly string[]) => string;

const shapes: Readonly<Record<string, BodyOf>> = {
  table: rows => {
    const line = (row: string) => `<tr><td>${row.length}</td><td>${row}</td></tr>`;
    return `<table><thead><tr><th>Name</th><th>Meaning</th></tr></thead>${rows.map(line).join('')}</table>`;
  },
  list: rows => `<ul>${rows.map(row => `<li>${row}<ul><li>more of it</li></ul></li>`).join('')}</ul>`,
  numbers: rows => `<ol>${rows.map(row => `<li>${row}</li>`).join('')}</ol>`,
  code: rows => `<pre><code class="language-js">${rows.map(row => `call(${row});`).join('\n')}</code></pre>`,
  quote: rows => `<blockquote>${rows.map(row => `<p>${row}</p>`).join('')}</blockquote>`,
  paragraph: rows => `<p>${rows.map(row => `${row}.`).join(' ')}</p>`,
};

const rowsOf = (count: number): string[] => Array.from({ length: count }, (_, n) => `the value ${n * n} of row ${n}x`);

for (const [name, shape] of Object.entries(shapes))
  test(`a long ${name} is cut: each of its rows is in one piece, and none is large`, () => {
    const rows = rowsOf(900);
    const found = chunks(`<h2>Values</h2><p>Introduction.</p>${shape(rows)}<p>End.</p><h2>Next</h2><p>Other.</p>`);
    assert.ok(found.length > 5, `${found.length} chunks`);
    const all = found.map(({ markdown }) => markdown).join('\n');
    for (const row of rows) assert.equal(all.split(row).length, 2, row);
    for (const { markdown } of found) assert.ok(markdown.length <= MOST, `${markdown.length} characters`);
    assert.equal(new Set(found.map(({ id }) => id)).size, found.length);
    assert.ok(found[0]!.markdown.startsWith('Introduction.'));
  });

test('pieces are Markdown of their own: a table with its header, code in its fence and language', () => {
  const inside = (name: string) => chunks(`<h2>Values</h2>${shapes[name]!(rowsOf(900))}`).map(each => each.markdown);
  for (const piece of inside('table')) assert.match(piece, /^\| Name \| Meaning \|\n\| --- \| --- \|\n\| \d+ /);
  for (const piece of inside('code')) assert.match(piece, /^```js\n(?:call\(.*\);\n)+```$/);
  for (const piece of inside('list')) assert.match(piece, /^(?:- the value .*\n {2}- more of it(?:\n|$))+$/);
  for (const piece of inside('quote')) assert.match(piece, /^(?:>.*(?:\n|$))+$/);
});

test('lists in long items of lists are cut, too, each part below the items that it is in', () => {
  const inner = `<ul>${rowsOf(300)
    .map(row => `<li>${row}</li>`)
    .join('')}</ul>`;
  const found = chunks(
    `<ul><li>Library<ul><li>Short</li><li>Internet<ul><li>Clients${inner}</li></ul></li></ul></li></ul>`,
  );
  const parts = found.filter(({ markdown }) => markdown.includes('of row'));
  assert.ok(parts.length > 3, `${parts.length} parts`);
  for (const { markdown } of parts) {
    assert.ok(markdown.length <= MOST, `${markdown.length} characters`);
    assert.match(markdown, /(?:^|\n)- Library\n {2}- Internet\n {4}- Clients\n {6}- the value/);
  }
});

test('a table that is short stays whole, and so does a row that is long by itself', () => {
  const short = chunks(shapes['table']!(rowsOf(50)));
  assert.equal(short.length, 1);
  const long = `<td>${'so much to say of it '.repeat(500)}</td>`;
  const [found] = chunks(`<table><tr><th>A</th><th>B</th></tr><tr><td>x</td>${long}</tr></table>`);
  assert.ok(found!.markdown.length > 10_000);
});

/** What an edit of rows may do: change one, take one out, put one in. */
function edited(rows: readonly string[], { below }: Random, at: number): string[] {
  const kind = below(3);
  const text = `the edited value ${below(1e9)}`;
  return rows.toSpliced(at, kind === 2 ? 0 : 1, ...(kind === 1 ? [] : [text]));
}

test('an edit of one row tells few chunks, wherever it stands: ids of the others stay', () => {
  const random = randomly(17);
  for (const [name, shape] of Object.entries(shapes)) {
    // Numbers of items behind an edit are others: that is what the page says.
    if (name === 'numbers') continue;
    let [told, edits] = [0, 0];
    for (let round = 0; round < 12; round++) {
      const rows = rowsOf(600);
      const at = random.below(rows.length);
      const wrap = (some: readonly string[]) => `<h2>A</h2>${shape(rowsOf(300))}<h2>B</h2>${shape(some)}<p>End.</p>`;
      const before = chunks(wrap(rows));
      const other = chunks(wrap(edited(rows, random, at)));
      const { added, changed, removed } = chunkChanges(before, other);
      told += added.length + changed.length + removed.length;
      edits++;
    }
    assert.ok(told <= 2 * edits, `${name}: ${told} told for ${edits} edits`);
  }
});

test('an edit between two long parts leaves the ids of all parts behind it', () => {
  const prose = (from: number) =>
    Array.from({ length: 40 }, (_, n) => `<p>${`Sentence ${from + n} says what it says. `.repeat(8)}</p>`).join('');
  const before = chunks(`<h2>Long</h2>${prose(0)}${prose(40)}`);
  const after = chunks(`<h2>Long</h2>${prose(0)}${`<p>${'A new paragraph. '.repeat(90)}</p>`}${prose(40)}`);
  const { added, changed, removed } = chunkChanges(before, after);
  assert.ok(before.length > 8);
  assert.ok(
    added.length + changed.length + removed.length <= 4,
    JSON.stringify([added, changed, removed].map(x => x.length)),
  );
});
