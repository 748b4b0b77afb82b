/**
 * The ledger holds everything that Skein knows, in one SQLite file. One process writes it (home, which holds lock.db), and any
 * number may read it. Writes gather in one transaction, which `commit()` commits a few times a second: what is committed
 * survives kill -9, and what is not was never acknowledged to anyone.
 *
 * Its tables are grouped by what they are about: `settings`; `pages`, `visits`, `servers` and `links`, each with the sums and
 * marks that belong to them; `schedule` (due times, and what servers tell of changes), `storage` (copies in the archive),
 * `outbox` (what other machines have not confirmed yet), and `queries`, which read many rows and write none.
 *
 * It never decides anything: the frontier says what to write.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SkeinError, systemWords } from '../base/errors.ts';
import { diskError, isFull } from './collection/disk-error.ts';
import { LedgerSettings } from './collection/settings.ts';
import { LinkIndex } from './links/links.ts';
import { Outbox } from './outbox/outbox.ts';
import { Pages } from './pages/pages.ts';
import { ServerPages } from './pages/server-pages.ts';
import { Queries } from './queries/queries.ts';
import { ScheduleTables } from './schedule/schedule.ts';
import { migrate, SCHEMA_VERSION, versionOf } from './schema.ts';
import { Servers } from './servers.ts';
import { Storage } from './storage/storage.ts';
import { Visits } from './visits.ts';

export { diskError };

/** `batch`: one is open, which may still be rolled back. `abandoned`: memory is ahead of the file, for good. */
type LedgerState = 'idle' | 'batch' | 'abandoned';

export class Ledger {
  readonly directory: string;
  /** Private, because SQL stays in this folder: everybody else asks the groups below by name. */
  private readonly database: DatabaseSync;
  readonly settings: LedgerSettings;
  readonly pages: Pages;
  readonly visits: Visits;
  readonly servers: Servers;
  readonly links: LinkIndex;
  readonly schedule: ScheduleTables;
  readonly storage: Storage;
  readonly outbox: Outbox;
  readonly queries: Queries;
  readonly #serverPages: ServerPages;
  readonly #lock: DatabaseSync | undefined;
  #open = false;
  #abandoned = false;

