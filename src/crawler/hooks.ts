/**
 * Hooks: code of the user's own that runs in the fetching threads, before a request and after a page. What is
 * declared here is what a hooks module may say and is shown; who loads it, and what becomes of its errors, is the outpost's
 * business. Code of somebody else's runs in the cage of the deciders (docs/guides/library.md).
 */

/** A request that is about to be made. */
export interface HookRequest {
  readonly url: string;
  /** What the answer is taken for. */
  readonly role: 'page' | 'sitemap' | 'image';
  /** Links between it and its seed. */
  readonly depth: number;
  /** Nothing was known of the page before. */
  readonly first: boolean;
}

export interface RequestWish {
  /** Header lines besides Skein's own, which they cannot replace. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The request is not made; the page is refused as skipped. */
  readonly skip?: boolean | undefined;
}

export interface HookLink {
  readonly url: string;
  /** What the link says. */
  readonly text: string;
  readonly nofollow: boolean;
}

/** A page that came and is new or has changed. What is a method is made when it is asked for. */
export interface HookPage {
  readonly url: string;
  readonly title: string;
  /** BCP 47 primary tag, empty = unknown. */
  readonly language: string;
  readonly mediaType: string;
  readonly status: number;
  readonly depth: number;
  /** Of the body, without content coding. */
  readonly bytes: number;
  /** Of the visible text. */
  readonly words: number;
  /** Nothing was known of the page before. */
  readonly first: boolean;
  /** Of the answer, by its name in lower case. */
  header(name: string): string | undefined;
  /** Visible text, blocks separated by newlines. */
  text(): string;
  /** The body as text. */
  html(): string;
  /** The body as bytes, without content coding; a copy. */
  body(): Uint8Array;
  links(): HookLink[];
}

export interface AddedUrl {
  readonly url: string;
  /** What it promises, 1–255: with the order focused the most promising come first. */
  readonly priority?: number | undefined;
}

export interface PageWish {
  /** False: it is not stored, only read for links. */
  readonly keep?: boolean | undefined;
  /** False: its links are not followed; what is added is. */
  readonly follow?: boolean | undefined;
  /** What its links promise, 1–255. */
  readonly priority?: number | undefined;
  /** URLs to visit besides its links, absolute or relative to the page, within the bounds of the crawl. */
  readonly add?: readonly (string | AddedUrl)[] | undefined;
  /** Anything that JSON can say, kept with the visit: at most 64 KiB of it. */
  readonly data?: unknown;
}

type Soon<T> = T | undefined | Promise<T | undefined>;

export interface Hooks {
  beforeRequest?(request: HookRequest): Soon<RequestWish>;
  afterPage?(page: HookPage): Soon<PageWish>;
}

/** Gives a hooks module its types; it is what the module exports as default. */
export function defineHooks(hooks: Hooks): Hooks {
  return hooks;
}

/** Hooks as the crawler asks them. */
export interface RequestHook {
  /** Why it cannot be asked any more; empty = it can. */
  readonly over: string;
  /** What to add to the request, or that it is skipped; rejects where the code failed. Undefined = as it is. */
  before(request: HookRequest): RequestTerms | undefined | Promise<RequestTerms | undefined>;
}

export interface RequestTerms {
  readonly skip: boolean;
  readonly headers: readonly (readonly [string, string])[];
  /** Instead of Skein's own Accept. */
  readonly accept?: string;
}
