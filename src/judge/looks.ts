/** What a second look says of the edits that a first one found. Pure. */
import type { Edit } from './edits.ts';
import { type Places, remember } from './places.ts';

/** The edit by which a later look shows that what an edit brought is there no more, or all that it took is there again. */
export function repeated(first: Edit, later: readonly Edit[]): Edit | undefined {
  // A long value is known wherever it stands; "open" and "closed" may be said of other things beside it.
  const alike = later.filter(
    each => each.list === first.list && (first.long[first.after === 0 ? 0 : 1] || isAt(first, each)),
  );
  if (first.within)
    return alike.find(({ place, before }) => place === first.place || (first.after !== 0 && first.after === before));
  const side = first.after === 0 ? 0 : 1;
  // What has only gone elsewhere on the page is there.
  const own = first.items[side].filter(item => !first.moved.includes(item));
  const sought = own.length > 0 ? own : first.items[side];
  // A block of which most words are still there is not gone: a title that is another, behind a number that varies.
  const whole = alike.filter(({ within }) => !within);
  const moved = new Set(
    whole.flatMap(each => each.items[1 - side]!.filter(item => own.length === 0 || !each.moved.includes(item))),
  );
  return sought.every(item => moved.has(item))
    ? whole.find(({ items }) => items[1 - side]!.includes(sought[0]!))
    : undefined;
}

/** It lies where the other does: one of its neighbours is the same, or it is as far from one end of the page. */
function isAt({ place, around: [before, behind, above, below] }: Edit, { place: its, around }: Edit): boolean {
  return place === its || before === around[0] || behind === around[1] || above === around[2] || below === around[3];
}

/** Items between two edits of a list that are taken to be of one and the same list on the page. */
const NEAR = 6;

/** Something beside it was another at the look. */
export function isNear({ list, around: [, , above, below] }: Edit, found: readonly Edit[]): boolean {
  return found.some(({ list: its, around }) => {
    return its === list && Math.min(Math.abs(around[2] - above), Math.abs(around[3] - below)) <= NEAR;
  });
}

/** No more than one look has ever differed there. */
export function wasGuessed({ place: key }: Edit, places: Places): boolean {
  const place = places.get(key);
  return place !== undefined && place.differed <= 1;
}

/**
 * There are more blocks than before, or fewer, at both looks: what varies beside them does not explain that. Nor does a block that
 * stood in the place of another and is gone at the next look: it comes and goes by itself.
 */
export function stands(first: Edit, later: Edit): boolean {
  const [grown, again] = [growthOf(first), growthOf(later)];
  if (grown === 0) return again !== 0 && !first.items[0].every(item => later.items[1].includes(item));
  return Math.sign(again) !== -Math.sign(grown) || Math.abs(again) < Math.abs(grown);
}

function growthOf({ items: [before, after] }: Edit): number {
  return after.length - before.length;
}

/** What a second look found beside what it was for is no evidence of noise: if it stands at the next visit, it is told then. */
export function holdFound(places: Places, edit: Edit): void {
  if (edit.list === 'tags' || edit.after === 0) return;
  remember(places, [edit]);
  const place = places.get(edit.place);
  if (place) place.held = edit.after;
}
