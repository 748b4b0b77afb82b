/**
 * Where the search index gets its pages: the ledger says what happened to which page, the archive holds the copies.
 * Opened for reading beside the home that writes them, in the feeder's thread or in a command.
 *
 * A cursor has three phases. `links` and `pages` read the known pages through in the order of their ids, first what
 * their links say, then the pages themselves, so that each is written once, with all its link texts; this fills an
 * empty index, or one that is rebuilt, however many visits there were. `visits` then follows the visits that came since
 * the first phase began, for ever. Each visit only names a page: what is indexed is what the ledger knows of it now.
 *
 * A crawl at full speed brings more new pages than the feeder may write, so most of each batch is for pages that
 * changed or went a moment ago, read from the newest visits ahead of the cursor. They come first, however far it is
 * behind with the new ones. The cursor still passes every visit, and skips what it finds done, so that nothing depends
 * on how far the look ahead came.
 *
 * Indexed is what was seen at the last look and may be shown: no sitemaps or images, nothing that says noindex or
 * noarchive, that a filter kept out, that moved, went, or is now refused. A page that failed stays as it was, and so does one
 * that was not asked for because its server, or its robots.txt, could not be reached.
 */
import { MissingSegment } from '../../archive/store/segment-store.ts';
import { SkeinError } from '../../base/errors.ts';
import { wordsOf } from '../../crawler/analysis/analyse.ts';
import { toUtf8 } from '../../crawler/analysis/charset.ts';
import { unpackFacts } from '../../errand/facts.ts';
import { saysNothing } from '../../errand/reasons.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { unpackLinks } from '../../ledger/links/packed-links.ts';
import {
  FLAG_FILTERED,
  FLAG_NOARCHIVE,
  FLAG_NOFOLLOW,
  FLAG_NOINDEX,
  type KnownRow,
} from '../../ledger/pages/known-row.ts';
import type { IndexFeed, Visited } from '../../ledger/queries/index-feed.ts';
import type { SearchSource, SearchStep } from '../../search/feed/feed.ts';
import type { Said, Search, SearchDocument } from '../../search/index.ts';
import { type CopiesHere, openCopiesHere } from '../copies/copies.ts';
import { headingsOf } from '../copies/headings.ts';
import { bringing } from '../offsite/bring.ts';
import { offsiteOf } from '../offsite/offsite.ts';

/**
 * Visits looked at in one step. Most cost nothing but the look; but a crawl at full speed brings so many that the cursor
 * had a fifth of the time meant for pages that changed, when it kept up.
 */
const LIGHT = 2000;
/** Of these, read at once. */
const ROWS = 500;
/** Characters of text after which a batch is full, however few pages that are: a batch is held in memory. */
const TEXT = 4_000_000;
/** Pages whose links cost as much as one page does. */
const LINKS = 4;
/** Bytes of a body that are read. The index takes 400,000 characters of text. */
const BODY = 4_000_000;
/** Visits, and a fifth of those before, after which importances are taken anew. */
const NEWS = 1000;
/** Links that make a page as important as can be: 2^16. */
const MOST_LINKS = 16;
const COUNTS = 65_536;
/** Visits before the newest with which the look ahead begins. */
const AHEAD = 500;
/** Of each batch at most this share is read ahead, so that the cursor moves, too. */
const AHEAD_SHARE = 0.75;
/** Pages read ahead that are remembered until the cursor comes by. */
const REMEMBERED = 100_000;

interface IndexingPlace {
  readonly phase: 'links' | 'pages' | 'visits';
  /** Last page read; of the phases that read pages. */
  readonly page: number;
  /** Last visit read, and its time, by which another ledger is told from this one. 0 = before the first. */
  readonly visit: number;
  readonly time: number;
}

export function openSource(dataDirectory: string, search: Search): SearchSource {
  const ledger = new Ledger(dataDirectory, 'read');
  const reading = new SourceReading(ledger, search);
  let isBringing = false;
  const bringLater = async (error: unknown) => {
    if (isBringing) return;
    isBringing = true;
    const again = () => {
      throw error;
    };
    await bringing(() => ledger, again).catch(() => {}); // told with the batch
    isBringing = false;
  };
  return {
    since(cursor, limit) {
      try {
        return reading.since(cursor, limit);
      } catch (error) {
        // A batch cannot wait for what lies elsewhere: it fails, and is tried again once the segment is here.
        void bringLater(error);
        throw error;
      }
    },
    standing: key => reading.standing(key),
    close: () => reading.close(),
  };
}

