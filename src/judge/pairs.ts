/** What became what, as keys: of two values between which something goes back and forth. Pure. */
import type { Edit } from './edits.ts';
import { hashAll } from './hash.ts';

export function turnKey({ around, before, after }: Record<'around' | 'before' | 'after', number>): number {
  return hashAll([around, before, after]);
}

/** Values between which something may swing: of what is no token only where it stands, because "yes" and "no" stand for many things. */
export function swingKeys({ stem, whole, around: [ahead, behind] }: Edit): readonly [before: number, after: number] {
  if (stem !== 0) return whole;
  const [before, after] = whole.map(value => hashAll([value, ahead, behind])) as [number, number];
  return [before, after];
}

export function isLongPair({ long, within }: Edit): boolean {
  return !within && long.every(each => each);
}

/** Two long values, whichever of them was first; 0 = they are not. */
export function pairKey(edit: Edit): number {
  return isLongPair(edit) ? hashAll([...edit.whole].sort((a, b) => a - b)) : 0;
}
