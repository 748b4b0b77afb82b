/**
 * Writes batches into the index: each whole or not at all, with the cursor of its source in the same transaction, so
 * that after a kill the feeder goes on exactly where the index stands. Terms are made before the transaction begins,
 * to hold the write lock only for the writing.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { Anchors } from '../anchors.ts';
import { addressText, marksOf } from '../ask/match.ts';
import type { SearchBatch, SearchDocument } from '../document.ts';
import { type Columns, Shelves } from '../shelves.ts';
import { languageOf } from '../terms/language.ts';
import { TextSigns } from '../terms/signs.ts';
import { primaryLanguage, rulesOf } from '../terms/stems.ts';
import { isListed } from '../terms/word-list.ts';
import { nameTerms, TermMaker, terms } from '../terms/words.ts';
import { pack, unpack } from './texts.ts';

/** Characters of a page's text that are indexed; of titles, headings and anchors each a tenth. */
const INDEXED = 400_000;
/** Changes that the log keeps; a cache further behind starts anew. */
const LOGGED = 10_000;

/** Shorter texts may be the same by chance: error pages, forms, documents without words. */
const TELLING = 80;

/** A document ready to be written; what links say of it is only known inside the transaction. */
interface DocumentEntry {
  readonly document: SearchDocument;
  readonly language: string;
  readonly title: string;
  readonly headings: string;
  readonly text: string;
  /** 48 bits of the words of title and text. */
  readonly content: number;
  readonly terms: Omit<Columns, 'anchors'>;
}

const tidy = (text: string, most: number) => text.slice(0, most).toWellFormed().normalize('NFC');

function prepare(document: SearchDocument, maker: TermMaker): DocumentEntry {
  const language = languageOf(document.text, primaryLanguage(document.language));
  const title = tidy(document.title, INDEXED / 10);
  const headings = tidy(document.headings, INDEXED / 10);
  const text = tidy(document.text, INDEXED);
  const names = {
    headings: nameTerms(headings, language, maker),
    address: nameTerms(tidy(addressText(document.url), INDEXED / 10), language, maker),
    marks: marksOf(document.url, document.mediaType, language),
  };
  const table = maker.tableOf(language);
  table.print();
  const signs = new TextSigns();
  const made = { ...names, title: nameTerms(title, language, maker), text: terms(text, language, maker, signs) };
  const content = table.print();
  if (signs.found.length > 0) made.text += ` ${signs.found.join(' ')}`;
  return { document, language, title, headings, text, content, terms: made };
}

/** The same for pages that say the same in the same words; 0 = says too little. */
function contentOf({ text, content }: DocumentEntry): number {
  return text.length < TELLING ? 0 : content;
}

export class Writer {
  readonly #database: DatabaseSync;
  readonly #statements: Readonly<
    Record<'page' | 'shelf' | 'text' | 'language' | 'log' | 'meta' | 'setMeta' | 'stored' | 'word', StatementSync>
  >;
  readonly #erase: readonly StatementSync[];
  readonly #anchors: Anchors;
  readonly #shelves: Shelves;
  /** Words that the vocabulary may not have yet. */
  #news: string[] = [];
  /** Pages more or fewer of each language, in this transaction. */
  readonly #spoken = new Map<string, number>();
  #maker = this.#newMaker();

