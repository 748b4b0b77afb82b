/** Structure as the papers see it: strings of letters of tags (I-method), elements per level (II-method). */
import { sameCode } from './text-codes.ts';

/** String 1 and string 2: the first and the last letters of the opening tags, in order; one letter counts as both. */
export function tagStrings(names: readonly string[]): readonly [first: string, last: string] {
  return [names.map(name => name[0]).join(''), names.map(name => name.at(-1)).join('')];
}

export interface LevelTable {
  /** In breadth-first order: level (root 1), identity, number of children. */
  readonly level: readonly number[];
  readonly id: readonly number[];
  readonly child: readonly number[];
  /** CONTENT VALUE: the second code of the node's own text, 0 without text. */
  readonly content: readonly number[];
  /** Level_array: of each node, how many there are on its level. */
  readonly levelArray: readonly number[];
}

/** The tables of a tree given as the children of each node; `contentOf`: what a node says by itself, as a code. */
export function levelTable(
  children: ReadonlyMap<number, readonly number[]>,
  root: number,
  contentOf: (node: number) => number = () => 0,
): LevelTable {
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
  const counts = levelCounts(level);
  return { level, id, child, content: id.map(contentOf), levelArray: level.map(at => counts[at - 1]!) };
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

/** Levels on which a node says something else than the one in its place did, though there are as many. */
export function changedContents(before: LevelTable, after: LevelTable): readonly number[] {
  const byLevel = ({ level, content }: LevelTable) => {
    const lists = new Map<number, number[]>();
    for (const [i, at] of level.entries()) {
      const list = lists.get(at) ?? [];
      list.push(content[i]!);
      lists.set(at, list);
    }
    return lists;
  };
  const [old, now] = [byLevel(before), byLevel(after)];
  return [...now.keys()].filter(level => {
    const [a = [], b = []] = [old.get(level), now.get(level)];
    return a.length === b.length && a.some((code, i) => !sameCode(code, b[i]!));
  });
}
