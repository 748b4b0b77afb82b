/**
 * The tables of search.db, and opening them. The terms live in contentless FTS5 tables (shelves.ts): what FTS5 would store
 * as content are our terms, of no use to a reader. The text that snippets are cut from stands beside it, compressed, and
 * only the handful of pages shown are ever unpacked. 3,087 real pages with 12.7 MB of text take 13.0 MB: terms 5.9,
 * texts 6.6, the rest 0.5. FTS5 with its own content needs three times the space of a contentless one and is no faster
 * (60 MB and 19 MB for 35.6 MB of text, 6,800 and 7,200 pages per CPU second). Its tokenizers `ascii` and `unicode61`
 * are equally fast; `ascii` leaves our terms alone.
 */
import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SkeinError } from '../base/errors.ts';

/** Raised when terms are made differently, too: an index of another version is rebuilt, never migrated. */
const VERSION = 9;

/** Order of the columns of terms, with BM25's weight: an occurrence there counts as so many in the text. */
export const columns = { title: 8, headings: 3, anchors: 4, address: 2, text: 1, marks: 0 } as const;

const tables = `
  CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS pages (
    id INTEGER PRIMARY KEY,      -- the page's id in the ledger, and the rowid on its shelf
    url TEXT NOT NULL,
    title TEXT NOT NULL,
    language TEXT NOT NULL,      -- BCP 47 primary tag, '' = unknown
    media_type TEXT NOT NULL,
    fetched INTEGER NOT NULL,    -- ms since 1970
    changed INTEGER NOT NULL,    -- ms since 1970
    importance REAL NOT NULL,    -- 0 to 1
    noarchive INTEGER NOT NULL,
    content INTEGER NOT NULL,    -- hash of title and text, 0 = too short to call another page the same
    simhash_high INTEGER NOT NULL, -- 64 bits that differ little where texts do, in halves; 0 = unknown
    simhash_low INTEGER NOT NULL,
    generation INTEGER NOT NULL, -- of the rebuild that last wrote the row
    shelf INTEGER NOT NULL       -- where its terms stand
  );
  CREATE INDEX IF NOT EXISTS pages_changed ON pages (changed);
  CREATE TABLE IF NOT EXISTS shelves (shelf INTEGER PRIMARY KEY, pages INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS texts (
    id INTEGER PRIMARY KEY, packed INTEGER NOT NULL, body BLOB NOT NULL, headings TEXT NOT NULL
  );
  -- What links say of their targets (anchors.ts): each text once, with the page that said it first.
  CREATE TABLE IF NOT EXISTS anchors (
    target INTEGER NOT NULL, text TEXT NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (target, text)
  ) WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS anchors_source ON anchors (source);
  -- Pages that lead to another one; links to them speak of that one.
  CREATE TABLE IF NOT EXISTS aliases (page INTEGER PRIMARY KEY, target INTEGER NOT NULL);
  CREATE INDEX IF NOT EXISTS aliases_target ON aliases (target);
  -- Pages whose link texts changed after they were written.
  CREATE TABLE IF NOT EXISTS stale (page INTEGER PRIMARY KEY);
  -- Words of the pages as they are written, in lower case: what a misspelt one may be meant to be.
  CREATE TABLE IF NOT EXISTS vocabulary (word TEXT PRIMARY KEY) WITHOUT ROWID;
  -- Languages whose rules made the terms of pages, and of how many; zxx = none.
  CREATE TABLE IF NOT EXISTS languages (language TEXT PRIMARY KEY, pages INTEGER NOT NULL) WITHOUT ROWID;
  -- What changed, in order, so that a cache in another thread or process can tell what it still may show.
  CREATE TABLE IF NOT EXISTS changes (sequence INTEGER PRIMARY KEY AUTOINCREMENT, page INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS interest (page INTEGER PRIMARY KEY, score REAL NOT NULL, time INTEGER NOT NULL);
  -- Terms that people searched, with the page that stood first, and how often (ask/searched.ts).
  CREATE TABLE IF NOT EXISTS searched (
    term TEXT NOT NULL, page INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (term, page)
  ) WITHOUT ROWID;
`;

function isDamage(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode ?? 0;
  // SQLITE_CORRUPT and SQLITE_NOTADB, with their extended codes.
  return (code & 0xff) === 11 || (code & 0xff) === 26;
}

/** SQLite's errors that a person can do something about, as such; anything else as it came. */
export function explain(error: unknown, file: string): unknown {
  const code = ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  if (isDamage(error)) {
    return new SkeinError('damaged', `The search index ${file} is damaged.`, 'Delete it and run: skein index rebuild', {
      cause: error,
    });
  }
  if (code === 8 || code === 14) {
    const hint = 'A search brings it up to date first, so copy the collection to where you may write.';
    return new SkeinError('refused', `The search index ${file} cannot be written.`, hint, { cause: error });
  }
  if (code === 13)
    return new SkeinError('disk-full', `There is no room left to write ${file}.`, undefined, { cause: error });
  return error;
}

/**
 * Opens it for someone who may not write there. SQLite wants to make files beside it; where they cannot be made and
 * nothing waits in the log, nobody writes either, so that the file alone is the whole truth.
 */
export function openToRead(file: string): DatabaseSync {
  try {
    const url = pathToFileURL(file);
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) === 0) url.searchParams.set('immutable', '1');
    const database = new DatabaseSync(url, { readOnly: true, timeout: 10_000 });
    const version = Number(database.prepare('PRAGMA user_version').get()!['user_version']);
    if (version === VERSION) return database;
    database.close();
    throw new SkeinError('data-too-new', `The search index ${file} was made by another version of Skein.`);
  } catch (error) {
    throw explain(error, file);
  }
}

/** Opens (and creates) the database. An index of an older version is emptied: the feeder fills it again. */
export function openDatabase(file: string): DatabaseSync {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 10_000 });
    // Mapped, because scoring reads some place of the file for nearly every match: of a million pages, which take 3 GB,
    // words of middling frequency took twice the processor through a cache of 32 MB.
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -32000; PRAGMA mmap_size = 4294967296; PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000;',
    );
    const version = Number(database.prepare('PRAGMA user_version').get()!['user_version']);
    if (version > VERSION)
      throw new SkeinError('data-too-new', `The search index ${file} was written by a newer Skein.`);
    if (version !== VERSION) create(database, version);
    return database;
  } catch (error) {
    database?.close();
    throw explain(error, file);
  }
}

function create(database: DatabaseSync, version: number): void {
  database.exec('BEGIN IMMEDIATE');
  // Another process may have done it while this one waited for the lock.
  const now = Number(database.prepare('PRAGMA user_version').get()!['user_version']);
  if (now === version) {
    // Interest is what people did, and cannot be made again from the archive: it stays.
    const old = [
      'pages',
      'texts',
      'languages',
      'changes',
      'meta',
      'anchors',
      'aliases',
      'stale',
      'shelves',
      'vocabulary',
    ];
    const virtual = database.prepare("SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'").all();
    for (const table of [...virtual.map(row => row['name']), ...old]) database.exec(`DROP TABLE IF EXISTS ${table}`);
    database.exec(tables);
    database.exec(`PRAGMA user_version = ${VERSION}`);
  }
  database.exec('COMMIT');
}
