/** Structure as the papers see it: strings of letters of tags (I-method), elements per level (II-method). */

/** String 1 and string 2: the first and the last letters of the opening tags, in order; one letter counts as both. */
export function tagStrings(names: readonly string[]): readonly [first: string, last: string] {
  return [names.map(name => name[0]).join(''), names.map(name => name.at(-1)).join('')];
}

/** How the scanner hashes such a string; facts keep the hash, not the string. */
export function tagHash(letters: string): number {
  let hash = 0;
  for (let i = 0; i < letters.length; i++) hash = Math.imul((hash ^ letters.charCodeAt(i)) | 0, 0x01000193);
  return hash >>> 0;
}

export interface LevelTable {
  /** In breadth-first order: level (root 1), identity, number of children. */
  readonly level: readonly number[];
  readonly id: readonly number[];
  readonly child: readonly number[];
}

/** The tables of a tree given as the children of each node, root first in the map. */
export function levelTable(children: ReadonlyMap<number, readonly number[]>, root: number): LevelTable {
  const level: number[] = [];
  const id: number[] = [];
  const child: number[] = [];
  let row: readonly number[] = [root];
  for (let depth = 1; row.length > 0; depth++) {
    for (const node of row) {
      level.push(depth);
      id.push(node);
      child.push(children.get(node)?.length ?? 0);
    }
    row = row.flatMap(node => children.get(node) ?? []);
  }
  return { level, id, child };
}

/** Elements per level, root first. */
export function levelCounts(level: readonly number[]): readonly number[] {
  const counts: number[] = [];
  for (const at of level) counts[at - 1] = (counts[at - 1] ?? 0) + 1;
  return counts;
}

/** Levels (root 1) on which the number of elements differs. */
export function changedLevels(before: readonly number[], after: readonly number[]): readonly number[] {
  const changed: number[] = [];
  for (let i = 0; i < Math.max(before.length, after.length); i++) if (before[i] !== after[i]) changed.push(i + 1);
  return changed;
}
