/** Structure as the papers' II-method sees it: elements per level. */

/** Levels (root 1) on which the number of elements differs. */
export function changedLevels(before: readonly number[], after: readonly number[]): readonly number[] {
  const changed: number[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) if (before[i] !== after[i]) changed.push(i + 1);
  return changed;
}
