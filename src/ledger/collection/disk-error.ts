/** What SQLite's errors about files mean to people. */
import { SkeinError } from '../../base/errors.ts';

const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_IOERR_READ = 266;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

export function isFull(error: unknown): boolean {
  const { errcode, code } = error as { errcode?: number; code?: string };
  if (code === 'ENOSPC' || code === 'disk-full' || errcode === SQLITE_FULL) return true;
  return errcode !== undefined && (errcode & 255) === SQLITE_IOERR;
}

/** The error itself, or the sentence about a full disk or a damaged file if that is what it means. */
export function diskError(error: unknown): unknown {
  if (error instanceof SkeinError) return error;
  const { errcode = 0 } = error as { errcode?: number };
  if (errcode === SQLITE_CORRUPT || errcode === SQLITE_NOTADB) {
    const hint = 'Restore ledger.db from a copy, or name another directory with --data.';
    return new SkeinError('damaged', 'The ledger is damaged, or is not a ledger.', hint, { cause: error });
  }
  if ((errcode & 255) === SQLITE_READONLY) {
    const hint = 'Run it as the user who owns the collection.';
    return new SkeinError('refused', 'This user may not write the ledger.', hint, { cause: error });
  }
  if (errcode === SQLITE_IOERR_READ) {
    const hint = 'Check that ledger.db is a file and that its disk works.';
    return new SkeinError('damaged', 'The ledger cannot be read.', hint, { cause: error });
  }
  if (!isFull(error)) return error;
  return new SkeinError(
    'disk-full',
    'The disk is full: nothing more can be stored.',
    'Make room and run the same command again; it goes on where it stopped.',
    { cause: error },
  );
}
