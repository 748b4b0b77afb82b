/** What search takes in and gives out. Plain data: the feeder, the command line and the workbench share it. */

/** A page as search sees it. */
export interface SearchDocument {
  /** The page's id in the ledger. */
  readonly page: number;
  readonly url: string;
  readonly title: string;
  readonly headings: string;
  /** Text of links that lead here, besides those that the index was told of as links. */
  readonly anchors: string;
  /** Visible text, blocks separated by newlines. */
  readonly text: string;
  /** BCP 47, empty = unknown. */
  readonly language: string;
  readonly mediaType: string;
  /** Milliseconds since 1970 of the last look, as of when it was written; later looks that change nothing are not told. */
  readonly fetched: number;
  /** Milliseconds since 1970 of the last change seen. */
  readonly changed: number;
  /** How much the link structure makes of it, 0 to 1. */
  readonly importance: number;
  readonly noindex: boolean;
  readonly noarchive: boolean;
  /** 64 bits that differ little where texts do; 0 or absent = unknown. */
  readonly simhash?: bigint;
}

/** What the links of one page say of others; replaces what it said before. */
export interface Said {
  readonly source: number;
  readonly links: readonly { readonly target: number; readonly text: string }[];
}

/** What a source tells besides pages that changed or went. */
export interface Told {
  readonly said?: readonly Said[];
  /** Pages that lead to another one. They count as gone, too. */
  readonly aliases?: readonly { readonly page: number; readonly target: number }[];
}

/** One step of the index, applied whole or not at all. */
export interface SearchBatch extends Told {
  readonly changed: readonly SearchDocument[];
  readonly gone: readonly number[];
  /** Where the source stands after this batch; absent = leave it. */
  readonly cursor?: string;
  /** The cursor the batch was read from: when the index stands elsewhere by now, the batch is not applied. */
  readonly from?: string;
}

export interface QueryOptions {
  /** Results on one page of results; default 10, at most 100. */
  readonly limit?: number;
  /** Results to skip; default 0. The best 1,000 can be reached. */
  readonly offset?: number;
  /** Show also the results that nearly equal a better one. */
  readonly unfold?: boolean;
  /** BCP 47, of who asks: pages in it come first. */
  readonly language?: string;
  /** Milliseconds since 1970; default now. */
  readonly now?: number;
  /** What the ledger knows of a page by now; undefined = nothing. */
  readonly freshness?: (page: number) => Freshness | undefined;
}

/** How fresh what we have of a page is. */
export interface Freshness {
  /** Milliseconds since 1970 of the last look, whether it found a change or not. */
  readonly seen: number;
  /** Probability that it has changed since; undefined = cannot say. */
  readonly changedProbability: number | undefined;
}

/** A piece of text; `hit` pieces matched the query. Plain text: whoever shows it escapes it. */
export interface Fragment {
  readonly text: string;
  readonly hit: boolean;
}

export interface Hit {
  readonly page: number;
  readonly url: string;
  readonly title: readonly Fragment[];
  /** Empty for pages that say noarchive. */
  readonly snippet: readonly Fragment[];
  readonly language: string;
  readonly mediaType: string;
  readonly fetched: number;
  readonly changed: number;
  /** Milliseconds since the page was last seen. */
  readonly age: number;
  readonly changedProbability: number | undefined;
  /** No link leads to it: it came through the site, from a database or a folder of media. */
  readonly hidden?: 'record' | 'media' | undefined;
  /** A stored copy may be shown. */
  readonly copy: boolean;
  readonly score: number;
  /** Results that are not shown because they nearly equal this one. */
  readonly alike: number;
}

export interface Results {
  readonly query: string;
  readonly hits: readonly Hit[];
  /** Pages that match. */
  readonly total: number;
  /** False: there are more than `total`, and only a part of them was ranked (rank.ts says which). */
  readonly exact: boolean;
  /** No page has all words; these have some. */
  readonly relaxed: boolean;
  /** The query that these are results of, where a word of the one asked is on no page and seems misspelt. */
  readonly corrected?: string;
  readonly cached: boolean;
  /** Milliseconds. */
  readonly took: number;
}

/** What of a result tells how results divide. */
export interface SpreadRow {
  readonly url: string;
  readonly language: string;
  readonly mediaType: string;
  readonly changed: number;
}
