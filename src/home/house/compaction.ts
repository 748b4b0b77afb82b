/**
 * Compaction: what a segment has that is still named is written again at the end of the archive, and then its file goes.
 *
 * Invariant: after each commit every named copy is where the ledger says. The order that keeps it: append, commit the new
 * places, and once nothing in the segment is named: sync the archive, commit that it is replaced, make that durable,
 * delete the file. A kill between any two of these leaves bytes that nobody names, never a copy that is not there.
 */
import type { DroppedSegment, NamedCopy } from '../../ledger/house/dropped.ts';
import { type HouseParts, RawReader } from './stored-records.ts';

/** Bytes that are moved in one transaction. */
const AT_ONCE = 8_000_000;
/** Share of a segment that nothing names from which on it is worth writing the rest again. */
const WORTH_IT = 0.25;

/** Segments that are to be compacted: those with something urgent, and those with much that nothing names. */
export function worthCompacting({ ledger }: Pick<HouseParts, 'ledger'>, share = WORTH_IT): DroppedSegment[] {
  const lengths = new Map(ledger.segments().map(({ id, length }) => [id, length]));
  return ledger.house.dropped
    .segments()
    .filter(({ segment, bytes, urgent }) => urgent || bytes >= share * (lengths.get(segment) ?? 0));
}

/**
 * Compacts these segments, a part at each step; `files` go when the caller says so (deleteReplaced). Every step leaves all
 * committed.
 */
export async function* compact(parts: HouseParts, segments: readonly number[]): AsyncGenerator<number> {
  const { ledger, archive, commit } = parts;
  if (segments.length === 0) return;
  // What is written again must not go into a file that is about to go.
  if (segments.includes(ledger.segments().at(-1)?.id ?? 0)) archive.roll();
  commit();
  const reader = new RawReader(ledger);
  try {
    for (const segment of segments) {
      for (const copies of inParts(ledger.house.dropped.named(segment))) {
        moveAll(parts, reader, copies);
        commit();
        yield copies.reduce((sum, { length }) => sum + length, 0);
      }
      await archive.sync();
      // A run that goes on meanwhile adds nothing here: the segment is sealed.
      ledger.house.dropped.replace(segment);
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
    ledger.house.dropped.move(copy, { segment, place, length, request_length }, false);
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
