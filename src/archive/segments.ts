/** The names of the archive's files. */
import * as fs from 'node:fs';
import path from 'node:path';

export interface SegmentFile {
  readonly id: number;
  readonly file: string;
  readonly bytes: number;
}

/** Segments count from 1. */
export function segmentName(id: number): string {
  return `segment-${String(id).padStart(6, '0')}.warc.gz`;
}

/**
 * Up to where each segment that the ledger names is written for good. Only the last may have a tail that the ledger has
 * not committed; all before it were sealed, so that their files are whole whatever length was noted of them.
 */
export function committedEnds(
  directory: string,
  noted: readonly { readonly id: number; readonly length: number }[],
): Map<number, number> {
  const files = new Map(listSegments(directory).map(({ id, bytes }) => [id, bytes]));
  const last = noted.at(-1)?.id;
  return new Map(noted.map(({ id, length }) => [id, id === last ? length : Math.max(length, files.get(id) ?? 0)]));
}

/** All segments of a directory, in order; empty when there is no directory. */
export function listSegments(directory: string): SegmentFile[] {
  if (!fs.existsSync(directory)) return [];
  const segments: SegmentFile[] = [];
  for (const name of fs.readdirSync(directory)) {
    const digits = /^segment-(\d{6,})\.warc\.gz$/.exec(name)?.[1];
    if (digits === undefined) continue;
    const file = path.join(directory, name);
    segments.push({ id: Number(digits), file, bytes: fs.statSync(file).size });
  }
  return segments.sort((a, b) => a.id - b.id);
}
