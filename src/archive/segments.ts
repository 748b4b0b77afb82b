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
