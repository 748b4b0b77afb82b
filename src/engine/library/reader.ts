/** Pages of a collection as a program reads them: what a visit found at once, what is larger when it is asked for. */
import type { Stored } from '../../archive/read.ts';
import { fingerprint } from '../../base/url.ts';
import type { Outcome } from '../../errand/visit.ts';
import { extractPage, textOf as mainText, markdownOf } from '../../extract/page.ts';
import { type Copies, openCopies } from '../../home/copies/copies.ts';
import { textOf } from '../../home/copies/copy-text.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { NamedVisit } from '../../ledger/visits.ts';
import { openLedger } from '../open-ledger.ts';

/** Visits that are read at once. */
const SLICE = 64;

export interface PageLink {
  readonly url: string;
  /** What the link says. */
  readonly text: string;
  readonly nofollow: boolean;
}

/** One look at one page. Good until the collection is closed. */
export interface CrawledPage {
  /** Number of the visit: later ones are larger. */
  readonly visit: number;
  readonly url: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly outcome: Outcome;
  /** Why it ended so: a word of the table of reasons. */
  readonly reason: string;
  /** Of the answer; 0 = there was none. */
  readonly status: number;
  readonly title: string | undefined;
  /** Media type. */
  readonly type: string | undefined;
  /** Links between it and its seed. */
  readonly depth: number;
  /** Bytes on the wire, both ways. */
  readonly bytes: number;
  /** Body as it was stored, decoded; undefined = no copy is stored. */
  body(): Uint8Array | undefined;
  /** The same as text in Unicode. */
  html(): string | undefined;
  /** Its main content, without what a template adds. */
  text(): string | undefined;
  markdown(): string | undefined;
  /** Where it leads, as the last look at it found. */
  links(): PageLink[];
}

export class CollectionReader {
  readonly #directory: string;
  #open: { readonly ledger: Ledger; readonly copies: Copies } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Throws where there is no collection yet. */
  get ledger(): Ledger {
    return this.#opened().ledger;
  }

  #opened(): { readonly ledger: Ledger; readonly copies: Copies } {
    if (this.#open) return this.#open;
    const ledger = openLedger(this.#directory);
    this.#open = { ledger, copies: openCopies(ledger, this.#directory) };
    return this.#open;
  }

  /** The next visits after one, as far as they are committed. */
  after(visit: number): CrawledPage[] {
    return this.ledger.visits.after(visit, SLICE).map(row => this.#pageOf(row));
  }

  /** As the last look at it was. */
  page(url: string): CrawledPage | undefined {
    const { ledger } = this;
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    const page = ledger.pages.find(high, low);
    const last = page && ledger.visits.of(page.id).at(-1);
    const row = last && ledger.visits.after(last.id - 1, 1)[0];
    return row?.page === page?.id && row ? this.#pageOf(row) : undefined;
  }

  #pageOf(row: NamedVisit): CrawledPage {
    const { id: visit, page, url, time, outcome, reason, status, depth } = row;
    const html = () => {
      const stored = this.#copyOf(row);
      return stored && textOf(stored);
    };
    const extracted = () => {
      const text = html();
      return text === undefined ? undefined : extractPage(text, url);
    };
    return {
      ...{ visit, url, time, outcome, reason, status, depth },
      title: row.title ?? undefined,
      type: row.type ?? undefined,
      bytes: row.up + row.down,
      body: () => this.#copyOf(row)?.decoded().bytes,
      html,
      text() {
        const found = extracted();
        return found && mainText(found);
      },
      markdown() {
        const found = extracted();
        return found && markdownOf(found);
      },
      links: () => this.#linksOf(page),
    };
  }

  /** What the visit stored; where it found nothing new, the newest copy that there is. */
  #copyOf(row: NamedVisit): Stored | undefined {
    const { ledger, copies } = this.#opened();
    if (row.segment !== null) return copies.of(row);
    const known = row.outcome === 'same' ? ledger.pages.known(row.page) : undefined;
    return known && copies.newest(known);
  }

  #linksOf(page: number): PageLink[] {
    const { pages, links } = this.ledger;
    const found = links.out(page).filter(({ target }) => target !== 0);
    return found.map(({ target, anchor, nofollow }) => ({ url: pages.get(target)?.url ?? '', text: anchor, nofollow }));
  }

  close(): void {
    this.#open?.copies.close();
    this.#open?.ledger.close();
    this.#open = undefined;
  }
}
