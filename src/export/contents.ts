/** Formats that hold what pages say: Markdown, text, chunks, and tables of them. */
import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { SkeinError } from '../base/errors.ts';
import { chunksOf } from '../extract/chunks.ts';
import { type Extracted, extractPage, markdownOf, textOf } from '../extract/page.ts';
import { csvLine } from './csv.ts';
import { type Exporter, linesAway, partsOf, put, putAway, type Wanted } from './exporter.ts';
import { type Cell, type Column, parquetTo } from './parquet.ts';
import { type Version, Versions } from './versions.ts';

/** Every HTML page that is wanted, as it is now or was then. */
async function* versionsOf(versions: Versions, wanted: Wanted): AsyncGenerator<Version & { server: number }> {
  for (const { page, server, url } of versions.ledger.queries.news.newsPages(0, Number.MAX_SAFE_INTEGER)) {
    if (!wanted.matches(url)) continue;
    const version = await versions.of(page, Number.MAX_SAFE_INTEGER, wanted.until);
    if (version && version.time >= wanted.since) yield { ...version, server };
  }
}

type Writing = (version: Version, extracted: Extracted) => Promise<void>;

async function each(wanted: Wanted, withSite: boolean, write: Writing): Promise<number> {
  let count = 0;
  for (const { data } of partsOf(wanted)) {
    using opened = new DisposableStack();
    const versions = opened.adopt(new Versions(data), its => its.close());
    for await (const version of versionsOf(versions, wanted)) {
      const template = withSite ? await versions.template(version.server) : undefined;
      await write(version, extractPage(version.html(), version.url, template));
      count++;
    }
  }
  return count;
}

/** With what other machines have behind it. */
async function withAway(format: string, wanted: Wanted, out: Writable, write: Writing): Promise<number> {
  const count = await each(wanted, true, write);
  return count + (await putAway(wanted, format, out));
}

/** The same for formats of users' own. */
export function eachPage(wanted: Wanted, write: (page: PageShown) => Promise<void>): Promise<number> {
  return each(wanted, true, ({ url, time, html }, page) =>
    write({ url, time, title: page.title, html, text: () => textOf(page), markdown: () => markdownOf(page) }),
  );
}

interface PageShown extends Pick<Version, 'url' | 'time' | 'html'> {
  readonly title: string;
  text(): string;
  markdown(): string;
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
    withAway('markdown', wanted, out, (version, page) =>
      put(out, `${frontMatter(version, page)}\n${markdownOf(page)}\n\n`),
    ),
};

const text: Exporter = {
  ...{ name: 'text', binary: false, pages: true },
  write: (wanted, out) =>
    withAway('text', wanted, out, ({ url }, page) => put(out, `${url}\n${page.title}\n\n${textOf(page)}\n\n\f\n`)),
};

/** Ids and hashes depend on the page alone; what its server's pages share stays in. */
const chunks: Exporter = {
  ...{ name: 'chunks', binary: false, pages: true },
  async write(wanted, out) {
    const count = await each(wanted, false, async ({ url, time }, page) => {
      for (const chunk of chunksOf(page, url)) await put(out, `${JSON.stringify({ ...chunk, time: iso(time) })}\n`);
    });
    return count + (await putAway(wanted, 'chunks', out));
  },
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

/** Rows of all machines, one by one. */
async function eachRow(wanted: Wanted, add: (row: readonly Cell[]) => Promise<void>): Promise<number> {
  const count = await each(wanted, true, (version, page) => add(rowOf(version, page)));
  return count + (await linesAway(wanted, rows.name, line => add(rowFrom(line))));
}

/** As one peer tells them to another: a line of JSON each. */
export const rows: Exporter = {
  ...{ name: 'rows', binary: false, pages: true },
  write: (wanted, out) => each(wanted, true, (version, page) => put(out, `${JSON.stringify(rowOf(version, page))}\n`)),
};

/** What another machine told is a row, or nothing is written. */
function rowFrom(line: string): Cell[] {
  let cells: unknown;
  try {
    cells = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (Array.isArray(cells) && cells.length === columns.length) {
    const read = columns.map(({ type }, i): Cell | undefined => {
      const value: unknown = cells[i];
      if (type === 'TIMESTAMP') return Number.isNaN(Date.parse(String(value))) ? undefined : new Date(String(value));
      return typeof value === (type === 'STRING' ? 'string' : 'number') ? (value as Cell) : undefined;
    });
    if (read.every(cell => cell !== undefined)) return read;
  }
  throw new SkeinError('refused', 'A peer sent a malformed row.', 'It may run another Skein.');
}

const csv: Exporter = { name: 'csv', binary: false, pages: true, write: writeCsv };

async function writeCsv(wanted: Wanted, out: Writable): Promise<number> {
  await put(out, csvLine(columns.map(({ name }) => name)));
  return eachRow(wanted, row => put(out, csvLine(row)));
}

const parquet: Exporter = { name: 'parquet', binary: true, pages: true, write: writeParquet };

async function writeParquet(wanted: Wanted, out: Writable): Promise<number> {
  const table = parquetTo(out, columns);
  const count = await eachRow(wanted, row => table.add(row));
  await table.end();
  return count;
}

/** Letters and digits, because both search engines want ids so: of the URL, so that a page that changed replaces itself. */
const idOf = (url: string): string => createHash('sha256').update(url).digest('hex').slice(0, 32);

function documentOf({ url, time }: Version, page: Extracted): object {
  return { url, title: page.title, text: textOf(page), time: iso(time) };
}

/** For POST /INDEX/_bulk: what is to be done, and the document, in two lines. */
const openSearch: Exporter = {
  ...{ name: 'opensearch', binary: false, pages: true },
  write: (wanted, out) =>
    each(wanted, true, (version, page) => {
      const action = JSON.stringify({ index: { _id: idOf(version.url) } });
      return put(out, `${action}\n${JSON.stringify(documentOf(version, page))}\n`);
    }),
};

/** For POST /indexes/INDEX/documents with the type application/x-ndjson. */
const meilisearch: Exporter = {
  ...{ name: 'meilisearch', binary: false, pages: true },
  write: (wanted, out) =>
    each(wanted, true, (version, page) =>
      put(out, `${JSON.stringify({ id: idOf(version.url), ...documentOf(version, page) })}\n`),
    ),
};

export const contentFormats: readonly Exporter[] = [markdown, text, chunks, csv, parquet, openSearch, meilisearch];
