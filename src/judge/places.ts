/**
 * What is known of the places of one page: what stood there, and what second looks said. A place is known by its list and by what
 * stands beside it, and is followed when that changes. Pure.
 */
import type { Edit } from './edits.ts';
import { explained, type Ground, groundAt, has, isFirm, type OnGround } from './ground.ts';
import { hashAll } from './hash.ts';

const MOST_PLACES = 24;
const MOST_VALUES = 6;

/** A place of a page at which something differed. */
export interface Place {
  /** Second looks that differed there, and that agreed. */
  differed: number;
  agreed: number;
  /** Edits seen there. */
  edits: number;
  /** Edits that pass before the next second look. */
  rest: number;
  /** Hashes of what was seen there, newest last, and how often one of them came back. */
  values: number[];
  returned: number;
  /** What the last edit brought, and whether that had been there before. */
  last: number;
  back: boolean;
  /** What stayed of a reference at the last second look that differed; 0 = nothing did, or it is no reference. */
  frame: number;
  /** Which of its pieces were others at second looks, as bits, of how many. */
  pieces: number;
  stars: number;
  /** By how many more or fewer items two looks differed there, at most. */
  growth?: number;
  /** Something came or went there between two looks that did not only stand elsewhere. */
  fresh?: boolean;
  /** Visits since the last second look at which it was taken for noise. */
  passed: number;
  /** What was taken for noise there at the last visit and had never been there before; 0 = nothing. */
  held: number;
  /** What stands there now, what kind of edit brought it, and what stood before and behind it then. */
  now: number;
  kind: number;
  around: readonly [number, number];
  /** Only a token differed there last. */
  token?: boolean;
  /** For people: what differed last. */
  told: string;
}

/** What is known of the places of a page, by their keys, and of its ground that varies. */
export class Places extends Map<number, Place> {
  readonly grounds: Ground[];

  constructor({ places, grounds }: Partial<SavedPlaces> = {}) {
    super(places);
    this.grounds = [...(grounds ?? [])];
  }

  save(): SavedPlaces {
    return { places: [...this], grounds: this.grounds };
  }
}

export interface SavedPlaces {
  readonly places: readonly (readonly [number, Place])[];
  readonly grounds: readonly Ground[];
}

/** The ground that explains an edit, if one does; `usable` says which may. */
export function groundFor({ grounds }: Places, edit: Edit, usable = isFirm): OnGround | undefined {
  const found = edit.spots.map(spot => explained(grounds, usable, edit, spot)).filter(each => each !== undefined);
  return found.find(({ unseen }) => !unseen) ?? found[0];
}

/** Second looks differed there, if not each time: by chance a look meets one of few values again. */
export function swingsAt({ differed, agreed }: Place): boolean {
  return differed >= 2 && 2 * differed >= agreed;
}

/** No more differs than differed between two looks: a picture of the day behind two machines with a token each does. */
export function fits({ frame, pieces, stars }: Pick<Edit, 'frame' | 'pieces' | 'stars'>, edit: Edit): boolean {
  if (!frame || edit.list !== 'reference' || frame === edit.frame) return true;
  return edit.pieces !== 0 && pieces === edit.pieces && (edit.stars & ~stars) === 0;
}

/** One of its neighbours stands there, too. */
function isBeside({ around }: Place, [before, behind]: readonly number[]): boolean {
  return around[0] === before || around[1] === behind;
}

/** Both values swing at another place of the page: what stands beside it does, too, so that its place is not the same. */
export function swingsNearby(places: Places, { before, after, around }: Edit): boolean {
  for (const place of places.values()) {
    const { values, last } = place;
    if (!isBeside(place, around)) continue;
    if (swingsAt(place) && last !== after && values.includes(before) && values.includes(after)) return true;
  }
  return false;
}

/** Looks that must have differed: one may have met a change by chance. */
const ENOUGH_LOOKS = 2;

/** What varies of a reference varies wherever it stands: something beside it has changed, so that its place is another. */
export function variesNearby(places: Places, { list, frame, around }: Edit): boolean {
  if (list !== 'reference' || frame === 0) return false;
  const alike = [...places.values()].filter(place => place.frame === frame && isBeside(place, around));
  const sum = (of: 'differed' | 'agreed') => alike.reduce((total, place) => total + place[of], 0);
  return sum('differed') >= Math.max(ENOUGH_LOOKS, 2 * sum('agreed'));
}

/** The same before the edit is remembered and after. */
export function cameBack({ last, back, values }: Place, { after }: Edit): boolean {
  return after === last ? back : values.includes(after);
}

/** Times that a token came back to what it was, from which on it is known to go back and forth. */
const BACK_AND_FORTH = 3;

/** Second looks that agreed, where none ever differed, from which on what goes back and forth is not two machines' doing. */
const STOOD = 3;

function hasStood({ differed, agreed }: Place): boolean {
  return differed === 0 && agreed >= STOOD;
}

