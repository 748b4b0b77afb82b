/** Where two versions of a page differ, by the hashes of their blocks. */

/** A stretch of blocks that was replaced: [start, end) in each version; one of the two may be empty. */
interface BlockSpot {
  readonly before: readonly [start: number, end: number];
  readonly after: readonly [start: number, end: number];
}

/** The stretches that differ, in order: what is left of a longest common subsequence. At most 64 × 64 steps. */
export function differingSpots(before: Uint16Array, after: Uint16Array): readonly BlockSpot[] {
  const width = after.length + 1;
  const common = new Uint8Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const at = i * width + j;
      common[at] =
        before[i] === after[j] ? common[at + width + 1]! + 1 : Math.max(common[at + width]!, common[at + 1]!);
    }
  }
  const spots: BlockSpot[] = [];
  let i = 0;
  let j = 0;
  let from: readonly [number, number] | undefined;
  const end = (): void => {
    if (from) spots.push({ before: [from[0], i], after: [from[1], j] });
    from = undefined;
  };
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      end();
      i++;
      j++;
      continue;
    }
    from ??= [i, j];
    const skipBefore =
      j === after.length || (i < before.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!);
    if (skipBefore) i++;
    else j++;
  }
  end();
  return spots;
}

/** Indexes into `after` of the blocks that are new; where blocks only went away, of the one that took their place. */
export function differingBlocks(spots: readonly BlockSpot[], after: Uint16Array): readonly number[] {
  const where = new Set<number>();
  for (const spot of spots) {
    const [start, end] = spot.after;
    for (let i = start; i < end; i++) where.add(i);
    if (start === end && after.length > 0) where.add(Math.min(start, after.length - 1));
  }
  return [...where];
}
