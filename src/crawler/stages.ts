/**
 * The records that pass between the crawler's stages: Known → Answer → Page → Change → Visit.
 * Each stage takes one and returns the next; none reaches back.
 */
import type { Links, Stage } from '../errand/visit.ts';
import type { PartExchange } from '../errand/warc/part-records.ts';

/** What a fetcher is asked for. It follows no redirects, knows no robots, waits for nothing. */
export interface Ask {
  /** Normalised, http or https. */
  readonly url: string;
  /** HEAD: the headers alone are wanted, no body comes; POST: `content` goes along; absent = GET. */
  readonly method?: 'HEAD' | 'POST';
  readonly content?: RequestContent;
  /** Value of an Authorization header. */
  readonly authorization?: string;
  /** Header lines that code of the user's adds; checked where they are made. */
  readonly headers?: readonly (readonly [string, string])[];
  readonly etag?: string;
  readonly lastModified?: string;
  /** Value of Available-Dictionary (RFC 9842): the answer may be a difference from that version, coded `dcz`. */
  readonly dictionary?: string;
  /** Value of the Accept header; default prefers HTML. */
  readonly accept?: string;
  /** Bytes of the body on the wire beyond which it is cut. */
  readonly maxBytes: number;
  /** Told of bytes of the body as they come; false = no more may come. */
  readonly flow?: ((bytes: number) => boolean) | undefined;
  /** Private, loopback and link-local addresses may be connected to. */
  readonly allowPrivate: boolean;
  readonly departure?: Departure;
}

/** Of a request to a server whose pace is kept; told of each time that it is written. */
export interface Departure {
  /**
   * Asked when the request is about to be written: milliseconds after which it is to be asked again, 0 = it goes out now,
   * Infinity = it must not go out any more, and fails as RECALLED.
   */
  leaves(): number;
  /** It has been written: the next one keeps its distance from here. */
  left(): void;
}

/** Reason of a failure that no server has to do with: the page is visited another time. */
export const RECALLED = 'recalled';

/** The body of a request. */
interface RequestContent {
  readonly type: string;
  readonly bytes: Uint8Array;
  /** It only asks: sent twice, it does no more than sent once. */
  readonly isQuestion?: boolean;
}

export type Answer = Response | Failure;

export interface Response {
  readonly kind: 'response';
  readonly status: number;
  /** Status line and header lines as received (for HTTP/2 as HTTP/1.1 would write them), blank line included. */
  readonly head: Uint8Array;
  /** The request as sent, blank line included. */
  readonly requestHead: Uint8Array;
  /** Names in lower case; repeated ones joined by ", ". */
  readonly headers: ReadonlyMap<string, string>;
  /** As it came: transfer coding removed, content coding kept. */
  readonly body: Uint8Array;
  /** Why the body is not whole; absent = it is. */
  readonly truncated?: 'length' | 'time' | 'disconnect' | undefined;
  /** `site`: it came in bulk through the site's own face, not as an answer to a request for this URL. */
  readonly protocol: 'http/1.1' | 'h2' | 'site';
  /** It came as a difference from the version that home holds (RFC 9842); head and body are those of the whole page. */
  readonly difference?: true;
  readonly address: string;
  /**
   * What else was exchanged to make this answer, by a fetcher that follows redirects or runs a browser: kept with the page,
   * for readers of the archive. `wire` counts all of it.
   */
  readonly parts?: readonly PartExchange[];
  readonly wire: Wire;
}

export interface Failure {
  readonly kind: 'failure';
  /** One of reasons.ts, e.g. `dns`, `connect-timeout`, `private-address`. */
  readonly reason: string;
  readonly detail: string;
  readonly wire: Wire;
}

export interface Wire {
  readonly up: number;
  readonly down: number;
  /** Milliseconds: to first byte, and in all. */
  readonly firstByte: number;
  readonly total: number;
}

/** The port behind which sockets hide; a synthetic one lets benches run without them. */
export interface Fetcher {
  fetch(ask: Ask): Promise<Answer>;
  /** The address that a server will be asked at, as far as its name tells; empty = it has none. */
  locate?(origin: string): Promise<string>;
  /** The body of an answer will not be looked at any more: its memory may hold another. */
  reuse?(body: Uint8Array): void;
  /** Drops idle connections to a server. */
  release(origin: string): void;
  close(): Promise<void>;
}

/** What analysis makes of a response. */
export interface Page {
  readonly url: string;
  readonly mediaType: string;
  readonly charset: string;
  readonly title: string;
  readonly language: string;
  readonly canonical: string | undefined;
  readonly noindex: boolean;
  readonly nofollow: boolean;
  readonly noarchive: boolean;
  /** Target of a meta refresh, absolute. */
  readonly refresh: string | undefined;
  readonly links: Links;
  /** Absolute URLs of the images, in order, unique. */
  readonly images: readonly string[];
  /** Packed. */
  readonly facts: Uint8Array;
  /** Of the visible text. */
  readonly words: number;
  /** Decoded bytes of the body. */
  readonly bytes: number;
  /** Visible text, blocks separated by newlines; made on demand. */
  text(): string;
}

/** What comparison found. */
export interface Change {
  readonly changed: boolean;
  readonly stage: Stage;
  /** Indexes of blocks that differ. */
  readonly where: readonly number[];
}