class SourceReading {
  readonly #ledger: Ledger;
  readonly #search: Search;
  readonly #copies: CopiesHere;
  readonly #feed: IndexFeed;
  /** The last visit that was looked at ahead of the cursor. */
  #ahead: number;
  /** Pages that were read ahead of the cursor, with the visit that named them. */
  readonly #early = new Map<number, number>();
  /** The cursor that the last step led to. */
  #given = '';

  constructor(ledger: Ledger, search: Search) {
    this.#ledger = ledger;
    this.#feed = ledger.queries.indexFeed;
    this.#search = search;
    this.#copies = openCopiesHere(ledger);
    this.#ahead = Math.max(0, ledger.visits.newest() - AHEAD);
  }

  /** In one look at both files: to open and end one for each of thousands of rows takes longer than to read them. */
  since(cursor: string, limit: number): SearchStep {
    return this.#ledger.queries.atOnce(() => this.#search.looking(() => this.#since(cursor, limit)));
  }

  #since(cursor: string, limit: number): SearchStep {
    const place = this.#placeOf(cursor);
    if (place === undefined) return { cursor, lost: true, changed: [], gone: [] };
    // The last step was not written: what it read is to be read again.
    if (cursor !== this.#given) this.#early.clear();
    const batch = new FeedBatch(this.#importances());
    this.#lookAhead(place, Math.ceil(limit * AHEAD_SHARE), batch);
    const next = this.#next(place, limit - batch.changed.length, batch);
    this.#given = cursorOf(next);
    const { changed, gone, said, aliases } = batch;
    return { cursor: this.#given, changed, gone, said, aliases };
  }

  /** Counters of links are saved now and then while a home runs, and when it ends: then they are exact. */
  standing(key: string): { key: string; of(page: number): number } | undefined {
    const last = this.#feed.newest().id;
    const exact = !this.#feed.counting;
    const now = `${last}:${exact ? 'exact' : 'about'}`;
    const before = Number(key.split(':')[0] || 0);
    if (now === key || (!exact && last < before * 1.2 + NEWS)) return undefined;
    return { key: now, of: this.#importances() };
  }

  close(): void {
    this.#copies.close();
    this.#ledger.close();
  }

  #placeOf(cursor: string): IndexingPlace | undefined {
    if (cursor === '') {
      const { id, time } = this.#feed.newest();
      return { phase: 'links', page: 0, visit: id, time };
    }
    const [phase, page, visit, time] = cursor.split(':');
    const place = {
      phase: phase as IndexingPlace['phase'],
      page: Number(page),
      visit: Number(visit),
      time: Number(time),
    };
    const now = place.visit === 0 ? 0 : this.#feed.timeOf(place.visit);
    return now === place.time ? place : undefined;
  }

  #next(place: IndexingPlace, limit: number, batch: FeedBatch): IndexingPlace {
    if (place.phase === 'links') return this.#links(place, LINKS * limit, batch);
    return place.phase === 'pages' ? this.#pages(place, limit, batch) : this.#visits(place, limit, batch);
  }

  #links(place: IndexingPlace, most: number, batch: FeedBatch): IndexingPlace {
    const rows = this.#feed.links(place.page, most);
    batch.said.push(...rows.filter(speaks).map(({ page, targets }) => saidBy(page, targets)));
    batch.aliases.push(...rows.flatMap(row => aliasOf(row)));
    const last = rows.at(-1);
    return last && rows.length === most ? { ...place, page: last.page } : { ...place, phase: 'pages', page: 0 };
  }

  #pages(place: IndexingPlace, limit: number, batch: FeedBatch): IndexingPlace {
    const pages = this.#feed.pages(place.page, limit);
    for (const page of pages) {
      const known = this.#ledger.pages.known(page);
      if (page > pages[0]! && batch.isFull()) return { ...place, page: page - 1 };
      if (batch.done.has(page) || !known || this.#isCurrent(known)) continue;
      const document = this.#document(known, batch.importanceOf);
      if (document) batch.add(document);
    }
    const last = pages.at(-1);
    return last && pages.length === limit ? { ...place, page: last } : { ...place, phase: 'visits', page: 0 };
  }

