/** Every format of export over one collection: what all promise, and what others read from each. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { exporterOf, exporters } from '../../src/export/formats.ts';
import { bytesOf, checkExporter, everything } from '../contracts/exporter.ts';
import { fast, skein, skeinJson, workplace } from '../journeys/skein.ts';
import { openWeb, type Web } from '../web/web.ts';

describe('exports', () => {
  const place = workplace();
  const data = join(place.path, 'data');
  let web: Web;
  let pages: string[] = [];

  before(async () => {
    web = await openWeb({ seed: 6, servers: 2, pagesPerServer: 25, codings: ['gzip'] });
    const hooks = join(place.path, 'titles.js');
    writeFileSync(
      hooks,
      `export default { afterPage: ({ mediaType, title }) => (mediaType === 'text/html' ? { data: title } : undefined) };`,
    );
    await skeinJson('crawl', ...web.seeds, '--data', data, ...fast, '--scope', '*', '--hooks', hooks);
    const lines = (await bytesOf(exporterOf('jsonl'), everything(data))).bytes.toString().trim().split('\n');
    const copies = lines.map(line => JSON.parse(line) as { url: string; type: string });
    pages = copies.filter(({ type }) => type === 'text/html').map(({ url }) => url);
    assert.ok(pages.length >= 40);
  });
  after(async () => {
    await web.close();
    place[Symbol.dispose]();
  });

  for (const exporter of exporters) checkExporter(exporter, () => ({ data, pages }));

  test('parquet: another reader finds the same rows as csv has, texts to the letter', async () => {
    const { bytes } = await bytesOf(exporterOf('parquet'), everything(data));
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
    const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zstdDecompressSync(input)) };
    const rows = (await parquetReadObjects({ file, compressors })) as Record<string, unknown>[];
    const csv = (await bytesOf(exporterOf('csv'), everything(data))).bytes.toString();
    const [names, ...lines] = cellsOf(csv);
    assert.deepEqual(names, Object.keys(rows[0]!));
    const plain = rows.map(row => names!.map(name => asCell(row[name])));
    assert.deepEqual(lines, plain);
    assert.deepEqual(new Set(rows.map(({ url }) => url)), new Set(pages));
  });

  test('markdown: each page begins with lines of its own, and has its headings', async () => {
    const all = (await bytesOf(exporterOf('markdown'), everything(data))).bytes.toString();
    const parts = all.split(/^---\n(?=url: )/m).slice(1);
    assert.deepEqual(new Set(parts.map(part => JSON.parse(/^url: (.*)$/m.exec(part)![1]!))), new Set(pages));
    for (const part of parts) assert.match(part, /^title: ".+"\ntime: "\d{4}-.*Z"\ndigest: ".+"\n---\n\n\S/m);
  });

  test('chunks: ids are unique, and the same when exported again', async () => {
    const lines = (await bytesOf(exporterOf('chunks'), everything(data))).bytes.toString().trim().split('\n');
    const chunks = lines.map(line => JSON.parse(line) as { id: string; url: string; path: string[]; markdown: string });
    assert.equal(new Set(chunks.map(({ id }) => id)).size, chunks.length);
    assert.deepEqual(new Set(chunks.map(({ url }) => url)), new Set(pages));
    assert.ok(chunks.every(({ path, markdown }) => Array.isArray(path) && markdown.length > 0));
  });

  test('the command writes each to a file; a pattern and a time choose; a wrong format is named', async () => {
    for (const [format, start] of [
      ['markdown', '---'],
      ['parquet', 'PAR1'],
      ['csv', 'url,'],
    ] as const) {
      const file = join(place.path, `out.${format}`);
      const ran = await skein(['export', '--format', format, '--data', data, '--out', file, pages[0]!]);
      assert.equal(ran.code, 0, ran.stderr);
      assert.match(ran.stdout.toString(), /page.* written/);
      assert.equal(readFileSync(file).subarray(0, start.length).toString(), start);
    }
    const old = await skein(['export', '--format', 'chunks', '--until', '2001-01-01', '--data', data]);
    assert.equal(old.stdout.toString(), '');
    assert.match((await skein(['export', '--format', 'zip', '--data', data])).stderr, /no format "zip".*parquet/s);
  });
});

function asCell(value: unknown): string {
  return value instanceof Date ? value.toISOString() : String(value ?? '');
}

/** A reader of CSV of its own, by RFC 4180. */
function cellsOf(text: string): string[][] {
  const rows: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)!.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === '\r\n') rows.push([]);
  }
  return rows.slice(0, -1);
}
