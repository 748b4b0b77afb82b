/** Fields out of stored pages: by selector, JSON-LD, microdata, meta and table; as rows that others read; only what changed. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { z } from 'zod';
import { fieldsFrom, fieldsOf, numberIn, type RowOf } from '../../src/extract/fields.ts';
import { makeCollection } from '../journeys/collection.ts';
import { openPages } from '../journeys/pages.ts';
import { skein } from '../journeys/skein.ts';

const schema = {
  fields: {
    name: 'h1',
    price: { css: '.price', as: 'number' },
    images: { css: 'img', attribute: 'src', as: 'url', all: true },
    about: { css: '#about', as: 'markdown' },
    brand: { jsonLd: 'Product.brand.name' },
    stock: { microdata: 'Offer.availability' },
    preview: { meta: 'og:image' },
    spec: { table: 'table' },
  },
};

function product(n: number, price: string): string {
  return `<html><head><title>Item ${n}</title><meta property="og:image" content="/p${n}.png">
    <script type="application/ld+json">{"@graph": [{"@type": ["Thing", "Product"], "brand": {"name": "Brand ${n}"}}]}</script>
    <script type="application/ld+json">{no json</script></head>
    <body><h1>Item ${n}, "good"</h1><b class=price>${price}</b><div id=about>It is <em>fine</em>.</div>
    <img src=a.png><img src="/b.png"><div itemscope itemtype="https://schema.org/Offer"><link itemprop=availability href="/in"></div>
    <table><tr><th>Name<th>Value</tr><tr><td>size<td>${n}</tr></table></body></html>`;
}

test('each kind of field is found, nested things and tables included; broken JSON-LD says nothing', () => {
  const fields = fieldsOf(JSON.stringify(schema), 'f.json');
  assert.deepEqual(fields.rows(product(5, '1.299,00 €'), 'http://a.org/x/5'), [
    {
      name: 'Item 5, "good"',
      price: 1299,
      images: ['http://a.org/x/a.png', 'http://a.org/b.png'],
      about: 'It is *fine*.',
      brand: 'Brand 5',
      stock: 'http://a.org/in',
      preview: '/p5.png',
      spec: [{ Name: 'size', Value: '5' }],
    },
  ]);
  assert.deepEqual(fields.rows('<p>nothing of it</p>', 'http://a.org/'), []);
  const deep = `<script type="application/ld+json">${'['.repeat(100_000)}</script>${'<div itemscope itemprop=a>'.repeat(5000)}`;
  assert.deepEqual(fields.rows(deep, 'http://a.org/'), []);
});

test('each: one row for every such element, by selectors inside it; implied rows of tables are there', () => {
  const fields = fieldsOf('{"each": "tbody > tr", "fields": {"k": "td:first-child", "v": "td + td"}}', 'f.json');
  const rows = fields.rows('<table><tr><td>a<td>1<tr><td>b<td>2</table>', 'http://a.org/');
  assert.deepEqual(rows, [
    { k: 'a', v: '1' },
    { k: 'b', v: '2' },
  ]);
});

test('numbers are read with either sign of fractions', () => {
  const cases = {
    '$1,299.00': 1299,
    '1.299,50 €': 1299.5,
    '0.125': 0.125,
    "1'000": 1000,
    '1,5': 1.5,
    '−3': -3,
    '12.': 12,
  };
  for (const [text, number] of Object.entries(cases)) assert.equal(numberIn(text), number, text);
  assert.equal(numberIn('1.299'), 1299);
  assert.equal(numberIn('free'), null);
});

test('what is wrong with a schema is said in a sentence', () => {
  const cases: [string, RegExp][] = [
    ['{', /not JSON/],
    ['{"fields": {"a": {"ccs": "h1"}}}', /fields\.a/],
    ['{"fields": {"a": "h1["}}', /field "a".*not a CSS selector/],
    ['{"fields": {"url": "h1"}}', /"url" is taken/],
  ];
  for (const [text, says] of cases) assert.throws(() => fieldsOf(text, 'f.json'), says);
});

test('a schema of rows says what a row must be, and makes it; the rest is refused with a reason', () => {
  const row = z.object({
    name: z.string().toUpperCase(),
    price: z.number().positive(),
    stock: z.string().default('?'),
  });
  const file = { each: 'li', fields: { name: 'i', price: { css: 'b', as: 'number' }, stock: 'u' }, row } as const;
  const fields = fieldsFrom(file, 'f.ts');
  const refused: string[] = [];
  const html = '<ul><li><i>a</i><b>5</b><li><i>b</i><b>-1</b><li><b>3</b><li></ul>';
  const rows = fields.rows(html, 'http://a.org/', why => refused.push(why)) as RowOf<typeof file>[];
  assert.deepEqual(rows, [{ name: 'A', price: 5, stock: '?' }]);
  const price: number = rows[0]!.price; // it has the type that the schema makes
  assert.equal(price, 5);
  assert.equal(refused.length, 2);
  assert.match(refused[0]!, /^price: Too small/);
  assert.match(refused[1]!, /^name: .*expected string/);
  assert.throws(() => fieldsFrom({ ...file, row: {} }, 'f.ts'), /"row" is not a schema of zod/);
  const late = z.object({}).refine(async () => true);
  fieldsFrom({ ...file, row: late }, 'f.ts').rows(html, 'http://a.org/', why => refused.push(why));
  assert.match(refused.at(-1)!, /must be synchronous/);
});

test('over the archive, without a request: three formats with the same rows; then only what changed', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  const prices = [10, 20, 30, 40, 50];
  const show = (n: number) => pages.set(`/${n}`, { body: product(n, `${prices[n]} €`) });
  for (const n of prices.keys()) show(n);
  pages.set('/', { body: prices.map((_, n) => `<a href=/${n}>${n}</a>`).join(' ') });
  await collection.crawl([`${pages.origin}/`]);
  const file = join(collection.directory, 'fields.json');
  writeFileSync(file, JSON.stringify(schema));
  const asked = pages.asked.length;
  const extract = async (...more: string[]) => {
    const ran = await skein(['extract', '--schema', file, '--data', collection.directory, '--json', ...more]);
    assert.equal(ran.code, 0, ran.stderr);
    const { cursor, rows } = JSON.parse(ran.stderr.trim().split('\n').at(-1)!) as { cursor: string; rows: number };
    return { cursor, rows, text: ran.stdout.toString() };
  };
  const first = await extract();
  const lines = first.text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    lines.map(({ price }) => price),
    prices,
  );
  const out = join(collection.directory, 'rows.parquet');
  assert.equal((await extract('--format', 'parquet', '--out', out)).rows, 5);
  const bytes = readFileSync(out);
  const rows = (await parquetReadObjects({
    file: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer,
    compressors: { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) },
  })) as Record<string, unknown>[];
  const columns = ['url', 'name', 'price', 'brand'];
  const some = (row: Record<string, unknown>) => columns.map(name => row[name]);
  assert.deepEqual(rows.map(some), lines.map(some));
  assert.deepEqual(JSON.parse(rows[2]!['spec'] as string), [{ Name: 'size', Value: '2' }]);
  const csv = (await extract('--format', 'csv', '/3')).text.split('\r\n');
  assert.match(csv[1]!, /\/3,2\d{3}-.*Z,"Item 3, ""good""",40,/);
  const module = join(import.meta.dirname, 'row-fields.ts');
  const checked = await skein(['extract', '--schema', module, '--data', collection.directory]);
  assert.equal(checked.code, 0, checked.stderr);
  assert.equal(checked.stdout.toString().trim().split('\n').length, 4);
  assert.match(checked.stderr, /Skipped 1 row that the schema refused\. http:.*\/4: price: Too big/);
  assert.equal(pages.asked.length, asked, 'nothing was fetched');

  prices[1] = 21;
  show(1);
  pages.set('/4', { status: 410 });
  pages.set('/2', { body: product(2, '30 €').replace('</body>', '<p>Some other words, of no field.</p></body>') });
  collection.pass(1);
  await collection.refresh({ budget: '100%' });
  const second = await extract('--after', first.cursor);
  const told = second.text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual(
    told.map(({ url, price, gone }) => [String(url).at(-1), price ?? gone]),
    [
      ['1', 21],
      ['4', true],
    ],
  );
  assert.equal((await extract('--after', second.cursor)).text, '');
});

test('a page of six megabytes is read to its end', async () => {
  using collection = makeCollection();
  await using pages = await openPages();
  pages.set('/', { body: `<h1>Index</h1>${'<p>One of many lines.</p>\n'.repeat(250_000)}<b class=last>the end</b>` });
  await collection.crawl([`${pages.origin}/`]);
  const schemaFile = join(collection.directory, 'schema.json');
  writeFileSync(schemaFile, '{"fields": {"last": ".last"}}');
  const { stdout } = await skein(['extract', '--schema', schemaFile, '--data', collection.directory]);
  assert.match(stdout.toString(), /"last":"the end"/);
});
