/**
 * Search: the full-text index of the pages collected, and the questions asked of it. One SQLite file of its own
 * (search.db), fed in the background, so that neither the ledger nor the crawl waits for it.
 *
 * It never fetches and never decides what is crawled; it only says what people look at (`interest`). It keeps nothing
 * of a page that says noindex, and shows nothing of the text of one that says noarchive. Everything in it but the
 * interest can be made again from ledger and archive.
 *
 * The invariant: pages, shelves and texts hold the same set of ids, but for texts of noarchive pages; and what they
 * hold is the state of the source at the cursor in `meta`. Each batch keeps both, or leaves no trace.
 *
 * words.ts makes terms, shelves.ts keeps them, query.ts reads what people type, asked.ts and match.ts turn it into FTS5,
 * find.ts finds, rank.ts orders by titles.ts and proximity.ts, answer.ts says what is tried when, spelling.ts guesses what
 * was meant, snippet.ts shows why, cache.ts remembers. feed.ts reads the source; index-updates.ts and writer.ts write.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Answerer } from './ask/answer.ts';
import { type CacheCounts, type CachedAnswer, type KeptHit, QueryCache } from './ask/cache.ts';
import { WINDOW } from './ask/find.ts';
import { Interest } from './ask/interest.ts';
import type { Highlights } from './ask/match.ts';
import type { Ranking } from './ask/rank.ts';
import { highlight, snippet } from './ask/snippet.ts';
import type { Freshness, Hit, QueryOptions, Results, SpreadRow } from './document.ts';
import { IndexUpdates } from './feed/index-updates.ts';
import { unpack } from './feed/texts.ts';
import { explain, openDatabase, openToRead } from './schema.ts';
import { ROOM } from './shelves.ts';
import { primaryLanguage } from './terms/stems.ts';
import { SearchPart, tellingOf } from './wide/part.ts';

export type { CacheCounts } from './ask/cache.ts';
export { readInterest } from './ask/interest.ts';
export { parseQuery } from './ask/query.ts';
export { forgetSearched, readSearched, type Searched } from './ask/searched.ts';
export type {
  Fragment,
  Freshness,
  Hit,
  QueryOptions,
  Results,
  Said,
  SearchBatch,
  SearchDocument,
  SpreadRow,
  Told,
} from './document.ts';

interface SearchCounts {
  readonly documents: number;
  readonly cursor: string;
  readonly rebuilding: boolean;
  readonly cache: CacheCounts;
}

/** Changes that are checked one by one against a kept result; more of them cost as much as asking again. */
const MOST_CHECKED = 500;
/** What is read of a page to be shown; one that says noarchive has no text. */
interface ShownRow {
  readonly url: string;
  readonly title: string;
  readonly language: string;
  readonly media_type: string;
  readonly fetched: number;
  readonly changed: number;
  readonly noarchive: number;
  readonly packed: number | null;
  readonly body: Uint8Array | null;
}

export class Search {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly updates: IndexUpdates;
  readonly #answerer: Answerer;
  /** What people look at, as queries and visits to results show. */
  readonly interest: Interest;
  readonly #cache: QueryCache;
  readonly #statements: Readonly<Record<'latest' | 'shown' | 'headings' | 'spread', StatementSync>>;
  #part: SearchPart | undefined;
  #listenedAt = -1;

