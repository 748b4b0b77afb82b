/**
 * The collection as the workbench reads it: a ledger opened for reading beside the home that may be writing it, stored
 * copies, and the search index. Everything here is bounded: no question may cost more the larger the collection is.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { fingerprint, normalise } from '../base/url.ts';
import { type Copies, openCopies } from '../home/copies.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { KnownRow, PageRow } from '../ledger/pages.ts';
import type { VisitRow } from '../ledger/visits.ts';
import { openSearch, type Search } from '../search/index.ts';

/** A value that SQLite takes. */
export type Value = string | number | null;

export class Reader {
  readonly directory: string;
  readonly ledger: Ledger;
  readonly copies: Copies;
  #search: Search | undefined;

  constructor(directory: string) {
    this.directory = directory;
    this.ledger = new Ledger(directory, 'read');
    this.copies = openCopies(this.ledger, directory);
  }

  rows<T>(sql: string, ...values: Value[]): T[] {
    return this.ledger.database.prepare(sql).all(...values) as T[];
  }

  row<T>(sql: string, ...values: Value[]): T | undefined {
    return this.ledger.database.prepare(sql).get(...values) as T | undefined;
  }

  /** Undefined: nothing was indexed yet. */
  search(): Search | undefined {
    const file = join(this.directory, 'search.db');
    if (!this.#search && existsSync(file)) this.#search = openSearch(file);
    return this.#search;
  }

  page(id: number): { page: PageRow; known: KnownRow | undefined } {
    const page = this.ledger.pages.get(id);
    if (!page) throw new SkeinError('not-found', 'There is no such page.');
    return { page, known: this.ledger.pages.known(id) };
  }

  /** By URL: reads the table of pages through, a tenth of a second for a million. */
  find(text: string): number {
    const url = normalise(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`);
    if (url === undefined) throw new SkeinError('bad-option', `"${text}" is not a URL.`);
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const page = this.ledger.pages.find(high, low);
    if (!page) throw new SkeinError('not-found', `The collection has never heard of ${url}.`);
    return page.id;
  }

  visit(id: number): VisitRow {
    const visit = this.row<VisitRow>('SELECT * FROM visits WHERE id = ?', id);
    if (!visit) throw new SkeinError('not-found', 'There is no such visit.');
    return visit;
  }

  /** The first visit at or after a time. Ids grow with time as near as matters, so halving finds it. */
  visitAt(time: number): number {
    let low = 1;
    let high = (this.row<{ last: number | null }>('SELECT max(id) AS last FROM visits')?.last ?? 0) + 1;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const at = this.row<{ time: number }>('SELECT time FROM visits WHERE id >= ? ORDER BY id LIMIT 1', middle)?.time;
      if (at === undefined || at >= time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  close(): void {
    this.#search?.close();
    this.copies.close();
    this.ledger.close();
  }
}