  /** `room`: pages of one shelf. */
  constructor(database: DatabaseSync, room: number) {
    this.#database = database;
    this.#anchors = new Anchors(database);
    this.#shelves = new Shelves(database, room);
    const prepare = (sql: string) => {
      const statement = database.prepare(sql);
      // `run` gives the last rowid, which after a write to FTS5 is one of its own and beyond what a number holds.
      statement.setReadBigInts(true);
      return statement;
    };
    this.#statements = {
      shelf: database.prepare('SELECT shelf, language FROM pages WHERE id = ?'),
      page: prepare(`INSERT OR REPLACE INTO pages VALUES (${Array(14).fill('?').join(', ')})`),
      text: prepare('INSERT OR REPLACE INTO texts VALUES (?, ?, ?, ?)'),
      language: prepare('INSERT INTO languages VALUES (?, ?) ON CONFLICT DO UPDATE SET pages = pages + excluded.pages'),
      word: prepare('INSERT OR IGNORE INTO vocabulary VALUES (?)'),
      log: prepare('INSERT INTO changes (page) VALUES (?)'),
      setMeta: prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
      stored: database.prepare('SELECT * FROM pages JOIN texts USING (id) WHERE id = ?'),
      meta: database.prepare('SELECT value FROM meta WHERE name = ?'),
    };
    this.#erase = ['texts', 'pages'].map(table => prepare(`DELETE FROM ${table} WHERE id = ?`));
  }

  /** False: the index no longer stands where the batch begins, and nothing was written. */
  write(batch: SearchBatch): boolean {
    // The last word on a page counts, should a batch hold it twice.
    const entries = [...new Map(batch.changed.map(document => [document.page, document])).values()]
      .filter(document => !document.noindex)
      .map(document => prepare(document, this.#maker));
    const gone = new Set([
      ...batch.gone,
      ...batch.changed.filter(document => document.noindex).map(document => document.page),
    ]);
    let applied = false;
    this.transaction(() => {
      if (batch.from !== undefined && batch.from !== this.cursor()) return;
      applied = true;
      const generation = this.generation();
      this.#anchors.tell({ said: batch.said ?? [] }, generation);
      this.#put(
        entries.filter(({ document }) => !gone.has(document.page)),
        generation,
      );
      for (const page of gone) this.#remove(page);
      this.#anchors.tell({ aliases: batch.aliases ?? [] }, generation);
      if (batch.cursor !== undefined) this.setMeta('cursor', batch.cursor);
      this.#database.exec(`DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ${LOGGED}`);
    });
    return applied;
  }

  generation(): number {
    return Number(this.meta('generation') ?? 0);
  }

  cursor(): string {
    return String(this.meta('cursor') ?? '');
  }

  /** Everything will be written again: what has not been when `sweep` is called is no longer there. */
  beginRebuild(): void {
    this.transaction(() => {
      this.setMeta('generation', this.generation() + 1);
      this.#anchors.forget();
      this.#database.exec('DELETE FROM vocabulary');
      this.#maker = this.#newMaker();
      this.setMeta('rebuilding', 1);
      this.setMeta('cursor', '');
    });
  }

  /** Removes what a rebuild did not write; gives how many pages went. */
  sweep(): number {
    const stale = this.#database.prepare('SELECT id FROM pages WHERE generation < ?').all(this.generation());
    this.transaction(() => {
      for (const row of stale) this.#remove(Number(row['id']));
      this.setMeta('rebuilding', 0);
    });
    return stale.length;
  }

  /** Writes some of the pages again that links now speak of in other words; false = none was left. */
  renew(most: number): boolean {
    const pages = this.#anchors.stale(most);
    if (pages.length === 0) return false;
    const generation = this.generation();
    this.transaction(() => {
      // Of a page without a text here nothing can be made; it keeps the words that it has.
      const rows = pages.map(page => this.#statements.stored.get(page)).filter(row => row !== undefined);
      this.#put(
        rows.map(row => prepare(documentOf(row), this.#maker)),
        generation,
      );
      for (const page of pages) this.#anchors.fresh(page);
    });
    return true;
  }

  meta(name: string): string | number | undefined {
    return this.#statements.meta.get(name)?.['value'] as string | number | undefined;
  }

  setMeta(name: string, value: string | number): void {
    this.#statements.setMeta.run(name, value);
  }

  transaction(work: () => void): void {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      work();
      for (const [language, pages] of this.#spoken) if (pages !== 0) this.#statements.language.run(language, pages);
      this.#spoken.clear();
      this.#database.exec('COMMIT');
    } catch (error) {
      // A full disk has already rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      this.#anchors.doubt();
      this.#spoken.clear();
      this.#maker = this.#newMaker();
      throw error;
    }
  }

  /** Merges a little of what was written. */
  tidy(): void {
    this.#shelves.tidy();
  }

  /** What is noticed goes into the vocabulary with the terms. */
  #newMaker(): TermMaker {
    this.#news = [];
    return new TermMaker(word => {
      if (isListed(word)) this.#news.push(word);
    });
  }

  #learn(): void {
    for (const word of this.#news) this.#statements.word.run(word.normalize('NFC').toLowerCase());
    this.#news = [];
  }

  /** Where a page stands, and in which language, that is in the index. */
  #placeOf(page: number): { readonly shelf: number; readonly language: string } | undefined {
    return this.#statements.shelf.get(page) as { shelf: number; language: string } | undefined;
  }

  /** Pages more or fewer in a language. */
  #speaks(language: string, pages: number): void {
    const rules = rulesOf(language);
    this.#spoken.set(rules, (this.#spoken.get(rules) ?? 0) + pages);
  }

  /**
   * The terms go in last, one page right after the other and in the order of their ids. FTS5 gathers them in memory, and
   * writes them as a segment when an id is smaller than the last one, or when a statement comes between that SQLite may
   * have to take back by itself. A batch in any other order becomes as many segments as it has pages, which took 1.8 ms
   * of each page that changed instead of 0.2.
   */
  #put(entries: readonly DocumentEntry[], generation: number): void {
    const placed = entries
      .map(entry => ({ entry, shelf: this.#putRow(entry, generation) }))
      .sort((a, b) => a.entry.document.page - b.entry.document.page);
    for (const { entry, shelf } of placed) {
      const { document, language } = entry;
      const said = `${document.anchors}\n${this.#anchors.of(document.page)}`;
      const anchors = nameTerms(tidy(said, INDEXED / 10), language, this.#maker);
      this.#shelves.put(document.page, shelf, { ...entry.terms, anchors });
    }
    this.#learn();
  }

  /** Everything of a page but its terms; gives the shelf that is theirs. */
  #putRow(entry: DocumentEntry, generation: number): number {
    const { document, language, title, text, headings } = entry;
    const { page, url, mediaType, fetched, changed } = document;
    const importance = Math.min(1, Math.max(0, document.importance || 0));
    const noarchive = document.noarchive ? 1 : 0;
    const { page: row, text: copy, log } = this.#statements;
    const before = this.#placeOf(page);
    const shelf = before?.shelf ?? this.#shelves.choose();
    if (before) this.#speaks(before.language, -1);
    this.#speaks(language, 1);
    const content = contentOf(entry);
    const simhash = content === 0 ? 0n : (document.simhash ?? 0n);
    const halves = [Number(simhash >> 32n), Number(simhash & 0xffffffffn)] as const;
    const told = [page, url, title, language, mediaType, fetched, changed] as const;
    row.run(...told, importance, noarchive, content, ...halves, generation, shelf);
    // noarchive: the terms find the page, but nothing of it is kept to be shown.
    if (document.noarchive) this.#erase[0]!.run(page);
    else {
      const { packed, body } = pack(text);
      copy.run(page, packed, body, headings);
    }
    this.#anchors.notAlias(page);
    log.run(page);
    return shelf;
  }

  #remove(page: number): void {
    this.#anchors.notAlias(page);
    const place = this.#placeOf(page);
    if (place === undefined) return;
    this.#shelves.erase(page, place.shelf);
    this.#speaks(place.language, -1);
    for (const erase of this.#erase) erase.run(page);
    this.#statements.log.run(page);
  }
}

/** The document that a row of pages, joined with texts, was made from. */
function documentOf(row: Record<string, unknown>): SearchDocument {
  return {
    page: Number(row['id']),
    url: String(row['url']),
    title: String(row['title']),
    headings: String(row['headings']),
    anchors: '',
    text: unpack({ packed: Number(row['packed']), body: row['body'] as Uint8Array }),
    language: String(row['language']),
    mediaType: String(row['media_type']),
    fetched: Number(row['fetched']),
    changed: Number(row['changed']),
    importance: Number(row['importance']),
    noindex: false,
    noarchive: row['noarchive'] === 1,
    simhash: (BigInt(Number(row['simhash_high'])) << 32n) | BigInt(Number(row['simhash_low'])),
  };
}
