/** A database as a source: all rows by their key now and then, and every few seconds those that changed since. */
import { hash } from 'node:crypto';
import { systemClock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Item, SiteSource, SourceDocument } from '../sources/source.ts';
import { type DatabaseRecords, documentOf, pathOfRow, type RecordRow, textOf, timeOf } from './describe.ts';
import type { RecordRows } from './rows.ts';

const PAGE = 2000;
/** Rows of deleted documents are only missed in a list of all. */
const ALL_EVERY = 600_000;
/** Milliseconds by which the clock of a database and ours may differ. */
const CLOCKS = 60_000;
const DECIMAL = /^-?\d+(?:\.\d+)?$/;

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
      key = this.#further(key, rows);
    }
  }

  /** From the last that was seen on, and not beyond it: others may have been written in the same moment. */
  async *#recent(): AsyncIterable<Item> {
    if (this.#since === undefined) return;
    const { since } = this.#described;
    let from: unknown = this.#since;
    for (let beyond: unknown; ; ) {
      const rows = await this.#rows.since(from, beyond, PAGE);
      yield* this.#items(rows);
      if (rows.length < PAGE) return;
      from = rows.at(-1)![since];
      beyond = this.#further(beyond, rows);
    }
  }

  /** Key of the last row; a database whose word for it finds the same row again would be asked for ever. */
  #further(before: unknown, rows: readonly RecordRow[]): unknown {
    const { key } = this.#described;
    const last = rows.at(-1)![key];
    if (before !== undefined && textOf(last) === textOf(before))
      throw new SkeinError('refused', `The column ${key} is not unique.`);
    return last;
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
      if (hasCome(value) && (this.#since === undefined || isLater(value, this.#since))) this.#since = value;
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

/** A date ahead would hide all that changes until then. */
function hasCome(value: unknown): boolean {
  if (value === null || value === undefined || value === 'infinity') return false;
  const time = typeof value === 'string' ? timeOf(value) : undefined;
  return time === undefined || time <= systemClock.now() + CLOCKS;
}

function isLater(a: unknown, b: unknown): boolean {
  // Decimals that no number holds exactly come as texts.
  const areDecimals = [a, b].every(each => typeof each === 'string' && DECIMAL.test(each));
  return areDecimals ? Number(a) > Number(b) : (a as number) > (b as number);
}
