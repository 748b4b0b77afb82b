/** Stored copies of pages, read back through the ledger: the newest, or that of a visit; duplicates are followed. */
import { join } from 'node:path';
import { type Delta, followedFrom } from '../../archive/following.ts';
import { followRevisit, type Resolver, readStored, type Stored, type StoredPlace } from '../../archive/read.ts';
import { fingerprint } from '../../base/url.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { VisitRow } from '../../ledger/visits.ts';

/** Where the newest stored version of a page lies. */
export interface CopyPlace extends StoredPlace {
  readonly page: number;
  /** The page that has the same bytes and holds them. */
  readonly twin: number | null;
}

export function copyPlaceOf(known: KnownRow): CopyPlace | undefined {
  const place = placeOf(known);
  return place && { ...place, page: known.page, twin: known.same_as };
}

/** A copy as it is handed out. */
export interface Current {
  readonly copy: Stored;
  /** It was not fetched like this: since when, and by how many pages that were. */
  readonly inferred?: { readonly time: number; readonly pages: number };
}

/** For people. */
export function inferredNote({ time, pages }: NonNullable<Current['inferred']>): string {
  const seen = new Date(time).toISOString().slice(0, 10);
  return `Inferred: edits that ${pages} other pages have shown since ${seen} were put into the copy that was fetched last.`;
}

export interface Copies {
  /** The newest copy, as the page was when it was last seen; undefined = there is none. */
  newest(known: KnownRow): Stored | undefined;
  /** The same, or what is inferred of it where edits that many pages share say that it is another by now. */
  current(known: KnownRow): Current | undefined;
  /** The copy that a visit stored. */
  of(visit: VisitRow): Stored | undefined;
  /** The newest stored version, whatever has followed it. */
  stored(place: CopyPlace): Stored | undefined;
  /** What a version has become. */
  following(base: Stored, followed: Delta & { readonly time: number }): Stored;
  /** The record that holds the body, if this one only refers to it. */
  whole(stored: Stored): Stored | undefined;
  close(): void;
}

export function openCopies(ledger: Ledger, directory: string): Copies {
  const reader = readStored(join(directory, 'archive'));
  const find = (url: string) => {
    const { high, low } = fingerprint(url, { high: 0, low: 0 });
    return ledger.pages.find(high, low);
  };
  // The page that the ledger calls the same is the one meant, nearly always: finding by URL reads all pages.
  const resolving =
    (twin: number | null): Resolver =>
    original => {
      const likely = twin === null ? undefined : ledger.pages.get(twin);
      const page = likely?.url === original.url ? likely : find(original.url);
      const visit =
        page && ledger.visits.of(page.id).findLast(each => each.segment !== null && each.time <= original.time);
      return visit ? placeOf(visit) : undefined;
    };
  /** A version that is held by another page's record is this page's all the same. */
  const named = (stored: Stored, { page }: KnownRow): Stored => ({
    ...stored,
    url: ledger.pages.get(page)?.url ?? stored.url,
  });
  const read = (place: StoredPlace | undefined, twin: number | null) =>
    place && followRevisit(reader, reader.read(place), resolving(twin));
  const newest = (known: KnownRow) => {
    const stored = read(placeOf(known), known.same_as);
    const row = stored && ledger.followed.of(known.page);
    const current = row && row.segment === known.segment && row.place === known.place;
    return current ? named(followedFrom(stored, row.time, row), known) : stored;
  };
  return {
    newest,
    current(known) {
      const row = ledger.inferred.of(known.page);
      const base =
        row && row.segment === known.segment && row.place === known.place
          ? read(placeOf(known), known.same_as)
          : undefined;
      if (row && base)
        return {
          copy: named(followedFrom(base, row.time, row), known),
          inferred: { time: row.time, pages: row.pages },
        };
      const copy = newest(known);
      return copy && { copy };
    },
    stored: ({ twin, ...place }) => read(place, twin),
    following: (base, followed) => followedFrom(base, followed.time, followed),
    of: visit => read(placeOf(visit), null),
    whole: stored => followRevisit(reader, stored, resolving(null)),
    close: () => reader.close(),
  };
}

function placeOf(row: KnownRow | VisitRow): StoredPlace | undefined {
  if (row.segment === null) return undefined;
  return { segment: row.segment, offset: row.place!, length: row.length!, requestLength: row.request_length! };
}
