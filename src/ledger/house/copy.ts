/** A copy of a ledger as it is at one moment, whoever writes it meanwhile. */
import { chmodSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import { diskError } from '../ledger.ts';

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
