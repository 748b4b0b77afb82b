/** The heir's end: puts the parts of a changelog together again. */
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import type { Changeset } from '../../ledger/replica/changes.ts';
import type { Changelog, Logged } from './changelog.ts';

const decompress = promisify(zstdDecompress);
/** Bytes of one number's changes: a sitemap of 50,000 pages is some 10 MB. Beyond, somebody plays a trick. */
const MOST_BYTES = 1024 * 1024 * 1024;

interface ReadChanges extends Changeset {
  /** Of the message that completed them. */
  readonly sequence: number;
}

/**
 * Changes after a sequence, in order. Those that their writer did not finish, because it died or was fenced between two
 * parts, are left out: nothing that anybody saw depends on them.
 */
export async function* readChanges(log: Changelog, partition: number, after: number): AsyncIterable<ReadChanges> {
  let held: Logged[] = [];
  for await (const entry of log.read(partition, after)) {
    if (entry.part === 0) held = [];
    if (entry.parts === 0 || !follows(held, entry)) continue;
    held.push(entry);
    if (held.length < entry.parts) continue;
    const packed = Buffer.concat(held.map(({ bytes }) => bytes));
    held = [];
    yield { number: entry.number, bytes: await unpacked(packed), sequence: entry.sequence };
  }
}

function follows(held: readonly Logged[], entry: Logged): boolean {
  if (held.length !== entry.part) return false;
  const first = held[0] ?? entry;
  return first.number === entry.number && first.time === entry.time && first.writer.epoch === entry.writer.epoch;
}

async function unpacked(packed: Uint8Array): Promise<Uint8Array> {
  try {
    return await decompress(packed, { maxOutputLength: MOST_BYTES });
  } catch (error) {
    throw new SkeinError('damaged', 'Changes of a ledger cannot be read.', undefined, { cause: error });
  }
}
