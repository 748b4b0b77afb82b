/** The names of the archive's files. */
import * as fs from 'node:fs';
import path from 'node:path';

interface SegmentFile {
  readonly id: number;
  readonly file: string;
  readonly bytes: number;
}

/** Segments count from 1. */
export function segmentName(id: number): string {
  return `segment-${String(id).padStart(6, '0')}.warc.gz`;
}

/** Undefined: another kind of file. */
export function segmentIn(name: string): number | undefined {
  const digits = /^segment-(\d{6,15})\.warc\.gz$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** All segments of a directory, in order; empty when there is no directory. */
export function listSegments(directory: string): SegmentFile[] {
  if (!fs.existsSync(directory)) return [];
  const segments: SegmentFile[] = [];
  for (const name of fs.readdirSync(directory)) {
    const id = segmentIn(name);
    if (id === undefined) continue;
    const file = path.join(directory, name);
    // Whoever writes the collection may remove one meanwhile: recovery does, and house-keeping.
    const bytes = fs.statSync(file, { throwIfNoEntry: false })?.size;
    if (bytes !== undefined) segments.push({ id, file, bytes });
  }
  return segments.sort((a, b) => a.id - b.id);
}