  constructor(file: string, { room = ROOM, readOnly = false }: IndexOptions) {
    this.#file = file;
    this.#database = readOnly ? openToRead(file) : openDatabase(file);
    this.updates = new IndexUpdates(this.#database, room, work => this.#guarded(work));
    this.#answerer = new Answerer(this.#database);
    this.interest = new Interest(readOnly || file === ':memory:' ? undefined : file, Date.now);
    this.#statements = {
      latest: this.#database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'changes'"),
      shown: this.#database.prepare(
        `SELECT url, title, language, media_type, fetched, changed, noarchive, packed, body
         FROM pages LEFT JOIN texts USING (id) WHERE id = ?`,
      ),
      spread: this.#database.prepare(
        `SELECT url, language, media_type AS mediaType, changed FROM pages
         WHERE id IN (SELECT value FROM json_each(?))`,
      ),
      headings: this.#database.prepare('SELECT headings FROM texts WHERE id = ?'),
    };
    const since = this.#database.prepare('SELECT page FROM changes WHERE sequence > ? LIMIT ?');
    this.#cache = new QueryCache({
      latest: () => this.#latest(),
      since: sequence => {
        if (this.#latest() - sequence > MOST_CHECKED) return undefined;
        return since.all(sequence, MOST_CHECKED).map(row => Number(row['page']));
      },
      matchesAny: (asked, pages) => this.#answerer.ranker.matchesAny(asked, pages),
    });
  }

  /** The best matches. Throws `bad-query` with a sentence for the person who typed it. */
  query(text: string, options: QueryOptions = {}): Results {
    return this.#guarded(() => this.#query(text, options));
  }

  /** What the results of a query have in common is counted over these: the best of them, a thousand at most. */
  spread(text: string, options: Pick<QueryOptions, 'language' | 'now'> = {}): readonly SpreadRow[] {
    return this.#guarded(() => {
      this.#listen();
      const { language = '', now = Date.now() } = options;
      const key = text.trim().replace(/\s+/g, ' ');
      const asking = { unfold: false, now, language: primaryLanguage(language) };
      const kept = this.#cache.get(cacheKey(key, asking), now) ?? this.#ask(key, asking);
      if (kept.meant !== undefined) return this.spread(kept.meant, options);
      return this.spreadOf(kept.ranked.pages);
    });
  }

  /** The same of these pages. */
  spreadOf(pages: readonly number[]): readonly SpreadRow[] {
    return this.#statements.spread.all(JSON.stringify(pages)) as unknown as SpreadRow[];
  }

  /** This index as one of several that are asked together. */
  get part(): SearchPart {
    this.#part ??= new SearchPart({
      ...{ database: this.#database, answerer: this.#answerer, headings: page => this.#headings(page) },
      shown: (page, highlights) => this.#shown(page, highlights),
    });
    return this.#part;
  }

  counts(): SearchCounts {
    const documents = Number(this.#database.prepare('SELECT count(*) AS n FROM pages').get()!['n']);
    return {
      documents,
      cursor: this.updates.cursor(),
      rebuilding: this.updates.rebuilding,
      cache: this.#cache.counts(),
    };
  }

  /** Does something that asks much of the index, which stays as it is meanwhile. */
  looking<T>(work: () => T): T {
    this.#database.exec('BEGIN');
    try {
      return work();
    } finally {
      this.#database.exec('COMMIT');
    }
  }

  close(): void {
    this.interest.close();
    this.#database.close();
  }

  #query(text: string, options: QueryOptions): Results {
    const started = performance.now();
    const now = options.now ?? Date.now();
    const key = text.trim().replace(/\s+/g, ' ');
    this.#listen();
    const asking = { unfold: options.unfold === true, now, language: primaryLanguage(options.language ?? '') };
    const found = this.#cache.get(cacheKey(key, asking), now);
    const kept = found ?? this.#ask(key, asking);
    const corrected = kept.meant;
    if (corrected !== undefined) {
      const took = performance.now() - started;
      const results = this.#query(corrected, options);
      return { ...results, query: key, corrected, took: took + results.took };
    }
    const offset = Math.min(Math.max(0, Math.trunc(options.offset ?? 0)), WINDOW);
    const limit = Math.min(Math.max(1, Math.trunc(options.limit ?? 10)), 100);
    const hits = this.#hits(kept, offset, limit).map((hit): Hit => {
      const { seen: fetched, changedProbability } = options.freshness?.(hit.page) ?? unsaid(hit);
      return { ...hit, fetched, age: Math.max(0, now - fetched), changedProbability };
    });
    const pages = hits.map(hit => hit.page);
    if (offset === 0) this.interest.shown(pages, key);
    const { total, exact, relaxed } = kept.ranked;
    return { query: key, hits, total, exact, relaxed, cached: found !== undefined, took: performance.now() - started };
  }

  #ask(key: string, asking: Ranking): CachedAnswer {
    // Before ranking: a change that comes between is then checked once too often, never once too little.
    const sequence = this.#listenedAt;
    const answer = this.#answerer.answer(key, asking);
    const kept: CachedAnswer = { ...answer, hits: new Map(), sequence, time: asking.now };
    this.#cache.set(cacheKey(key, asking), kept);
    return kept;
  }

  #hits(kept: CachedAnswer, offset: number, limit: number): KeptHit[] {
    const hits: KeptHit[] = [];
    const last = Math.min(offset + limit, kept.ranked.pages.length);
    for (let place = offset; place < last; place++) {
      const hit = kept.hits.get(place) ?? this.#hit(kept, place);
      if (hit === undefined) continue; // removed since it was ranked
      kept.hits.set(place, hit);
      hits.push(hit);
    }
    return this.#toldApart(hits);
  }

  /** Results with equal titles show a heading, too. */
  #toldApart(hits: readonly KeptHit[]): KeptHit[] {
    const textOf = ({ title }: KeptHit) => title.map(({ text }) => text).join('');
    const counts = new Map<string, number>();
    for (const hit of hits) counts.set(textOf(hit), (counts.get(textOf(hit)) ?? 0) + 1);
    return hits.map(hit => {
      const title = textOf(hit);
      if (counts.get(title) === 1) return hit;
      const telling = tellingOf(hit, this.#headings(hit.page));
      return telling === '' ? hit : { ...hit, title: [...hit.title, { text: ` – ${telling}`, hit: false }] };
    });
  }

  #headings(page: number): string[] {
    return String(this.#statements.headings.get(page)?.['headings'] ?? '').split('\n');
  }

  #hit(kept: CachedAnswer, place: number): KeptHit | undefined {
    const page = kept.ranked.pages[place]!;
    const shown = this.#shown(page, kept.plan.highlights);
    return shown && { ...shown, score: kept.ranked.scores[place]!, alike: kept.ranked.alike.get(page) ?? 0 };
  }

  #shown(page: number, highlights: Highlights): Omit<KeptHit, 'score' | 'alike'> | undefined {
    const row = this.#statements.shown.get(page) as ShownRow | undefined;
    if (row === undefined) return undefined;
    const { url, language, fetched, changed, packed, body } = row;
    const text = packed === null || body === null ? '' : unpack({ packed, body });
    return {
      ...{ page, url, language, fetched, changed },
      title: highlight(row.title, language, highlights),
      snippet: snippet(text, language, highlights),
      mediaType: row.media_type,
      copy: row.noarchive === 0,
    };
  }

  /** Other languages change what words mean, so kept results end with them. */
  #listen(): void {
    const sequence = this.#latest();
    if (sequence === this.#listenedAt) return;
    if (this.#answerer.listen()) this.#cache.clear();
    this.#listenedAt = sequence;
  }

  /** Sequence of the last change to the index, whoever made it. */
  #latest(): number {
    return Number(this.#statements.latest.get()?.['seq'] ?? 0);
  }

  #guarded<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw explain(error, this.#file);
    }
  }
}

/** No query holds a zero. */
function cacheKey(query: string, { unfold, language }: Ranking): string {
  return `${query}\0${language}${unfold ? '\0' : ''}`;
}

/** All that is known where nobody asks the ledger. */
function unsaid({ fetched }: KeptHit): Freshness {
  return { seen: fetched, changedProbability: undefined };
}

export interface IndexOptions {
  /** Pages of one shelf, for who wants small ones. */
  readonly room?: number;
  /** For someone who may not write there: nothing is brought up to date, and interest is not kept. */
  readonly readOnly?: boolean;
}

/** `:memory:` is an index that ends with its user. */
export function openSearch(file: string, options: IndexOptions = {}): Search {
  return new Search(file, options);
}
