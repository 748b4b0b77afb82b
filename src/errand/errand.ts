/**
 * THE CONTRACT. An errand is the unit of delegated crawling: pages of ONE server with what is known of each, sent to
 * an outpost. Visits come back in parcels. Nothing else crosses between home and an outpost, whether the outpost is a
 * thread of this process or a machine three levels away.
 *
 * Records here are frozen data: no methods, no references to live things. errand-codec.ts and parcel-codec.ts hold their only encoding.
 */
import type { Known } from './known.ts';

/** Bumped whenever the bytes change; the first frame of every connection names it. */
export const PROTOCOL = 3;

export interface Errand {
  /** Unique within one home. */
  readonly id: string;
  /** `explore`: follow links inside the server, breadth first, within the limits; `refresh`: only these pages. */
  readonly kind: 'explore' | 'refresh';
  readonly server: ServerTerms;
  readonly pages: readonly Known[];
  /** Fingerprints of pages of the server that need no visit, 8 bytes each; for errands that follow links. */
  readonly seen?: Uint8Array;
  readonly scope: Scope;
  readonly limits: Limits;
  /** How many more levels of outposts the errand may travel. */
  readonly levels: number;
  /** Name of the change detector. */
  readonly detector: string;
  /** SHA-256 of the code that decides about its pages, hexadecimal; absent = nothing but the scope does. */
  readonly code?: string;
  /** Milliseconds since 1970 after which the results are no longer wanted. */
  readonly deadline: number;
}

/** What home knows of the server that bears on how it may be visited. */
export interface ServerTerms {
  /** Origin: scheme, host and port, as `https://example.org` (no trailing slash). */
  readonly origin: string;
  /** robots.txt as last fetched; absent = the crawler fetches it first. */
  readonly robots?: RobotsCopy;
  /** Milliseconds between requests, before Crawl-delay and back-off. */
  readonly pace: number;
  /** Connections this errand may hold to the server. */
  readonly connections: number;
  /** No request before this time (Retry-After, back-off). */
  readonly notBefore: number;
  /** Private, loopback and link-local addresses are allowed for this server. */
  readonly allowPrivate: boolean;
  /** And for any other that it leads to: the user has opened them all. */
  readonly anyPrivate?: boolean;
  /** Share of 304 answers to audit with a full GET, 0–1; falls as the server earns trust. */
  readonly auditShare: number;
  /** False: its validators have lied, do not send them. */
  readonly trustValidators: boolean;
  /** Print of its not-found page (16 bytes; empty = it answers 404 as it should); absent = not looked for yet. */
  readonly missing?: Uint8Array;
}

export interface RobotsCopy {
  /** HTTP status of the fetch; 0 = unreachable. */
  readonly status: number;
  /** At most 500 KiB: of this fetch if it was 2xx, else of the last one that was. */
  readonly body: string;
  /** First of the failures in a row, milliseconds since 1970; 0 = it can be read. */
  readonly unreachableSince: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** The user's filter: what is followed, and what is kept of it. Declarative, so that it can travel. */
export interface Scope {
  /** Hosts or domains links may lead to; empty = no limit. `example.org` includes its subdomains. */
  readonly domains: readonly string[];
  /** Globs (`*`, `**`) of paths to include / exclude. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Keywords of a focused crawl: links are given a relevance to them. */
  readonly focus: readonly string[];
  /** Images are pages too, fetched and kept. Absent: a page of the role `image` is watched by its headers. */
  readonly images?: boolean;
  readonly keep: Keep;
}

/** What is stored of the pages fetched. A page that is not kept is still read for links. Empty list = all. */
export interface Keep {
  readonly extensions: readonly string[];
  /** `text/html`, `image/*` … */
  readonly types: readonly string[];
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly paths: readonly string[];
  readonly languages: readonly string[];
  readonly keywords: readonly string[];
}

export interface Limits {
  /** Pages this errand may fetch. */
  readonly pages: number;
  /** Levels of links the crawler may follow by itself inside the errand; 0 = only the pages named. */
  readonly follow: number;
  /** Depth of a page below its seed beyond which links are not followed. */
  readonly depth: number;
  /** Decoded bytes of one body; more is cut and marked `truncated`. */
  readonly bodyBytes: number;
  /** Milliseconds for the whole errand. */
  readonly time: number;
}
