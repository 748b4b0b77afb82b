/**
 * The ledger holds everything that Skein knows, in one SQLite file. One process writes it (home, which holds lock.db), and any
 * number may read it. Writes gather in one transaction, which `commit()` commits a few times a second: what is committed
 * survives kill -9, and what is not was never acknowledged to anyone.
 *
 * It never decides anything: the frontier says what to write.
 */
import { accessSync, constants, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { SkeinError, systemWords } from '../base/errors.ts';
import { Account } from './account.ts';
import { Border } from './collection/border.ts';
import { diskError, isFull } from './collection/disk-error.ts';
import { Errands } from './errands.ts';
import { Forecasts } from './forecasts.ts';
import { House } from './house/house.ts';
import { IndexFeed } from './index-feed.ts';
import { Backward } from './links/backward.ts';
import { LinkIndex } from './links/links.ts';
import { Listings } from './listings.ts';
import { Looks } from './looks.ts';
import { News } from './news.ts';
import { KnownFaces } from './notices/faces.ts';
import { HiddenPages } from './notices/hidden.ts';
import { ToldPages } from './notices/told.ts';
import { NoticeTrust } from './notices/trust.ts';
import { PageList } from './page-list.ts';
import { DueTimes } from './pages/due-times.ts';
import { Followed } from './pages/followed.ts';
import { FoundData } from './pages/found.ts';
import { Inferred } from './pages/inferred.ts';
import { Masks } from './pages/masks.ts';
import { PageScans } from './pages/page-scans.ts';
import { Pages } from './pages/pages.ts';
import { ScheduledPages } from './pages/scheduled-pages.ts';
import { Seeds } from './pages/seeds.ts';
import { ServerPages } from './pages/server-pages.ts';
import { Reckoning } from './reckoning.ts';
import { Changes } from './replica/changes.ts';
import { migrate, SCHEMA_VERSION, versionOf } from './schema.ts';
import { Servers } from './servers.ts';
import { SiteQuestions } from './site-questions.ts';
import { Tallies } from './tallies.ts';
import { Visits } from './visits.ts';

export { diskError };

export class Ledger {
  readonly directory: string;
  /** Private, because SQL stays in this folder: everybody else asks the parts below by name. */
  private readonly database: DatabaseSync;
  readonly pages: Pages;
  readonly scans: PageScans;
  readonly visits: Visits;
  readonly servers: Servers;
  readonly links: LinkIndex;
  readonly backward: Backward;
  readonly account: Account;
  readonly dueTimes: DueTimes;
  readonly scheduled: ScheduledPages;
  readonly forecasts: Forecasts;
  readonly found: FoundData;
  readonly errands: Errands;
  readonly listings: Listings;
  readonly pageList: PageList;
  readonly news: News;
  readonly indexFeed: IndexFeed;
  readonly reckoning: Reckoning;
  readonly tallies: Tallies;
  readonly looks: Looks;
  readonly #serverPages: ServerPages;
  readonly followed: Followed;
  readonly inferred: Inferred;
  readonly masks: Masks;
  readonly seeds: Seeds;
  readonly site: SiteQuestions;
  readonly border: Border;
  readonly told: ToldPages;
  readonly noticeTrust: NoticeTrust;
  readonly faces: KnownFaces;
  readonly hidden: HiddenPages;
  /** What commits changed, for a copy on another machine; recorded only on request. */
  readonly changes: Changes;
  readonly house: House;
  readonly #lock: DatabaseSync | undefined;
  #open = false;
  #abandoned = false;

  constructor(directory: string, mode: 'write' | 'read') {
    this.directory = directory;
    if (mode === 'write') makeDirectory(directory);
    this.#lock = mode === 'write' ? takeLock(directory) : undefined;
    this.database = openDatabase(directory, mode);
    this.tallies = new Tallies(this.database);
    this.#serverPages = new ServerPages(this.database);
    this.pages = new Pages(this.database, this.tallies, this.#serverPages);
    this.scans = new PageScans(this.database, this.#serverPages);
    this.looks = new Looks(this.database);
    this.visits = new Visits(this.database, this.looks);
    this.servers = new Servers(this.database);
    this.backward = new Backward(this.database);
    this.links = new LinkIndex(this.database, this.backward);
    this.account = new Account(this.database);
    this.dueTimes = new DueTimes(this.database);
    this.scheduled = new ScheduledPages(this.database, this.#serverPages);
    this.forecasts = new Forecasts(this.database);
    this.found = new FoundData(this.database);
    this.errands = new Errands(this.database);
    this.listings = new Listings(this.database);
    this.pageList = new PageList(this.database);
    this.news = new News(this.database, this.visits);
    this.indexFeed = new IndexFeed(this.database);
    this.reckoning = new Reckoning(this.database);
    this.followed = new Followed(this.database);
    this.inferred = new Inferred(this.database);
    this.masks = new Masks(this.database);
    this.seeds = new Seeds(this.database);
    this.site = new SiteQuestions(this.database);
    this.border = new Border(this.database);
    this.told = new ToldPages(this.database);
    this.noticeTrust = new NoticeTrust(this.database);
    this.faces = new KnownFaces(this.database);
    this.hidden = new HiddenPages(this.database);
    this.changes = new Changes(this.database);
    this.house = new House(this.database, this);
    if (mode === 'write') this.#openCounters();
  }

  #openCounters(): void {
    this.begin();
    this.#serverPages.open(this.pages.size);
    this.backward.open();
    this.commit();
  }

  /** Starts a batch unless one is open. Every write belongs to a batch. */
  begin(): void {
    if (this.#open) return;
    disk(() => this.database.exec('BEGIN IMMEDIATE'));
    this.#open = true;
  }

  /** A batch is open, which may still be rolled back. */
  get inBatch(): boolean {
    return this.#open;
  }

  /** Makes the batch durable against the death of this process. */
  commit(): void {
    if (!this.#open) return;
    disk(() => {
      this.servers.save();
      this.account.save();
      this.tallies.save();
      this.looks.save();
      this.#serverPages.save();
      this.border.save();
      this.changes.mark();
      this.database.exec('COMMIT');
    });
    this.border.saved();
    this.#open = false;
    this.changes.committed();
  }

  setting<T>(name: string): T | undefined {
    const row = this.database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
    return row ? (JSON.parse(row['value'] as string) as T) : undefined;
  }

  /** Undefined deletes the setting. */
  set(name: string, value: unknown): void {
    if (value === undefined) this.database.prepare('DELETE FROM meta WHERE name = ?').run(name);
    else this.database.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(name, JSON.stringify(value));
  }

  /** A setting that is a list which grows. */
  list(name: string): string[] {
    return this.setting<string[]>(name) ?? [];
  }

  /** Origins of the servers that a seed is on. */
  seeded(): string[] {
    return [...this.servers.all()].filter(server => server.seeded).map(server => server.origin);
  }

  /** Everything that `look` reads is from one moment, even if another process writes meanwhile. Not within a batch. */
  atOnce<T>(look: () => T): T {
    this.database.exec('BEGIN');
    try {
      return look();
    } finally {
      this.database.exec('COMMIT');
    }
  }

  /** Length of an archive segment, committed in the same batch as the visits that refer to it. */
  setSegment(id: number, length: number): void {
    this.database.prepare('INSERT OR REPLACE INTO segments VALUES (?, ?)').run(id, length);
  }

  /** The segment is lost, with all copies in it. */
  dropSegment(id: number): void {
    this.database.prepare('DELETE FROM segments WHERE id = ?').run(id);
  }

  segments(): { id: number; length: number }[] {
    return this.database.prepare('SELECT id, length FROM segments ORDER BY id').all() as unknown as {
      id: number;
      length: number;
    }[];
  }

  /** What SQLite finds wrong with the file, at most so many sentences. */
  problems(most: number): string[] {
    const rows = this.database.prepare(`PRAGMA integrity_check(${most})`).all();
    return rows.flatMap(row => String(row['integrity_check']).split('\n')).filter(text => text !== 'ok');
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

  /** Memory is ahead of the file. */
  get abandoned(): boolean {
    return this.#abandoned;
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
      this.changes.stop();
      this.begin();
      this.backward.close();
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
