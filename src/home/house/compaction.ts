/**
 * Compaction writes the records of a segment that the ledger still names again, at the end of the archive, and then deletes
 * the file of the segment.
 *
 * Invariant: after each commit every named copy is where the ledger says. This order keeps it: append; commit the new places;
 * and when nothing in the segment is named any more: sync the archive, commit that the segment is replaced, make that durable,
 * delete the file. A kill between two of these steps leaves bytes that nobody names, never a named copy that is not there.
 */
import type { DroppedSegment, NamedCopy } from '../../ledger/storage/dropped.ts';
import { type HouseParts, RawReader } from './stored-records.ts';

/** Bytes to move in one transaction. */
const AT_ONCE = 8_000_000;
/** If nothing names this share of a segment, it is worth writing the rest again. */
const WORTH_IT = 0.25;

/** Segments to compact: those with urgent bytes, and those of which nothing names a large share. */
export function worthCompacting({ ledger }: Pick<HouseParts, 'ledger'>, share = WORTH_IT): DroppedSegment[] {
  const lengths = new Map(ledger.storage.segments.all().map(({ id, length }) => [id, length]));
  return ledger.storage.dropped
    .segments()
    .filter(({ segment, bytes, urgent }) => urgent || bytes >= share * (lengths.get(segment) ?? 0));
}

/**
 * Compacts these segments step by step; everything is committed after each step. The caller deletes the files
 * (deleteReplaced).
 */
export async function* compact(parts: HouseParts, segments: readonly number[]): AsyncGenerator<number> {
  const { ledger, archive, commit } = parts;
  if (segments.length === 0) return;
  // What is written again must not go into a file that is about to go.
  if (segments.includes(ledger.storage.segments.all().at(-1)?.id ?? 0)) archive.roll();
  commit();
  const reader = new RawReader(ledger);
  try {
    for (const segment of segments) {
      for (const copies of inParts(ledger.storage.dropped.named(segment))) {
        moveAll(parts, reader, copies);
        commit();
        yield copies.reduce((sum, { length }) => sum + length, 0);
      }
      await archive.sync();
      // A run that goes on meanwhile adds nothing here: the segment is sealed.
      ledger.storage.dropped.replace(segment);
      commit();
      yield 0;
    }
  } finally {
    reader.close();
  }
}

function moveAll({ ledger, archive }: HouseParts, reader: RawReader, copies: readonly NamedCopy[]): void {
  const bytes = copies.map(copy => reader.read(copy, copy.length));
  const { segment, offset } = archive.append(Buffer.concat(bytes));
  let place = offset;
  for (const copy of copies) {
    const { length, request_length } = copy;
    ledger.storage.dropped.move(copy, { segment, place, length, request_length }, false);
    place += length;
  }
}

function* inParts(copies: readonly NamedCopy[]): Iterable<NamedCopy[]> {
  let part: NamedCopy[] = [];
  let bytes = 0;
  for (const copy of copies) {
    if (bytes + copy.length > AT_ONCE && part.length > 0) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(copy);
    bytes += copy.length;
  }
  if (part.length > 0) yield part;
}