/** Only a token differs, and has gone back and forth before: of a new one that says nothing. */
export function goesBackAndForth(place: Place, edit: Edit): boolean {
  if (edit.stem === 0 || !cameBack(place, edit) || hasStood(place)) return false;
  const { returned, last } = place;
  return returned + (edit.after === last ? 0 : 1) >= BACK_AND_FORTH;
}

/** It would be noise if its token came back once more. */
export function isBackAndForth(place: Place): boolean {
  return place.token === true && place.returned >= BACK_AND_FORTH && !hasStood(place);
}

/** Second looks say so, and do not take it back. One alone may have met a change by chance: it holds for one visit. */
export function isNoisy({ differed, agreed, passed }: Place): boolean {
  return differed >= 2 ? differed >= 2 * agreed : differed === 1 && agreed === 0 && passed === 0;
}

/** Something came or went that does not only stand elsewhere. */
export function isFresh({ items, moved }: Edit): boolean {
  return items.flat().some(item => !moved.includes(item));
}

/**
 * What came in the place of noise, and may have come to stay; 0 = nothing. Words in a block that stays are no such notice, nor is what
 * comes, goes or moves here at every look and now stands where it stood by chance.
 */
export function heldBy({ returned }: Place, edit: Edit, grounds: readonly Ground[]): number {
  const { after, within, items } = edit;
  const firm = grounds.filter(isFirm);
  const known = (item: number) => firm.some(ground => has(ground.items, item) || has(ground.moved ?? [], item));
  return within || returned > 0 || !isFresh(edit) || items[1].every(known) ? 0 : after;
}

/**
 * More came or went than ever did between two looks at the place, or something came where things come and go that no look has seen
 * do so: what varies there does not explain it.
 */
export function exceeds(places: Places, place: Place, edit: Edit): boolean {
  const {
    list,
    within,
    spots: [spot],
  } = edit;
  if (within || list === 'tags' || !spot) return false;
  if (place.fresh === false && isFresh(edit)) return true;
  if (Math.abs(spot.come.length - spot.gone.length) > (place.growth ?? 0)) return true;
  const ground = groundAt(places.grounds, spot);
  return ground !== undefined && ground.growth > 0 && spot.come.some(item => !has(ground.items, item));
}

/**
 * The edit with what stands before it, and with what stands behind it: one of the two may be the page's own, as it is
 * between a menu and a headline. Where something was replaced, also with how far it is from either end of the page.
 */
export function signaturesOf({ around, whole }: Edit): number[] {
  const kinds = whole.includes(0) ? 2 : 4;
  return around.slice(0, kinds).map((beside, kind) => hashAll([beside, kind, ...whole]));
}

/** The edit with its place. */
export function placedOf(edit: Edit): number {
  return hashAll([edit.place, ...edit.whole]);
}

/** What an edit brought stands at its place from now on. */
export function stand(place: Place, edit: Edit): void {
  place.now = edit.after;
  place.kind = kindOf(edit);
  place.around = [edit.around[0], edit.around[1]];
}

function kindOf({ list, within, frame }: Edit): number {
  return hashAll([list.length, within ? 1 : 0, within ? frame : 0]);
}

/**
 * A place is where its value stands: if what stood at a place is replaced now, and one of its neighbours is another by now, it
 * is the same place with all that is known of it.
 */
export function follow(places: Places, edits: readonly Edit[]): void {
  for (const edit of edits) {
    if (edit.before === 0 || places.has(edit.place)) continue;
    const kind = kindOf(edit);
    const found = [...places].find(([key, { now, kind: its, around }]) => {
      if (now !== edit.before || its !== kind || edits.some(({ place }) => place === key)) return false;
      return around[0] === edit.around[0] || around[1] === edit.around[1];
    });
    if (!found) continue;
    places.delete(found[0]);
    places.set(edit.place, found[1]);
  }
}

/** What a visit saw at its places; the least telling are dropped when there are too many. */
export function remember(places: Places, edits: readonly Edit[]): void {
  for (const edit of edits) {
    const { place: key, before, after, told } = edit;
    const place = places.get(key) ?? newPlace(before, told);
    stand(place, edit);
    place.edits++;
    place.rest = Math.max(0, place.rest - 1);
    place.last = after;
    place.back = place.values.includes(after);
    if (place.back) place.returned++;
    place.values = [...place.values.filter(value => value !== after), after].slice(-MOST_VALUES);
    place.told = told;
    place.token = edit.stem !== 0;
    places.delete(key);
    places.set(key, place);
  }
  const spare = [...places].filter(([, place]) => place.differed === 0 && !isBackAndForth(place)).map(([key]) => key);
  for (const key of spare.slice(0, Math.max(0, places.size - MOST_PLACES))) places.delete(key);
}

function newPlace(before: number, told: string): Place {
  const seen = {
    values: [before],
    returned: 0,
    last: 0,
    back: false,
    frame: 0,
    pieces: 0,
    stars: 0,
    passed: 0,
    held: 0,
  };
  return { differed: 0, agreed: 0, edits: 0, rest: 0, fresh: false, ...seen, now: 0, kind: 0, around: [0, 0], told };
}
