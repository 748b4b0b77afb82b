/** The door for commands that only look: apart from engine.ts, because building a home takes longer to load than to look. */
import { join } from 'node:path';
import { listSegments } from '../archive/segments.ts';
import { SkeinError } from '../base/errors.ts';
import { readCollection } from '../ledger/collection/collection.ts';
import { hasLedger, Ledger } from '../ledger/ledger.ts';

/** The ledger of an existing collection. */
export function openLedger(directory: string): Ledger {
  try {
    return new Ledger(directory, 'read');
  } catch (error) {
    refuseOrphans(directory);
    throw error;
  }
}

/** Throws where there is no collection to go on with. */
export function requireCollection(directory: string): void {
  const [first] = readCollection(directory).here;
  openLedger(first?.directory ?? directory).close();
}

/**
 * Segments without their ledger are somebody's pages: a new ledger, which knows none of them, would have them cut off.
 * A ledger without tables (emptied, or parted from its log) is none.
 */
export function refuseOrphans(directory: string): void {
  if (listSegments(join(directory, 'archive')).length === 0 || hasLedger(directory)) return;
  throw new SkeinError(
    'damaged',
    `${directory} has an archive but no ledger.`,
    'Restore ledger.db from a copy, or crawl into another directory with --data; the segments are plain WARC files.',
  );
}
