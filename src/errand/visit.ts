/** The record of one look at one page. Every URL that was asked for ends as exactly one of these. */

/**
 * fetched: a body came and differs from what was known (or nothing was known)
 * same:    looked at, and nothing changed
 * moved:   a redirect; `location` says where to
 * gone:    404, 410, or a soft 404
 * refused: we did not ask, or may not keep: robots, scope, trap, private address
 * failed:  asked, and got nothing usable; the retry table says what happens next
 */
export type Outcome = 'fetched' | 'same' | 'moved' | 'gone' | 'refused' | 'failed';

/**
 * The stage of the detector that decided, cheapest first. `first`: nothing was known before. `direct`: it was sent home
 * without being compared there by more than a hash, as the papers' rule has it. `stamp`: only stamps differ ("updated 3
 * minutes ago"). Of a page that home compared with its copy: `template`, all that differs is an edit that many pages of the
 * server share; `noise`, all that differs is known to be noise.
 */
export type Stage =
  | 'first'
  | 'validator'
  | 'raw'
  | 'last-modified'
  | 'url-count'
  | 'keyword-count'
  | 'direct'
  | 'ascii-sum'
  | 'structure'
  | 'text'
  | 'links'
  | 'content'
  | 'template'
  | 'image'
  | 'stamp'
  | 'noise';

export interface Visit {
  readonly url: string;
  /** Milliseconds since 1970 when the answer was complete. */
  readonly time: number;
  readonly outcome: Outcome;
  /** A short code: `ok`, `robots`, `http-503`, `connect-timeout`, `too-deep` …; reasons.ts lists them all. */
  readonly reason: string;
  /** HTTP status, 0 when no answer came. */
  readonly status: number;
  readonly stage?: Stage;
  /** Which blocks differ (indexes into facts.blocks), as far as the detector can say. */
  readonly where?: readonly number[];
  readonly depth: number;
  readonly etag?: string;
  readonly lastModified?: string;
  /** As packFacts wrote them: home stores them as they are and rarely needs to open them. */
  readonly facts?: Uint8Array;
  readonly page?: PageNotes;
  /** Absolute, for `moved`. */
  readonly location?: string;
  readonly links?: Links;
  /** What a decider said of the page's links; absent = follow them as usual. */
  readonly verdict?: LinkVerdict;
  /** What a hook of the user's took from the page, as JSON. */
  readonly data?: string;
  readonly cost: Cost;
  /** Where this visit's WARC members lie in the parcel's member section; absent = nothing to keep. */
  readonly record?: RecordPlace;
  /** Seconds the server asked us to stay away (Retry-After), 0 = did not. */
  readonly retryAfter: number;
}

/** What a reader would want to know of a page without opening it. */
export interface PageNotes {
  readonly title: string;
  readonly mediaType: string;
  readonly charset: string;
  /** BCP 47 primary tag, empty = unknown. */
  readonly language: string;
  /** Decoded bytes. */
  readonly bytes: number;
  readonly canonical?: string;
  readonly noindex: boolean;
  readonly nofollow: boolean;
  readonly noarchive: boolean;
  /** The body was cut at a limit. */
  readonly truncated: boolean;
  /** Kept out of the archive by the user's filter; links were still read. */
  readonly filtered: boolean;
}

/** What code of the user's found out about the links of a page, where that differs from what all pages get. */
export interface LinkVerdict {
  readonly follow: boolean;
  /** What the links promise to a focused crawl, 0–255; 0 = it did not say. */
  readonly relevance: number;
}

/**
 * What bytes were spent on. `delta`: a page that came in bulk through the site's own face, as a difference; `dictionary`: an
 * answer that its server sent as a difference from the version that home holds (RFC 9842).
 */
type CostCause =
  | 'page'
  | 'not-modified'
  | 'robots'
  | 'sitemap'
  | 'image'
  | 'audit'
  | 'error'
  | 'none'
  | 'delta'
  | 'dictionary';

export interface Cost {
  /** Bytes on the wire of this visit, headers included. */
  readonly up: number;
  readonly down: number;
  readonly cause: CostCause;
  /** Milliseconds from the request to the last byte. */
  readonly ms: number;
}

export interface RecordPlace {
  readonly offset: number;
  readonly length: number;
  /** Length of the request member that precedes the response member inside the range. */
  readonly requestLength: number;
}

/**
 * The links of a page, unique by URL, packed so that home need not make a string of a link it already knows:
 * fingerprints side by side, then URLs and anchors as slices of one text.
 */
export interface Links {
  readonly count: number;
  /** Fingerprints: high and low 32 bits of each link, interleaved. */
  readonly fingerprints: Uint32Array;
  /** The LINK_ bits below. */
  readonly flags: Uint8Array;
  /** Relevance to the errand's keywords, 0–255; all 0 without keywords. */
  readonly relevance: Uint8Array;
  /** All URLs joined by newlines (a normalised URL has none), UTF-8. */
  readonly urls: Uint8Array;
  /** Anchor texts joined by newlines, UTF-8, each at most 120 characters. */
  readonly anchors: Uint8Array;
  /** Milliseconds of sitemap lastmod per link, 0 = none; empty unless from a sitemap. */
  readonly lastmod: Float64Array;
}

export const LINK_NOFOLLOW = 1;
/** Named in a sitemap. */
export const LINK_SITEMAP = 2;
export const LINK_REDIRECT = 4;
export const LINK_CANONICAL = 8;
export const LINK_ALTERNATE = 16;
/** The target is itself a sitemap. */
export const LINK_IS_SITEMAP = 32;
/** The target is an image that the page shows. */
export const LINK_IMAGE = 64;
/** Code of the user's named it: it is followed whatever is said of the page's own links. */
export const LINK_ADDED = 128;