  constructor(directory: string, mode: 'write' | 'read') {
    this.directory = directory;
    if (mode === 'write') makeDirectory(directory);
    this.#lock = mode === 'write' ? takeLock(directory) : undefined;
    this.database = openDatabase(directory, mode);
    this.#serverPages = new ServerPages(this.database);
    this.servers = new Servers(this.database);
    this.settings = new LedgerSettings(this.database, this.servers);
    this.pages = new Pages(this.database, this.servers.tallies, this.#serverPages);
    this.visits = new Visits(this.database);
    this.links = new LinkIndex(this.database);
    this.schedule = new ScheduleTables(this.database, this.#serverPages);
    this.storage = new Storage(this.database, {
      pages: this.pages,
      tallies: this.servers.tallies,
      backward: this.links.backward,
    });
    this.outbox = new Outbox(this.database);
    this.queries = new Queries(this.database, this.visits, this.#serverPages);
    if (mode === 'write') this.#openCounters();
  }

  #openCounters(): void {
    this.begin();
    this.#serverPages.open(this.pages.size);
    this.links.backward.open();
    this.commit();
  }

  get state(): LedgerState {
    if (this.#abandoned) return 'abandoned';
    return this.#open ? 'batch' : 'idle';
  }

  /** Starts a batch unless one is open. Every write belongs to a batch. */
  begin(): void {
    if (this.#open) return;
    disk(() => this.database.exec('BEGIN IMMEDIATE'));
    this.#open = true;
  }

  /** Makes the batch durable against the death of this process. */
  commit(): void {
    if (!this.#open) return;
    disk(() => {
      this.servers.save();
      this.visits.looks.save();
      this.#serverPages.save();
      this.outbox.border.save();
      this.outbox.changes.mark();
      this.database.exec('COMMIT');
    });
    this.outbox.border.saved();
    this.#open = false;
    this.outbox.changes.committed();
  }

  /** Rolls the batch back. Memory is then ahead of the file, so nothing is left to do but to close. */
  abandon(): void {
    this.#abandoned = true;
    if (!this.#open) return;
    this.#open = false;
    try {
      this.database.exec('ROLLBACK');
    } catch {
      // There is nothing left to roll back: SQLite does so by itself when a disk is full.
    }
  }

  close(): void {
    if (this.#lock && !this.#abandoned) this.#finish();
    this.database.close();
    this.#lock?.close();
  }

  /** Saves the counters and empties the write-ahead log. */
  #finish(): void {
    try {
      this.commit();
      this.outbox.changes.stop();
      this.begin();
      this.links.backward.close();
      this.#serverPages.finish();
      this.commit();
      this.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch (error) {
      // If the disk has no room for this, nothing is lost: the log stays, and the next writer counts again.
      if (!isFull(error)) throw error;
    }
  }
}

/**
 * What SQLite opens for reading. It usually makes a file beside the ledger that readers and the writer share. If it cannot
 * (read-only disk, somebody else's directory) and no run has left changes in the log, then nobody writes, and the ledger file
 * alone is the whole truth.
 */
function readable(directory: string, file: string): string | URL {
  try {
    accessSync(directory, constants.W_OK);
    return file;
  } catch {
    if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return file; // SQLite knows best
    const unchanging = pathToFileURL(file);
    unchanging.searchParams.set('immutable', '1');
    return unchanging;
  }
}

/** Whether there is a ledger, of any version. */
export function hasLedger(directory: string): boolean {
  try {
    openDatabase(directory, 'read').close();
    return true;
  } catch (error) {
    if (error instanceof SkeinError && error.code === 'not-found') return false;
    throw error;
  }
}

function openDatabase(directory: string, mode: 'write' | 'read'): DatabaseSync {
  const file = join(directory, 'ledger.db');
  try {
    const readOnly = mode === 'read';
    const database = new DatabaseSync(readOnly ? readable(directory, file) : file, { readOnly });
    database.exec('PRAGMA busy_timeout = 5000');
    if (mode === 'write') {
      // NORMAL in WAL mode: no fsync a commit. A killed process loses nothing; a power cut may lose the last seconds,
      // never consistency. 16 MB of cache: a crawl appends, and what it reads again the operating system has at hand.
      // 64 MB took no less of the processor up to a million known URLs, and filled up on the way.
      // A ledger that is being made holds nothing yet that a power cut could take, so nothing waits for the disk.
      if (versionOf(database) === 0) database.exec('PRAGMA synchronous = OFF');
      database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 4000');
      migrate(database);
      database.exec('PRAGMA synchronous = NORMAL');
      return database;
    }
    const version = versionOf(database);
    if (version === 0) throw noCollection(directory); // whoever began it died before its first table
    if (version === SCHEMA_VERSION) return database;
    database.close();
    new Ledger(directory, 'write').close(); // an earlier version wrote it: it is brought up to this one first
    return openDatabase(directory, mode);
  } catch (error) {
    const { errcode } = error as { errcode?: number };
    if (mode === 'read' && errcode === SQLITE_CANTOPEN) throw noCollection(directory);
    if (errcode === SQLITE_CANTOPEN) throw refused(directory, error);
    throw diskError(error);
  }
}

/** Makes one level at a time: asked for several, Node never returns where none can be made (/proc). */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(dirname(directory), { recursive: true });
    if (!existsSync(directory)) mkdirSync(directory, { mode: 0o700 });
    else if (!statSync(directory).isDirectory()) throw new Error('there is a file of that name');
  } catch (error) {
    throw refused(directory, error);
  }
}

function refused(directory: string, error: unknown): SkeinError {
  const text = `${directory} cannot hold a collection: ${systemWords(error)}.`;
  return new SkeinError('refused', text, 'Name a directory that you may write to with --data.', { cause: error });
}

function noCollection(directory: string): SkeinError {
  return new SkeinError(
    'not-found',
    `There is no collection in ${directory}.`,
    'Collect one with "skein crawl URL", or name another directory with --data.',
  );
}

/** Keeps other processes from a collection of several partitions until it is closed. Makes its directory. */
export function lockCollection(directory: string): { close(): void } {
  makeDirectory(directory);
  return takeLock(directory);
}

/** Allows one writer for a directory. The operating system releases the lock when the process ends, however it ends. */
export function takeLock(directory: string): DatabaseSync {
  let lock: DatabaseSync | undefined;
  try {
    lock = new DatabaseSync(join(directory, 'lock.db'));
    // Nothing is ever written there, so there is nothing to roll back and nothing to wait for.
    lock.exec(
      'PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE',
    );
    return lock;
  } catch (error) {
    lock?.close();
    const { errcode } = error as { errcode?: number };
    if (errcode === SQLITE_CANTOPEN) throw refused(directory, error);
    if (errcode === SQLITE_NOTADB)
      throw new SkeinError('damaged', `${join(directory, 'lock.db')} is damaged.`, 'Delete it: it holds no data.');
    if (errcode !== SQLITE_BUSY) throw diskError(error);
    throw new SkeinError(
      'data-in-use',
      `Another Skein is working in ${directory}.`,
      'Wait until it ends, stop it with Ctrl-C, or use another directory with --data.',
    );
  }
}

/** Runs a write; reports a full disk as such. */
function disk<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw diskError(error);
  }
}

const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;
