/** Stored copies of pages, read back through the ledger: the newest, or that of a visit; duplicates are followed. */
import { type Delta, followedFrom } from '../../archive/following.ts';
import {
  type ArchiveReading,
  followRevisit,
  type Resolver,
  readHere,
  readLater,
  readStored,
  readStoredHere,
  type Stored,
  type StoredPlace,
} from '../../archive/read.ts';
import { fingerprint } from '../../base/url.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownRow } from '../../ledger/pages/known-row.ts';
import type { VisitRow } from '../../ledger/visits.ts';
import { offsiteOf } from '../offsite/offsite.ts';
import { segmentsOf } from './segments-of.ts';

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

/** Where the copy that is handed out was not fetched like this: in words. */
export function inferredOf(ledger: Ledger, { page, segment, place }: KnownRow): string | null {
  const row = ledger.storage.inferred.of(page);
  return row && row.segment === segment && row.place === place ? inferredNote(row) : null;
}

/** How copies are found, whoever reads the records on the way. */
interface Readings {
  /** The newest copy, as the page was when it was last seen; undefined = there is none. */
  newest(known: KnownRow): ArchiveReading<Stored | undefined>;
  /** The same, or what is inferred of it where edits that many pages share say that it is another by now. */
  current(known: KnownRow): ArchiveReading<Current | undefined>;
  /** The copy that a visit stored. */
  of(visit: VisitRow): ArchiveReading<Stored | undefined>;
  /** The newest stored version, whatever has followed it. */
  stored(place: CopyPlace): ArchiveReading<Stored | undefined>;
  /** The record that holds the body, if this one only refers to it. */
  whole(stored: Stored): ArchiveReading<Stored | undefined>;
}

type ReadingResult<F> = F extends (...args: infer _) => ArchiveReading<infer T> ? T : never;

/** Read from wherever the segments are. */
export type Copies = {
  readonly [Name in keyof Readings]: (...args: Parameters<Readings[Name]>) => Promise<ReadingResult<Readings[Name]>>;
} & { close(): void };

/** The same of what lies on this disk, at once: inside a transaction nobody can wait for another machine. */
export type CopiesHere = {
  readonly [Name in keyof Readings]: (...args: Parameters<Readings[Name]>) => ReadingResult<Readings[Name]>;
} & { close(): void };

export function openCopies(ledger: Ledger): Copies {
  const segments = segmentsOf(ledger);
  const reader = readStored(segments, { checked: offsiteOf(ledger) !== undefined });
  const { newest, current, of, stored, whole } = readings(ledger);
  return {
    newest: known => readLater(reader, newest(known)),
    current: known => readLater(reader, current(known)),
    of: visit => readLater(reader, of(visit)),
    stored: place => readLater(reader, stored(place)),
    whole: record => readLater(reader, whole(record)),
    close: () => segments.close(),
  };
}

export function openCopiesHere(ledger: Ledger): CopiesHere {
  const segments = segmentsOf(ledger);
  const reader = readStoredHere(segments.here);
  const { newest, current, of, stored, whole } = readings(ledger);
  return {
    newest: known => readHere(reader, newest(known)),
    current: known => readHere(reader, current(known)),
    of: visit => readHere(reader, of(visit)),
    stored: place => readHere(reader, stored(place)),
    whole: record => readHere(reader, whole(record)),
    close: () => segments.close(),
  };
}

/** What a version has become. */
export function followingOf(base: Stored, followed: Delta & { readonly time: number }): Stored {
  return followedFrom(base, followed.time, followed);
}

function readings(ledger: Ledger): Readings {
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
  function* read(place: StoredPlace | undefined, twin: number | null): ArchiveReading<Stored | undefined> {
    return place && (yield* followRevisit(yield place, resolving(twin)));
  }
  function* newest(known: KnownRow): ArchiveReading<Stored | undefined> {
    const stored = yield* read(placeOf(known), known.same_as);
    const row = stored && ledger.storage.followed.of(known.page);
    const current = row && row.segment === known.segment && row.place === known.place;
    return current ? named(followingOf(stored, row), known) : stored;
  }
  function* current(known: KnownRow): ArchiveReading<Current | undefined> {
    const row = ledger.storage.inferred.of(known.page);
    const isOfIt = row && row.segment === known.segment && row.place === known.place;
    const base = isOfIt ? yield* read(placeOf(known), known.same_as) : undefined;
    if (row && base)
      return { copy: named(followingOf(base, row), known), inferred: { time: row.time, pages: row.pages } };
    const copy = yield* newest(known);
    return copy && { copy };
  }
  return {
    newest,
    current,
    of: visit => read(placeOf(visit), null),
    stored: ({ twin, ...place }) => read(place, twin),
    whole: stored => followRevisit(stored, resolving(null)),
  };
}

function placeOf(row: KnownRow | VisitRow): StoredPlace | undefined {
  if (row.segment === null) return undefined;
  return { segment: row.segment, offset: row.place!, length: row.length!, requestLength: row.request_length! };
}
