/** What a peer can take: what its owner declared, less when its disk fills. Few steps, so that the ring seldom changes. */
import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** Below so many free bytes (or so large a part of a small disk) the peer takes this part of its capacity. */
const STEPS = [
  { bytes: 0.5e9, part: 0.02, left: 0 },
  { bytes: 2e9, part: 0.05, left: 0.25 },
  { bytes: 5e9, part: 0.1, left: 0.5 },
] as const;
/** To go up a step again, so much more must be free: else a peer at the edge would move partitions to and fro. */
const SLACK = 1.25;

interface Disk {
  readonly free: number;
  readonly total: number;
}

/** `before` is what this function returned last, as a part of the declared capacity. */
export function partOfCapacity({ free, total }: Disk, before: number): number {
  for (const { bytes, part, left } of STEPS) {
    const edge = Math.min(bytes, part * total);
    if (free < (before <= left ? SLACK * edge : edge)) return left;
  }
  return 1;
}

/** Of the disk where the path is, or will be. */
export function diskOf(path: string): Disk {
  if (!existsSync(path) && dirname(path) !== path) return diskOf(dirname(path));
  const { bavail, blocks, bsize } = statfsSync(path);
  return { free: bavail * bsize, total: blocks * bsize };
}
