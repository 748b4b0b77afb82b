/** The door for commands that only look: apart from compose.ts, because building a home takes longer to load than to look. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { Ledger } from '../ledger/ledger.ts';

/** The ledger of an existing collection. */
export function openLedger(directory: string): Ledger {
  if (statSync(join(directory, 'ledger.db'), { throwIfNoEntry: false }) === undefined) {
    throw new SkeinError(
      'not-found',
      `There is no collection in ${directory}.`,
      'Collect one with "skein crawl URL", or name another directory with --data.',
    );
  }
  return new Ledger(directory, 'read');
}
