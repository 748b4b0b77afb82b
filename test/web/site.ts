/** What the parts of the synthetic web share: one server as its pages see it, and a URL with the answer it gives. */
import type { Validators, WebOptions } from './options.ts';

export interface Site {
  readonly options: WebOptions;
  readonly server: number;
  /** `http://127.0.0.1:40123`. */
  readonly origin: string;
  /** Of all servers, this one included. */
  readonly origins: readonly string[];
  /** Time at which the web was opened: all pages are at version 0 then. */
  readonly start: number;
  /** Time of the last redesign, and how many there were. */
  readonly design: { count: number; time: number };
}

/** What a complete and polite crawl ends with for this URL, in the words of a visit's outcome. */
export type Expectation = 'page' | 'moved' | 'gone' | 'refused' | 'failed';

/** How a crawl can come to know the URL at all. `embedded`: only as an image; `unlinked`: not at all. */
export type Found = 'links' | 'sitemap' | 'nofollow' | 'embedded' | 'unlinked';

/** One request as the answer may depend on it. */
export interface Hit {
  readonly time: number;
  /** Requests for this URL before this one. */
  readonly count: number;
  /** Path and query as asked for. */
  readonly path: string;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Present where validators are sent: what they are made from. */
  readonly state?: { readonly version: number; readonly modified: number; readonly validators: Validators };
}

/** A content change of a page; noise and redesigns are never in this list. */
export interface ContentChange {
  readonly time: number;
  readonly version: number;
  readonly kind: 'text' | 'links' | 'structure' | 'image';
}

/** What is true of a page that has text. */
export interface Content {
  /** Content changes per day. */
  readonly rate: number;
  readonly noise: readonly string[];
  readonly validators: Validators;
  version(time: number): number;
  /** Changes after `from`, up to and including `to`. */
  changes(from: number, to: number): readonly ContentChange[];
  /** Main text, one paragraph a line. */
  text(time: number): string;
  /** Absolute URLs that the page links to, in order, repeated ones once. */
  links(time: number): readonly string[];
}

export interface Entry {
  /** Path and query on its server; one that ends in `*` answers for all that begin so. */
  readonly path: string;
  readonly expect: Expectation;
  readonly found: Found;
  /** Code of src/errand/reasons.ts that a crawl should give, where there is only one right one. */
  readonly reason?: string;
  readonly content?: Content;
  reply(hit: Hit): Reply;
}

/** Shown by the server's root page: where crawls enter a feature. */
export interface Door {
  readonly path: string;
  readonly anchor: string;
  readonly rel?: string;
}

export interface Wing {
  readonly entries: readonly Entry[];
  readonly doors: readonly Door[];
  /** Lines that the feature adds to robots.txt, after `User-agent: *` or (with `outside`) after all groups. */
  readonly robots?: readonly string[];
  readonly outside?: readonly string[];
}

export const html = { 'content-type': 'text/html; charset=utf-8' };

export function reply(status: number, body: string | Uint8Array, headers: Record<string, string> = html): Reply {
  return { status, headers, body: typeof body === 'string' ? Buffer.from(body) : body };
}
