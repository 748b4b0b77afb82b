/**
 * Fields of pages as rows, over what is stored: nothing is fetched. After a cursor only pages whose rows differ from those
 * at the cursor, and pages that went, are written.
 */
import type { Writable } from 'node:stream';
import type { Fields, Row, Value } from '../extract/fields.ts';
import { isBegun, readCollection } from '../ledger/collection/collection.ts';
import { csvLine } from './csv.ts';
import { cursorAt, cursorOf, cursorsIn, newestIn, readUpTo } from './cursor.ts';
import { put } from './exporter.ts';
import { type Cell, type Column, parquetTo } from './parquet.ts';
import { type Version, Versions } from './versions.ts';

export const rowFormats = ['jsonl', 'csv', 'parquet'] as const;

export interface RowsWanted {
  readonly data: string;
  readonly fields: Fields;
  readonly matches: (url: string) => boolean;
  readonly after: string;
  readonly format: (typeof rowFormats)[number];
}

export interface RowsWritten {
  readonly cursor: string;
  readonly rows: number;
  /** Pages that were there at the cursor and have no rows any more. */
  readonly gone: number;
  /** Rows that did not fit the schema's `row` and were left out, and why the first one was. */
  readonly refused: number;
  readonly firstRefusal?: string | undefined;
}

interface RowCounts {
  rows: number;
  gone: number;
  refused: number;
  firstRefusal?: string;
}

interface RowSink {
  row(url: string, time: number, row: Row): Promise<void>;
  gone(url: string): Promise<void>;
  end(): Promise<void>;
}

export async function writeRows(wanted: RowsWanted, out: Writable): Promise<RowsWritten> {
  const { partitions, here } = readCollection(wanted.data);
  const cursors = new Map(cursorsIn(wanted.after, partitions));
  const sink = sinks[wanted.format](out, wanted.fields);
  const written: RowCounts = { rows: 0, gone: 0, refused: 0 };
  for (const { id, directory } of here.filter(isBegun)) {
    const after = cursors.get(id) ?? '0';
    cursors.set(id, await writePart({ ...wanted, data: directory, after }, written, sink));
  }
  await sink.end();
  return { cursor: cursorOf(cursors, partitions), ...written };
}

/** The same of one partition, counted in `written`; returns the partition's next cursor. */
async function writePart(wanted: RowsWanted, written: RowCounts, sink: RowSink): Promise<string> {
  using opened = new DisposableStack();
  const versions = opened.adopt(new Versions(wanted.data), each => each.close());
  const { ledger } = versions;
  const from = readUpTo(wanted.after, ledger);
  const upTo = newestIn(ledger);
  const rowsIn = (version: Version | undefined, refuse?: (why: string) => void) =>
    version ? wanted.fields.rows(version.html(), version.url, refuse) : [];
  const gone = async (url: string) => {
    await sink.gone(url);
    written.gone++;
  };
  // First: a page that was allowed to come back may be among those below.
  if (wanted.after !== '0')
    for (const url of ledger.storage.forgetting.between(from.forgotten, upTo.forgotten))
      if (wanted.matches(url)) await gone(url);
  for (const { page, url } of ledger.queries.news.newsPages(from.visit, upTo.visit)) {
    if (!wanted.matches(url)) continue;
    const version = await versions.of(page, upTo.visit);
    const refuse = (why: string) => {
      written.refused++;
      written.firstRefusal ??= `${url}: ${why}`;
    };
    const [before, now] = [from.visit === 0 ? undefined : await versions.at(page, from), rowsIn(version, refuse)];
    if (before !== 'lost' && JSON.stringify(rowsIn(before)) === JSON.stringify(now)) continue;
    if (now.length === 0) await gone(url);
    for (const row of now) await sink.row(url, version!.time, row);
    written.rows += now.length;
  }
  return cursorAt(upTo);
}

const iso = (time: number): string => new Date(time).toISOString();

const sinks: Readonly<Record<RowsWanted['format'], (out: Writable, fields: Fields) => RowSink>> = {
  jsonl: out => ({
    row: (url, time, row) => put(out, `${JSON.stringify({ url, time: iso(time), ...row })}\n`),
    gone: url => put(out, `${JSON.stringify({ url, gone: true })}\n`),
    end: async () => {},
  }),
  csv(out, { names }) {
    let begun = false;
    const begin = async () => {
      if (!begun) await put(out, csvLine(['url', 'time', ...names]));
      begun = true;
    };
    const line = async (cells: readonly Cell[]) => {
      await begin();
      await put(out, csvLine(cells));
    };
    return {
      row: (url, time, row) => line([url, new Date(time), ...names.map(name => flat(row[name]))]),
      gone: url => line([url, null, ...names.map(() => null)]),
      end: begin,
    };
  },
  parquet(out, { names, numbers }) {
    const own = names.map((name): Column => ({ name, type: numbers.has(name) ? 'DOUBLE' : 'STRING' }));
    const table = parquetTo(out, [{ name: 'url', type: 'STRING' }, { name: 'time', type: 'TIMESTAMP' }, ...own]);
    const cell = (name: string, value: Value | undefined) =>
      numbers.has(name) ? numberOf(value) : value === null || value === undefined ? null : String(flat(value));
    return {
      row: (url, time, row) => table.add([url, new Date(time), ...names.map(name => cell(name, row[name]))]),
      gone: url => table.add([url, null, ...names.map(() => null)]),
      end: () => table.end(),
    };
  },
};

/** A schema of rows may have made something else of it. */
function numberOf(value: Value | undefined): number | null {
  return typeof value === 'number' ? value : null;
}

/** Lists and objects as JSON: a cell holds one value. */
function flat(value: Value | undefined): string | number | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : value;
}
