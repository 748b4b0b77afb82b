/** A copy of a ledger as it is at one moment, whoever writes it meanwhile. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { SkeinError } from '../../base/errors.ts';
import { diskError } from '../ledger.ts';
import { isAltered, versionOf } from '../schema.ts';

/** In one step: in several, each commit of a running crawl would make it begin again. */
const ALL_PAGES = 2 ** 31 - 1;

/** Copies the ledger in a directory to a file that only its owner may read; returns the segments that the copy names. */
export async function copyLedger(directory: string, file: string): Promise<{ id: number; length: number }[]> {
  closeSync(openSync(file, 'w', 0o600));
  chmodSync(file, 0o600);
  const source = new DatabaseSync(join(directory, 'ledger.db'), { readOnly: true });
  try {
    source.exec('PRAGMA busy_timeout = 5000');
    await backup(source, file, { rate: ALL_PAGES });
  } catch (error) {
    throw diskError(error);
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(file);
  try {
    // A single file: without its log it is whole.
    copy.exec('PRAGMA journal_mode = DELETE');
    return copy.prepare('SELECT id, length FROM segments ORDER BY id').all() as unknown as {
      id: number;
      length: number;
    }[];
  } finally {
    copy.close();
  }
}

/** A setting that is not the same in a collection that is made of a backup. */
interface RestoredSetting {
  readonly name: string;
  change(value: unknown): unknown;
}

/** Makes a ledger of a backup that of another collection. Refuses what no ledger holds: whoever made the file chose it. */
export function adoptLedger(file: string, { name, change }: RestoredSetting): void {
  const database = new DatabaseSync(file);
  try {
    if (versionOf(database) === 0) throw noLedger();
    if (isAltered(database)) throw altered();
    const row = database.prepare('SELECT value FROM meta WHERE name = ?').get(name);
    if (!row) return;
    const value = JSON.stringify(change(JSON.parse(row['value'] as string)));
    database.prepare('UPDATE meta SET value = ? WHERE name = ?').run(value, name);
  } catch (error) {
    throw error instanceof SyntaxError || (error as { errcode?: number }).errcode === SQLITE_NOTADB
      ? noLedger()
      : diskError(error);
  } finally {
    database.close();
  }
}

const SQLITE_NOTADB = 26;

/** A user may have added an index, and can take it out again; whoever else did this meant no good. */
function altered(): SkeinError {
  return new SkeinError(
    'damaged',
    'The ledger of this backup has other tables, indexes, triggers or checks than Skein makes.',
    'If they are your own, remove them from its ledger.db; else look who made this backup.',
  );
}

function noLedger(): SkeinError {
  return new SkeinError('damaged', 'The ledger.db in this backup is not a ledger.', 'Restore from another one.');
}
