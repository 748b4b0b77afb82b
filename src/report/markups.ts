/** The stored HTML of all pages, read once: descriptions, translations, and which pages need which requisites. */
import { type Copies, openCopies } from '../home/copies/copies.ts';
import { textOf } from '../home/copies/copy-text.ts';
import { readMarkup } from './markup.ts';
import { isHtml, isPage, type ReportedSite, type SitePart } from './site.ts';

/** Most bytes that are read of one page. */
const MOST_BYTES = 4_000_000;

export class Markups {
  readonly #descriptions = new Map<number, string>();
  readonly translations = new Map<number, readonly { readonly language: string; readonly url: string }[]>();
  /** Requisite → numbers of the pages that need it. */
  readonly needed = new Map<string, number[]>();

  /** `watch` is called with the number of pages read so far. */
  static async of(site: ReportedSite, watch: (pages: number) => void = () => {}): Promise<Markups> {
    const markups = new Markups();
    using opened = new DisposableStack();
    const copies = new Map<SitePart, Copies>();
    let read = 0;
    for (const row of site) {
      if (!isPage(row) || !isHtml(row) || !row.stored) continue;
      const { part, local } = site.placeOf(row.id);
      const own = copies.get(part) ?? opened.adopt(openCopies(part.ledger), each => each.close());
      copies.set(part, own);
      const known = part.ledger.pages.known(local);
      const stored = known && (await own.newest(known));
      if (stored) markups.#read(row.id, row.url, textOf(stored, MOST_BYTES));
      watch(++read);
    }
    return markups;
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