  #visits(place: IndexingPlace, limit: number, batch: FeedBatch): IndexingPlace {
    const most = batch.changed.length + limit;
    let { visit, time } = place;
    for (let read = 0; read < LIGHT; read += ROWS) {
      const rows = this.#feed.visits(visit, ROWS);
      const last = this.#take(rows, most, batch);
      if (last) [visit, , time] = last;
      if (rows.length < ROWS || batch.isFull(most)) break;
    }
    return { phase: 'visits', page: 0, visit, time };
  }

  /** Pages that changed or went a moment ago, wherever the cursor stands. */
  #lookAhead({ phase, visit }: IndexingPlace, limit: number, batch: FeedBatch): void {
    const newest = this.#ledger.visits.newest();
    // One batch behind, the cursor's own turn comes as soon.
    if (phase === 'visits' && newest - visit <= limit) {
      this.#ahead = newest;
      return;
    }
    const from = Math.max(this.#ahead, visit);
    const rows = this.#feed.changes(from, newest, ROWS);
    const last = this.#take(rows, limit, batch);
    this.#ahead = rows.length < ROWS && last === rows.at(-1) ? newest : last![VISIT];
    if (this.#early.size > REMEMBERED) this.#early.clear();
    for (const row of rows) if (row[VISIT] <= this.#ahead) this.#early.set(row[PAGE], row[VISIT]);
  }

  /** What these visits mean for the index, until `most` pages are to be written; gives the last visit that was read. */
  #take(rows: readonly Visited[], most: number, batch: FeedBatch): Visited | undefined {
    // Asked once for all: a question for each took longer than all else about visits that change nothing.
    const indexed = this.#search.updates.changes(rows.map(row => row[PAGE]));
    let last: Visited | undefined;
    for (const row of rows) {
      if (last !== undefined && batch.isFull(most)) break;
      last = row;
      const [visit, page, , found, outcome, reason, flags, segment, changed] = row;
      if (found === 'failed' || batch.done.has(page)) continue;
      const isShown = shown({ outcome, reason, flags, segment });
      const current = isShown && (indexed.get(page) ?? Number.NEGATIVE_INFINITY) >= changed;
      // Nearly all visits of a refresh are such; when a page was last seen stands in the ledger.
      if (current && (found === 'same' || this.#wasEarly(page, visit))) continue;
      batch.done.add(page);
      const known = this.#ledger.pages.known(page)!;
      // Also of one that is there already: it may have been read as a page after the phase that reads links.
      batch.said.push(this.#saidBy(known));
      if (current) continue;
      const document = this.#document(known, batch.importanceOf);
      if (document) batch.add(document);
      else batch.gone.push(page);
      batch.aliases.push(...aliasOf(known));
    }
    return last;
  }

  /** The look ahead has told all of it; what is current in the index was written with what its links say. */
  #wasEarly(page: number, visit: number): boolean {
    const early = this.#early.get(page) ?? 0;
    if (early <= visit) this.#early.delete(page);
    return early >= visit;
  }

  #saidBy(known: KnownRow): Said {
    return saidBy(known.page, speaks(known) ? this.#feed.linksOf(known.page) : null);
  }

  /** When the copy that people read was last another. */
  #copied({ page, changed_time }: Pick<KnownRow, 'page' | 'changed_time'>): number {
    return Math.max(changed_time, this.#ledger.storage.followed.of(page)?.edited ?? 0);
  }

  /** The index holds its newest version already. */
  #isCurrent(known: Showing & Pick<KnownRow, 'page' | 'changed_time'>): boolean {
    return shown(known) && this.#search.updates.has(known.page, this.#copied(known));
  }

  #document(known: KnownRow, importanceOf: (page: number) => number): SearchDocument | undefined {
    const id = known.page;
    const row = shown(known) ? this.#ledger.pages.get(id) : undefined;
    const stored = row?.role === 0 ? this.#copyOf(known) : undefined;
    if (!row || !stored) return undefined;
    const { bytes } = stored.decoded(BODY);
    const page = wordsOf({ url: row.url, headers: stored.headers, body: bytes });
    const html = page.mediaType === 'text/html' || page.mediaType === 'application/xhtml+xml';
    return {
      page: id,
      url: row.url,
      title: page.title,
      headings: html ? headingsOf(stringOf(toUtf8(bytes, page.charset))) : '',
      anchors: '',
      text: page.text,
      language: page.language,
      mediaType: page.mediaType,
      fetched: seenTime(known),
      changed: this.#copied(known),
      importance: importanceOf(id),
      // What it says of itself may have changed without its content, and then stands in the ledger only.
      noindex: false,
      noarchive: false,
      simhash: (known.facts && unpackFacts(known.facts)?.simhash) || 0n,
    };
  }

  #copyOf(known: KnownRow): ReturnType<CopiesHere['newest']> {
    try {
      return this.#copies.newest(known);
    } catch (error) {
      // One damaged record must not keep all others out; `skein verify` names it.
      const elsewhere = (error as Error).cause instanceof MissingSegment && offsiteOf(this.#ledger);
      if (!elsewhere && error instanceof SkeinError && error.code === 'damaged') return undefined;
      throw error;
    }
  }

  /** By the counters as they were last saved; each chunk is read once. */
  #importances(): (page: number) => number {
    const chunks = new Map<number, Uint32Array>();
    return page => {
      const index = Math.floor(page / COUNTS);
      let chunk = chunks.get(index);
      if (chunk === undefined) chunks.set(index, (chunk = this.#ledger.links.backward.savedChunk(index)));
      return Math.min(1, Math.log2(1 + (chunk[page % COUNTS] ?? 0)) / MOST_LINKS);
    };
  }
}

/** What one step brings, as it is gathered. */
class FeedBatch {
  readonly changed: SearchDocument[] = [];
  readonly gone: number[] = [];
  readonly said: Said[] = [];
  readonly aliases: { page: number; target: number }[] = [];
  /** Pages that it speaks of already. */
  readonly done = new Set<number>();
  readonly importanceOf: (page: number) => number;
  #characters = 0;

  constructor(importanceOf: (page: number) => number) {
    this.importanceOf = importanceOf;
  }

  add(document: SearchDocument): void {
    this.changed.push(document);
    this.#characters += document.text.length;
  }

  /** It has so many pages to write, or as much other work. */
  isFull(most = Number.POSITIVE_INFINITY): boolean {
    return this.changed.length >= most || this.said.length >= LINKS * most || this.#characters >= TEXT;
  }
}

type MaybeBytes = Uint8Array | null | undefined;

/** What decides whether a page is shown. */
type Showing = Pick<KnownRow, 'outcome' | 'reason' | 'flags' | 'segment'>;

const [VISIT, PAGE] = [0, 1] as const;

function cursorOf({ phase, page, visit, time }: IndexingPlace): string {
  return `${phase}:${page}:${visit}:${time}`;
}

function stringOf({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString();
}

/** When a look last saw it, milliseconds since 1970. */
function seenTime({ seen_time: seen, time }: KnownRow): number {
  return seen ?? time;
}

/** What people may find of it: the newest version, if it is stored and says that it may be. */
function shown({ flags, segment, ...found }: Showing): boolean {
  return stands(found) && segment !== null && (flags & (FLAG_NOINDEX | FLAG_NOARCHIVE | FLAG_FILTERED)) === 0;
}

/** Its links count, whether it is shown itself or not. */
function speaks({ flags, ...found }: Pick<KnownRow, 'outcome' | 'reason' | 'flags'>): boolean {
  return stands(found) && (flags & FLAG_NOFOLLOW) === 0;
}

/** What was stored of it last is still what is known of it. */
function stands(found: Pick<KnownRow, 'outcome' | 'reason'>): boolean {
  return found.outcome === 'fetched' || found.outcome === 'same' || saysNothing(found);
}

function saidBy(page: number, targets: MaybeBytes): Said {
  const links = targets ? unpackLinks(targets).filter(link => !link.nofollow) : [];
  return { source: page, links: links.map(({ target, anchor }) => ({ target, text: anchor })) };
}

function aliasOf({ page, outcome, moved_to: target }: Pick<KnownRow, 'page' | 'outcome' | 'moved_to'>) {
  return outcome === 'moved' && target ? [{ page, target }] : [];
}
