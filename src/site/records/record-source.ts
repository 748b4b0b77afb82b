/** A database as a source: all rows by their key now and then, and every few seconds those that changed since. */
import { hash } from 'node:crypto';
import type { Item, SiteSource, SourceDocument } from '../sources/source.ts';
import { type DatabaseRecords, documentOf, pathOfRow, type RecordRow, textOf, timeOf } from './describe.ts';
import type { RecordRows } from './rows.ts';

const PAGE = 2000;
/** Rows of deleted documents are only missed in a list of all. */
const ALL_EVERY = 600_000;

export class RecordSource implements SiteSource {
  readonly name: string;
  readonly every = ALL_EVERY;
  readonly recent: NonNullable<SiteSource['recent']>;
  readonly #described: DatabaseRecords;
  readonly #rows: RecordRows;
  readonly #site: string;
  readonly #keys = new Map<string, unknown>();
  /** The largest that was seen in the since-column. */
  #since: unknown;

  constructor(described: DatabaseRecords, rows: RecordRows, site: string) {
    this.name = `records ${described.name}`;
    this.#described = described;
    this.#rows = rows;
    this.#site = site;
    this.recent = { every: described.every * 1000, list: () => this.#recent() };
  }

  async *list(): AsyncIterable<Item> {
    for (let key: unknown; ; ) {
      const rows = await this.#rows.after(key, PAGE);
      yield* this.#items(rows);
      if (rows.length < PAGE) return;
      key = rows.at(-1)![this.#described.key];
    }
  }

  /** From the last that was seen on, and not beyond it: others may have been written in the same moment. */
  async *#recent(): AsyncIterable<Item> {
    if (this.#since === undefined) return;
    const { key, since } = this.#described;
    let from: unknown = this.#since;
    for (let beyond: unknown; ; ) {
      const rows = await this.#rows.since(from, beyond, PAGE);
      yield* this.#items(rows);
      if (rows.length < PAGE) return;
      from = rows.at(-1)![since];
      beyond = rows.at(-1)![key];
    }
  }

  async read(path: string): Promise<SourceDocument | undefined> {
    const key = this.#keys.get(path);
    const row = key === undefined ? undefined : await this.#rows.one(key);
    if (row === undefined || pathOfRow(this.#described.url, row, this.#site) !== path) return undefined;
    return this.#document(row);
  }

  close(): Promise<void> {
    return this.#rows.close();
  }

  *#items(rows: readonly RecordRow[]): Iterable<Item> {
    const { key, since, url } = this.#described;
    for (const row of rows) {
      const value = row[since];
      if (this.#since === undefined || isLater(value, this.#since)) this.#since = value;
      const path = pathOfRow(url, row, this.#site);
      if (path === undefined) continue;
      this.#keys.set(path, row[key]);
      const stamp = hash('sha256', Object.values(row).map(textOf).join('\0'), 'base64');
      yield { path, stamp, document: () => this.#document(row) };
    }
  }

  #document(row: RecordRow): SourceDocument {
    return documentOf(this.#described, row, 'record', timeOf(row[this.#described.since]));
  }
}

function isLater(a: unknown, b: unknown): boolean {
  if (a === null || a === undefined) return false;
  return (a as number) > (b as number);
}
