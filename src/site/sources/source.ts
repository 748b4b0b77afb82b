/**
 * Where a site's pages come from: files, a web server on this machine, a database, a folder of media, or the program that
 * Skein is part of. The inventory asks all of them alike.
 *
 * Contract: `list` names everything that is there, or throws; what it leaves out is taken for removed. `read` gives
 * undefined only for what is certainly not there, and throws where it cannot know.
 */
import type { DocumentKind } from '../../notices/site/paths.ts';

/** Documents in a row that cannot be read: then it is not they, but the source. */
export const HOPELESS = 8;

export interface SourceDocument {
  readonly kind: DocumentKind;
  /** Content-Type. */
  readonly type: string;
  /** Of a document that is no HTML. */
  readonly title?: string | undefined;
  /** Milliseconds since 1970; absent = the source does not know. */
  readonly modified?: number | undefined;
  /** Value of X-Robots-Tag, where it came with one: its body does not say all that crawlers are to know. */
  readonly robots?: string | undefined;
  /** No list is to name it, though nothing in its body says so. */
  readonly unlisted?: boolean;
  readonly body: Uint8Array;
}

export interface Item {
  /** Path and query, in normal form. */
  readonly path: string;
  /** Equal while the document is certainly the same; empty = it has to be read. */
  readonly stamp: string;
  /** Where listing it has already read it. */
  readonly document?: () => SourceDocument;
  /** It is there as far as anybody can tell, but cannot be read now, and why; for people. */
  readonly problem?: string;
}

export interface SiteSource {
  readonly name: string;
  /** Milliseconds between two lists of everything. */
  readonly every: number;
  /** It may be a server that starts when we do, as the program that we are part of. */
  readonly mayStartLate?: boolean;
  list(): AsyncIterable<Item>;
  /** What changed lately, where the source can tell without listing all; asked for every `recentEvery` milliseconds. */
  readonly recent?: { readonly every: number; list(): AsyncIterable<Item> };
  read(path: string): Promise<SourceDocument | undefined>;
  /** Calls back with paths that may have changed, none = anything may have. Returns how to stop it. */
  watch?(touched: (paths: readonly string[]) => void): () => void;
  /** The site's robots.txt, where this source has one. */
  robots?(): Promise<Uint8Array | undefined>;
  close?(): Promise<void>;
}
