/** What the visits so far have taught about one page: a row of the table `known`, and how it is written. */
import type { StatementSync } from 'node:sqlite';
import type { Outcome } from '../../errand/visit.ts';

/** Names and order are those of the table `known`. */
export interface KnownRow {
  readonly page: number;
  readonly time: number;
  readonly seen_time: number | null;
  readonly first_time: number;
  readonly changed_time: number;
  readonly outcome: Outcome;
  readonly reason: string;
  readonly status: number;
  readonly tries: number;
  readonly retry_at: number | null;
  /** Notices since the last visit. */
  readonly pings: number;
  readonly due: number | null;
  readonly etag: string | null;
  readonly last_modified: string | null;
  readonly title: string | null;
  readonly media_type: string | null;
  readonly charset: string | null;
  readonly language: string | null;
  readonly canonical: string | null;
  readonly bytes: number | null;
  /** Bytes on the wire of the last visit that brought a body. */
  readonly wire: number | null;
  readonly flags: number;
  readonly ascii_sum: number | null;
  readonly urls: number | null;
  readonly keywords: number | null;
  readonly facts: Uint8Array | null;
  readonly change: Uint8Array | null;
  readonly moved_to: number | null;
  readonly same_as: number | null;
  readonly near: number | null;
  readonly segment: number | null;
  readonly place: number | null;
  readonly length: number | null;
  readonly request_length: number | null;
}

export const FLAG_NOINDEX = 1;
export const FLAG_NOFOLLOW = 2;
export const FLAG_NOARCHIVE = 4;
export const FLAG_TRUNCATED = 8;
export const FLAG_FILTERED = 16;
/** The images of its stored copy are known. */
export const FLAG_SHOWN = 32;
/** A second address of the page `same_as`: the same bytes, and URLs that differ in the query alone. */
export const FLAG_ALIAS = 64;
/** Nothing leads to it any more: its last link vanished, or its sitemap dropped it. */
export const FLAG_DOUBTED = 128;
/** A later visit found another content than the one before, edits that many pages share included. */
export const FLAG_CHANGED = 256;
/** A notice of the site brought about the visit that found its last change. */
export const FLAG_TOLD = 512;
/** Its site tells of its pages, and not of this one: what it does not say means nothing. */
export const FLAG_UNSPOKEN = 1024;

export function isUnspoken({ flags }: { readonly flags: number }): boolean {
  return (flags & FLAG_UNSPOKEN) !== 0;
}

/** Of the table `known`. */
export const KNOWN_COLUMNS = 34;
/** Returns how many rows it wrote. One by one: the list made of the names of columns took as long as SQLite did. */
export function runKnown(statement: StatementSync, row: KnownRow): number {
  const k = row;
  const { changes } = statement.run(
    k.page,
    k.time,
    k.seen_time,
    k.first_time,
    k.changed_time,
    k.outcome,
    k.reason,
    k.status,
    k.tries,
    k.retry_at,
    k.pings,
    k.due,
    k.etag,
    k.last_modified,
    k.title,
    k.media_type,
    k.charset,
    k.language,
    k.canonical,
    k.bytes,
    k.wire,
    k.flags,
    k.ascii_sum,
    k.urls,
    k.keywords,
    k.facts,
    k.change,
    k.moved_to,
    k.same_as,
    k.near,
    k.segment,
    k.place,
    k.length,
    k.request_length,
  );
  return Number(changes);
}
