/**
 * The collection as the workbench reads it: a ledger opened for reading beside the home that may be writing it, stored
 * copies, and the search index. Everything here is bounded: no question may cost more the larger the collection is.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import type { Found } from '../home/answers/lookup.ts';
import { type NotDue, notDue } from '../home/answers/savings.ts';
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { Ledger } from '../ledger/ledger.ts';
import type { VisitRow } from '../ledger/visits.ts';
import { openSearch, type Search } from '../search/index.ts';
import { DayCounts } from './day-counts.ts';

/** Pages that stand for all others in what was avoided by not asking, which is kept for fifty times as long as it took. */
const SAMPLED = 2000;
const KEPT = 50;

export class Reader {
  readonly directory: string;
  readonly ledger: Ledger;
  readonly copies: Copies;
  readonly dayCounts: DayCounts;
  #search: Search | undefined;
  #notDue: { readonly first: number; readonly until: number; readonly rows: readonly NotDue[] } | undefined;

  constructor(directory: string) {
    this.directory = directory;
    this.ledger = new Ledger(directory, 'read');
    this.copies = openCopies(this.ledger, directory);
    this.dayCounts = new DayCounts(this.ledger);
  }

  /** Undefined: nothing was indexed yet. */
  search(): Search | undefined {
    const file = join(this.directory, 'search.db');
    if (!this.#search && existsSync(file)) this.#search = openSearch(file);
    return this.#search;
  }

  /** What was avoided by not asking, from the day `first` on. */
  notDue(first: number): readonly NotDue[] {
    const now = performance.now();
    let kept = this.#notDue;
    if (!kept || kept.first > first || now >= kept.until) {
      const rows = notDue(this.ledger, first, SAMPLED);
      this.#notDue = kept = { first, until: now + KEPT * (performance.now() - now), rows };
    }
    return kept.rows.filter(({ day }) => day >= first);
  }

  page(id: number): Found {
    const page = this.ledger.pages.get(id);
    if (!page) throw new SkeinError('not-found', 'There is no such page.');
    return { page, known: this.ledger.pages.known(id) };
  }

  visit(id: number): VisitRow {
    const visit = this.ledger.visits.get(id);
    if (!visit) throw new SkeinError('not-found', 'There is no such visit.');
    return visit;
  }

  close(): void {
    this.#search?.close();
    this.copies.close();
    this.ledger.close();
  }
}
