/** The stored HTML of all pages, read once: descriptions, translations, and which pages need which requisites. */
import { openCopies } from '../home/copies/copies.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { readMarkup } from './markup.ts';
import { isHtml, isPage, type Site } from './site.ts';

/** Bytes of one page that are read. */
const MOST_BYTES = 4_000_000;

export class Markups {
  readonly #descriptions = new Map<number, string>();
  readonly translations = new Map<number, readonly { readonly language: string; readonly url: string }[]>();
  /** Requisite → numbers of the pages that need it. */
  readonly needed = new Map<string, number[]>();

  constructor(site: Site, directory: string) {
    const copies = openCopies(site.ledger, directory);
    try {
      for (const row of site) {
        const known = isPage(row) && isHtml(row) && row.stored ? site.ledger.pages.known(row.id) : undefined;
        const stored = known && copies.newest(known);
        if (stored) this.#read(row.id, row.url, textOf(stored, MOST_BYTES));
      }
    } finally {
      copies.close();
    }
  }

  /** Undefined: its copy is not stored. */
  description(page: number): string | undefined {
    return this.#descriptions.get(page);
  }

  #read(id: number, url: string, html: string): void {
    const { description, translations, requisites } = readMarkup(html, url);
    this.#descriptions.set(id, description);
    if (translations.length > 0) this.translations.set(id, translations);
    for (const requisite of requisites) {
      const pages = this.needed.get(requisite);
      if (pages) pages.push(id);
      else this.needed.set(requisite, [id]);
    }
  }
}
