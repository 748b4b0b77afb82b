/** The collections that a workbench shows: one, or all below a directory. Each is opened when somebody first asks for it. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { isBegun, readCollection } from '../../ledger/collection/collection.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Live } from '../live.ts';
import { Reader } from '../reader.ts';
import { collectionName } from './forms.ts';

interface ShownCollection {
  readonly reader: Reader;
  readonly live: Live;
}

/** Milliseconds for which a count of pages is told again. */
const KEPT = 5000;

export class CollectionShelf {
  readonly #directory: string;
  readonly #site: string;
  /** The directory holds collections, and is none. */
  readonly several: boolean;
  readonly #open = new Map<string, ShownCollection>();
  readonly #pages = new Map<string, { readonly count: number; readonly time: number }>();

  constructor(directory: string, site: string, several: boolean) {
    this.#directory = directory;
    this.#site = site;
    this.several = several;
    if (!several) this.of('');
  }

  /** In order; a directory that is no collection yet is left out. */
  names(): string[] {
    if (!this.several) return [];
    const found = readdirSync(this.#directory, { withFileTypes: true }).filter(entry => entry.isDirectory());
    return found
      .map(({ name }) => name)
      .filter(name => this.has(name))
      .sort();
  }

  has(name: string): boolean {
    return collectionName.safeParse(name).success && readCollection(this.directoryOf(name)).here.some(isBegun);
  }

  /** Never outside: a name has no slash and does not begin with a dot. */
  directoryOf(name: string): string {
    return this.several ? join(this.#directory, collectionName.parse(name)) : this.#directory;
  }

  /** Throws where there is no such collection. */
  of(name: string): ShownCollection {
    const known = this.#open.get(name);
    if (known) return known;
    if (this.several && !this.has(name)) {
      throw new SkeinError('not-found', name ? `There is no collection "${name}".` : 'There is no collection yet.');
    }
    const reader = new Reader(this.directoryOf(name), this.#site);
    const opened = { reader, live: new Live(reader) };
    this.#open.set(name, opened);
    return opened;
  }

  /** The one that was chosen, else the first. */
  chosen(wanted: string | undefined): string {
    if (!this.several) return '';
    return wanted !== undefined && this.has(wanted) ? wanted : (this.names()[0] ?? '');
  }

  /** Pages that were visited; null where that cannot be told, as while its first run makes the ledger. */
  pages(name: string): number | null {
    const known = this.#pages.get(name);
    if (known && Date.now() - known.time < KEPT) return known.count;
    let count: number;
    try {
      count = this.#countPages(name);
    } catch {
      return null; // the list shows the others all the same
    }
    this.#pages.set(name, { count, time: Date.now() });
    return count;
  }

  #countPages(name: string): number {
    return readCollection(this.directoryOf(name))
      .here.filter(isBegun)
      .reduce((sum, { directory }) => {
        const ledger = new Ledger(directory, 'read');
        const visited = ledger.queries.listings.visited();
        ledger.close();
        return sum + visited;
      }, 0);
  }

  close(): void {
    for (const { reader, live } of this.#open.values()) {
      live.close();
      reader.close();
    }
  }
}
