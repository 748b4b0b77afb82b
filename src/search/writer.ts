/**
 * Writes batches into the index: each whole or not at all, with the cursor of its source in the same transaction, so
 * that after a kill the feeder goes on exactly where the index stands. Terms are made before the transaction begins,
 * to hold the write lock only for the writing.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { SearchBatch, SearchDocument } from './document.ts';
import { guessLanguage } from './language.ts';
import { addressText, marksOf } from './match.ts';
import { columns } from './schema.ts';
import { primaryLanguage, rulesOf } from './stems.ts';
import { terms } from './words.ts';

/** Characters of a page's text that are indexed; of titles, headings and anchors each a tenth. */
const INDEXED = 400_000;
/** Shorter texts cost more to compress than they save. */
const PACKED_FROM = 2048;
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Changes that the log keeps; a cache further behind starts anew. */
const LOGGED = 10_000;

/** A document ready to be written. */
interface Entry {
  readonly document: SearchDocument;
  readonly language: string;
  readonly title: string;
  /** In the order of the columns. */
  readonly columns: readonly string[];
  readonly text: string;
}

function prepare(document: SearchDocument): Entry {
  const language = primaryLanguage(document.language) || guessLanguage(document.text);
  const tidy = (text: string, most: number) => text.slice(0, most).toWellFormed().normalize('NFC');
  const title = tidy(document.title, INDEXED / 10);
  const text = tidy(document.text, INDEXED);
  const made = {
    title: terms(title, language),
    headings: terms(tidy(document.headings, INDEXED / 10), language),
    anchors: terms(tidy(document.anchors, INDEXED / 10), language),
    address: terms(tidy(addressText(document.url), INDEXED / 10), language),
    text: terms(text, language),
    marks: marksOf(document.url, document.mediaType, language),
  } satisfies Record<keyof typeof columns, string>;
  return {
    document,
    language,
    title,
    text,
    columns: Object.keys(columns).map(name => made[name as keyof typeof columns]),
  };
}

/** The text behind a row of `texts`. */
export function unpack(row: { readonly packed: number; readonly body: Uint8Array }): string {
  return Buffer.from(row.packed === 0 ? row.body : zstdDecompressSync(row.body)).toString('utf8');
}

export class Writer {
  readonly #database: DatabaseSync;
  readonly #statements: Readonly<
    Record<'terms' | 'page' | 'text' | 'language' | 'log' | 'meta' | 'setMeta', StatementSync>
  >;
  readonly #erase: readonly StatementSync[];

  constructor(database: DatabaseSync) {
    this.#database = database;
    const names = Object.keys(columns);
    const prepare = (sql: string) => {
      const statement = database.prepare(sql);
      // `run` gives the last rowid, which after a write to FTS5 is one of its own and beyond what a number holds.
      statement.setReadBigInts(true);
      return statement;
    };
    this.#statements = {
      terms: prepare(
        `INSERT OR REPLACE INTO terms (rowid, ${names.join(', ')}) VALUES (?, ${names.map(() => '?').join(', ')})`,
      ),
      page: prepare('INSERT OR REPLACE INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
      text: prepare('INSERT OR REPLACE INTO texts VALUES (?, ?, ?)'),
      language: prepare('INSERT OR IGNORE INTO languages VALUES (?)'),
      log: prepare('INSERT INTO changes (page) VALUES (?)'),
      setMeta: prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)'),
      meta: database.prepare('SELECT value FROM meta WHERE name = ?'),
    };
    this.#erase = ['terms WHERE rowid', 'texts WHERE id', 'pages WHERE id'].map(row =>
      prepare(`DELETE FROM ${row} = ?`),
    );
  }

  /** False: the index no longer stands where the batch begins, and nothing was written. */
  write(batch: SearchBatch): boolean {
    // The last word on a page counts, should a batch hold it twice.
    const entries = [...new Map(batch.changed.map(document => [document.page, document])).values()]
      .filter(document => !document.noindex)
      .map(prepare);
    const gone = new Set([
      ...batch.gone,
      ...batch.changed.filter(document => document.noindex).map(document => document.page),
    ]);
    let applied = false;
    this.transaction(() => {
      if (batch.from !== undefined && batch.from !== this.cursor()) return;
      applied = true;
      const generation = this.meta('generation') ?? 0;
      for (const entry of entries) if (!gone.has(entry.document.page)) this.#put(entry, Number(generation));
      for (const page of gone) this.#remove(page);
      if (batch.cursor !== undefined) this.setMeta('cursor', batch.cursor);
      this.#database.exec(`DELETE FROM changes WHERE sequence <= (SELECT max(sequence) FROM changes) - ${LOGGED}`);
    });
    return applied;
  }

  cursor(): string {
    return String(this.meta('cursor') ?? '');
  }

  /** Everything will be written again: what has not been when `sweep` is called is no longer there. */
  beginRebuild(): void {
    this.transaction(() => {
      this.setMeta('generation', Number(this.meta('generation') ?? 0) + 1);
      this.setMeta('rebuilding', 1);
      this.setMeta('cursor', '');
    });
  }

  /** Removes what a rebuild did not write; gives how many pages went. */
  sweep(): number {
    const generation = Number(this.meta('generation') ?? 0);
    const stale = this.#database.prepare('SELECT id FROM pages WHERE generation < ?').all(generation);
    this.transaction(() => {
      for (const row of stale) this.#remove(Number(row['id']));
      this.setMeta('rebuilding', 0);
    });
    return stale.length;
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
      this.#database.exec('COMMIT');
    } catch (error) {
      // A full disk has already rolled back by itself.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  #put(entry: Entry, generation: number): void {
    const { document, language, text } = entry;
    const { page, url, mediaType, fetched, changed, noarchive } = document;
    const importance = Math.min(1, Math.max(0, document.importance || 0));
    const { terms, page: row, text: copy, language: spoken, log } = this.#statements;
    terms.run(page, ...entry.columns);
    row.run(page, url, entry.title, language, mediaType, fetched, changed, importance, noarchive ? 1 : 0, generation);
    // noarchive: the terms find the page, but nothing of it is kept to be shown.
    if (noarchive) this.#erase[1]!.run(page);
    else {
      const packed = text.length >= PACKED_FROM;
      copy.run(page, packed ? 1 : 0, packed ? zstdCompressSync(text, packing) : Buffer.from(text));
    }
    spoken.run(rulesOf(language));
    log.run(page);
  }

  #remove(page: number): void {
    const [terms, text, row] = this.#erase;
    if (row!.run(page).changes === 0n) return;
    terms!.run(page);
    text!.run(page);
    this.#statements.log.run(page);
  }
}
