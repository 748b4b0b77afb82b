/** Formats that hold what pages say: Markdown, text, chunks, and tables of them. */
import type { Writable } from 'node:stream';
import { chunksOf } from '../extract/chunks.ts';
import { type Extracted, extractPage, markdownOf, textOf } from '../extract/page.ts';
import { csvLine } from './csv.ts';
import { type Exporter, put, type Wanted } from './exporter.ts';
import { type Column, parquetTo } from './parquet.ts';
import { type Version, Versions } from './versions.ts';

/** Every HTML page that is wanted, as it is now or was then. */
export async function* versionsOf(versions: Versions, wanted: Wanted): AsyncGenerator<Version & { server: number }> {
  for (const { page, server, url } of versions.ledger.visits.newsPages(0, Number.MAX_SAFE_INTEGER)) {
    if (!wanted.matches(url)) continue;
    const version = versions.of(page, Number.MAX_SAFE_INTEGER, wanted.until);
    if (version && version.time >= wanted.since) yield { ...version, server };
  }
}

type Writing = (version: Version, extracted: Extracted) => Promise<void>;

async function each(wanted: Wanted, withSite: boolean, write: Writing): Promise<number> {
  using opened = new DisposableStack();
  const versions = opened.adopt(new Versions(wanted.data), its => its.close());
  let count = 0;
  for await (const version of versionsOf(versions, wanted)) {
    const template = withSite ? versions.template(version.server) : undefined;
    await write(version, extractPage(version.html(), version.url, template));
    count++;
  }
  return count;
}

const iso = (time: number): string => new Date(time).toISOString();

/** What a page says of itself before its text: lines of YAML, whose strings JSON's are. */
function frontMatter({ url, time, digest }: Version, { title }: Extracted): string {
  const lines = { url, title, time: iso(time), digest };
  return `---\n${Object.entries(lines)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}`)
    .join('\n')}\n---\n`;
}

const markdown: Exporter = {
  ...{ name: 'markdown', binary: false, pages: true },
  write: (wanted, out) =>
    each(wanted, true, (version, page) => put(out, `${frontMatter(version, page)}\n${markdownOf(page)}\n\n`)),
};

const text: Exporter = {
  ...{ name: 'text', binary: false, pages: true },
  write: (wanted, out) =>
    each(wanted, true, ({ url }, page) => put(out, `${url}\n${page.title}\n\n${textOf(page)}\n\n\f\n`)),
};

/** Ids and hashes depend on the page alone; what its server's pages share stays in. */
const chunks: Exporter = {
  ...{ name: 'chunks', binary: false, pages: true },
  write: (wanted, out) =>
    each(wanted, false, async ({ url, time }, page) => {
      for (const chunk of chunksOf(page, url)) await put(out, `${JSON.stringify({ ...chunk, time: iso(time) })}\n`);
    }),
};

const columns: readonly Column[] = [
  { name: 'url', type: 'STRING' },
  { name: 'time', type: 'TIMESTAMP' },
  { name: 'status', type: 'INT32' },
  { name: 'type', type: 'STRING' },
  { name: 'digest', type: 'STRING' },
  { name: 'title', type: 'STRING' },
  { name: 'text', type: 'STRING' },
  { name: 'markdown', type: 'STRING' },
];

function rowOf({ url, time, status, mediaType, digest }: Version, page: Extracted): (string | number | Date)[] {
  return [url, new Date(time), status, mediaType, digest, page.title, textOf(page), markdownOf(page)];
}

const csv: Exporter = { name: 'csv', binary: false, pages: true, write: writeCsv };

async function writeCsv(wanted: Wanted, out: Writable): Promise<number> {
  await put(out, csvLine(columns.map(({ name }) => name)));
  return each(wanted, true, (version, page) => put(out, csvLine(rowOf(version, page))));
}

const parquet: Exporter = { name: 'parquet', binary: true, pages: true, write: writeParquet };

async function writeParquet(wanted: Wanted, out: Writable): Promise<number> {
  const table = parquetTo(out, columns);
  const count = await each(wanted, true, (version, page) => table.add(rowOf(version, page)));
  await table.end();
  return count;
}

export const contentFormats: readonly Exporter[] = [markdown, text, chunks, csv, parquet];
