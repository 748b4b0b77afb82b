/**
 * A ledger that is made again from what its last owner left: a snapshot, or nothing, and the changes since, each in a
 * transaction of its own. It grows beside the place where a ledger is looked for; `finish` puts it there whole.
 *
 * Invariant: it holds exactly the changes up to its number. What does not follow, or does not fit, is refused and leaves it
 * as it was.
 */
import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import { diskError } from '../ledger.ts';
import { isAltered, migrateTo, versionOf } from '../schema.ts';
import { type Changeset, numberIn } from './changes.ts';

const FILE = 'ledger.db';

/** Where it grows. */
const ASIDE = 'restoring';
/** How much larger than on its way a snapshot may be, once it has so many bytes; ledgers are three to eight times as large. */
const MOST_RATIO = 100;
const MOST_AT_ONCE = 64 * 1024 * 1024;

/** Begins it with a snapshot; whatever was left of an earlier attempt is gone. */
export async function unpackSnapshot(directory: string, chunks: AsyncIterable<Uint8Array>): Promise<Replica> {
  const aside = join(directory, ASIDE);
  rmSync(aside, { recursive: true, force: true });
  mkdirSync(aside, { recursive: true });
  try {
    const file = createWriteStream(join(aside, FILE), { mode: 0o600 });
    await pipeline(Readable.from(chunks), ...unpacking(), file);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    if (error instanceof SkeinError || (error as { code?: string }).code === 'ENOSPC') throw diskError(error);
    throw damaged('A snapshot of the ledger cannot be read', error);
  }
  try {
    return new Replica(directory);
  } catch (error) {
    rmSync(aside, { recursive: true, force: true });
    throw error;
  }
}

/** A snapshot that grows beyond what any ledger does is not written to the end of the disk. */
function unpacking(): [Transform, Transform, Transform] {
  let packed = 0;
  let bytes = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      packed += chunk.length;
      done(null, chunk);
    },
  });
  const bounded = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      done(bytes > MOST_AT_ONCE && bytes > MOST_RATIO * packed ? new Error('it is too large') : null, chunk);
    },
  });
  return [counted, createZstdDecompress(), bounded];
}

/** Begins it with nothing, in the given version of the tables. */
export function emptyReplica(directory: string, schema: number): Replica {
  rmSync(join(directory, ASIDE), { recursive: true, force: true });
  mkdirSync(join(directory, ASIDE), { recursive: true });
  return new Replica(directory, schema);
}

/** How far the ledger in a directory is; undefined = there is none, or none that can be read. */
export function numberOf(directory: string): number | undefined {
  const file = join(directory, FILE);
  if (!existsSync(file)) return undefined;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      return versionOf(database) === 0 ? undefined : numberIn(database);
    } finally {
      database.close();
    }
  } catch {
    return undefined; // it is made again from what others have
  }
}

/** Lengths of the archive's segments, as the ledger in a directory has them. */
export function segmentsIn(directory: string): ReadonlyMap<number, number> {
  const database = new DatabaseSync(join(directory, FILE), { readOnly: true });
  try {
    const rows = database.prepare('SELECT id, length FROM segments').all();
    return new Map(rows.map(({ id, length }) => [Number(id), Number(length)]));
  } finally {
    database.close();
  }
}

export class Replica {
  readonly #directory: string;
  readonly #database: DatabaseSync;
  #number: number;

  constructor(directory: string, schema?: number) {
    this.#directory = directory;
    this.#database = new DatabaseSync(join(directory, ASIDE, FILE));
    try {
      // The file is of no use before it is whole: until then nobody waits for the disk.
      this.#database.exec('PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF; PRAGMA cache_size = -16384');
      if (schema !== undefined && versionOf(this.#database) === 0) migrateTo(this.#database, schema);
      versionOf(this.#database);
      if (isAltered(this.#database))
        throw damaged('A snapshot of the ledger has tables that differ from those of a ledger');
      this.#number = numberIn(this.#database);
    } catch (error) {
      this.#database.close();
      throw error instanceof SkeinError ? error : diskError(error);
    }
  }

  /** Of the newest changes that it holds. */
  get number(): number {
    return this.#number;
  }

  get schema(): number {
    return versionOf(this.#database);
  }

  /** Changes that it has already are passed over; returns whether these were new. */
  apply({ number, bytes }: Changeset): boolean {
    if (number <= this.#number) return false;
    if (number !== this.#number + 1)
      throw damaged(`Changes ${number} of a ledger do not follow ${this.#number}: some are missing`);
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      // Without a handler the first row that does not fit takes all of them back.
      if (!this.#database.applyChangeset(bytes)) throw damaged(`Changes ${number} do not fit the ledger`);
      if (numberIn(this.#database) !== number) throw damaged(`Changes ${number} have another number inside`);
      this.#database.exec('COMMIT');
    } catch (error) {
      this.#database.exec('ROLLBACK');
      throw error instanceof SkeinError ? error : (fits(error) ?? diskError(error));
    }
    this.#number = number;
    return true;
  }

  /** Puts it where a ledger is looked for. Whoever opens it makes anew what the changes leave out. */
  finish(): void {
    // This one is written through to the disk, and all before it: a rename must not get there first.
    this.#database.exec(`PRAGMA synchronous = FULL; INSERT OR REPLACE INTO meta VALUES ('counting', 'true')`);
    this.#database.close();
    for (const name of [FILE, `${FILE}-wal`, `${FILE}-shm`]) rmSync(join(this.#directory, name), { force: true });
    renameSync(join(this.#directory, ASIDE, FILE), join(this.#directory, FILE));
    this.drop();
  }

  /** Gives it up, or what is left of it. */
  drop(): void {
    if (this.#database.isOpen) this.#database.close();
    rmSync(join(this.#directory, ASIDE), { recursive: true, force: true });
  }
}

/** Bytes that are no changes at all. */
function fits(error: unknown): SkeinError | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === SQLITE_CORRUPT || errcode === SQLITE_SCHEMA
    ? damaged('Changes of a ledger cannot be read', error)
    : undefined;
}

const SQLITE_CORRUPT = 11;
const SQLITE_SCHEMA = 17;

function damaged(text: string, cause?: unknown): SkeinError {
  return new SkeinError('damaged', `${text}.`, 'The partition is made again from a snapshot.', { cause });
}
