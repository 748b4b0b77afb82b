/**
 * Ground that varies: a stretch of a page between neighbours that stand, in which two looks a moment apart found other things: links
 * by lot, logos in turn, words of a clock. What was seen to come or go there says nothing when it comes or goes again; what
 * nobody has seen there yet is looked at before it counts. Pure.
 */
import type { Edit, Spot } from './edits.ts';
import { hashAll } from './hash.ts';

/** Something that stands beside a ground, or came or went in it, and at how many looks. */
type Met = [hash: number, looks: number];

export interface Ground {
  readonly key: number;
  readonly list: number;
  /** Newest last. */
  before: Met[];
  behind: Met[];
  /** What came or went between two looks, newest last; and what only stood elsewhere. */
  items: Met[];
  moved?: Met[];
  /** Looks that differed there, and that agreed though a visit had differed. */
  differed: number;
  agreed: number;
  /** What stayed of references that were replaced one by one, and which of their pieces did not; `free`: nothing need stay. */
  frames: number[];
  starred: [pieces: number, stars: number][];
  free: boolean;
  /** By how many more or fewer items two looks differed, at most. */
  growth: number;
  /** For people. */
  told: string;
}

const MOST_GROUNDS = 12;
const MOST_NEIGHBOURS = 12;
const MOST_ITEMS = 160;
/** Looks at which a neighbour must have stood before it is known to be one that stays. */
const STANDS = 2;

/** One look may have met a change by chance. No more than two in three may say the contrary. */
export function isFirm({ differed, agreed }: Ground): boolean {
  return differed >= 2 && 2 * differed >= agreed;
}

/** The ground in which a spot lies: both of its neighbours are the ground's, or have come and gone there. */
export function groundAt(grounds: readonly Ground[], { list, before, behind }: Spot): Ground | undefined {
  return grounds.find(ground => {
    if (ground.list !== list) return false;
    return (has(ground.before, before) || isIn(ground, before)) && (has(ground.behind, behind) || isIn(ground, behind));
  });
}

export function has(met: readonly Met[], hash: number): boolean {
  return met.some(([each]) => each === hash);
}

/** The same where only one neighbour is known, but something in it is, too: a part of a list that stayed hides the other. */
function groundBeside(grounds: readonly Ground[], { list, before, behind, gone, come }: Spot): Ground | undefined {
  return grounds.find(ground => {
    if (ground.list !== list || ![...gone, ...come].some(item => isIn(ground, item))) return false;
    return isBy(ground, before) || isBy(ground, behind);
  });
}

/** It has come, gone or moved there. */
function isIn(ground: Ground, item: number): boolean {
  return has(ground.items, item) || hasMoved(ground, item);
}

/** It stands there, or beside it. */
function isBy(ground: Ground, item: number): boolean {
  return has(ground.before, item) || has(ground.behind, item) || isIn(ground, item);
}

/** A ground of those in which all that came and went had come or gone before, wherever it stands now: there, or at two looks. */
function groundOf(
  grounds: readonly Ground[],
  usable: Usable,
  { moved }: Edit,
  { list, before, behind, gone, come }: Spot,
): Ground | undefined {
  const own = grounds.filter(ground => ground.list === list && (isBy(ground, before) || isBy(ground, behind)));
  const known = (item: number) => {
    if (moved.includes(item) && own.some(ground => hasMoved(ground, item))) return true;
    const looks = own.reduce((sum, { items }) => sum + (items.find(([each]) => each === item)?.[1] ?? 0), 0);
    return looks >= STANDS || (looks > 0 && own.some(ground => usable(ground) && has(ground.items, item)));
  };
  const all = [...gone, ...come];
  return all.every(known) ? own.find(ground => isIn(ground, all.at(-1)!)) : undefined;
}

function hasMoved({ moved = [] }: Ground, item: number): boolean {
  return has(moved, item);
}

type Usable = (ground: Ground) => boolean;

/** No more of a reference differs than did between two looks: another picture behind two machines is news. */
function fitsGround(
  { frames, starred, free }: Ground,
  { list, frame, pieces, stars, items: [gone, come] }: Edit,
): boolean {
  if (list !== 'reference' || free || frames.includes(frame)) return true;
  if (frame === 0) return gone.length !== 1 || come.length !== 1;
  return pieces !== 0 && starred.some(([each, varied]) => each === pieces && (stars & ~varied) === 0);
}

/** What the ground makes of an edit. `unseen`: something in it has not been seen there before; a look will tell. */
export interface OnGround {
  readonly ground: Ground;
  readonly unseen: boolean;
}

/** Undefined where no ground explains it: something that stood has gone, or there is more of it than ever between two looks. */
export function explained(grounds: readonly Ground[], usable: Usable, edit: Edit, spot: Spot): OnGround | undefined {
  const fitting = grounds.filter(ground => fitsGround(ground, edit));
  const known = groundOf(fitting, usable, edit, spot);
  if (known) return { ground: known, unseen: false };
  const ground = groundAt(fitting.filter(usable), spot);
  if (!ground || spot.gone.some(item => stood(ground, item))) return undefined;
  const grown = Math.abs(spot.come.length - spot.gone.length);
  if (grown > (ground.differed >= 2 ? ground.growth : 0)) return undefined;
  const isKnown = (item: number) => has(ground.items, item) || (edit.moved.includes(item) && hasMoved(ground, item));
  const unknown = (items: readonly number[]) => !items.every(isKnown);
  // Where things come and go and do not take turns, nothing that came explains what has gone.
  return { ground, unseen: unknown(spot.come) || (ground.growth > 0 && unknown(spot.gone)) };
}

function stood({ before, behind, items }: Ground, item: number): boolean {
  return !has(items, item) && [...before, ...behind].some(([each, looks]) => each === item && looks >= STANDS);
}

/** What differed between two looks at a page, a moment apart. Returns the grounds that did. */
export function vary(grounds: Ground[], edits: readonly Edit[]): Set<Ground> {
  const touched = new Set<Ground>();
  for (const [edit, spot] of edits.flatMap(each => each.spots.map(its => [each, its] as const))) {
    const { gone, come } = spot;
    const ground = groundAt(grounds, spot) ?? groundBeside(grounds, spot) ?? newGround(spot);
    if (!grounds.includes(ground)) grounds.push(ground);
    if (!touched.has(ground)) ground.differed++;
    touched.add(ground);
    widen(ground, edit);
    for (const item of new Set([...gone, ...come])) {
      if (edit.moved.includes(item)) ground.moved = metAgain(ground.moved ?? [], item, MOST_ITEMS);
      else ground.items = metAgain(ground.items, item, MOST_ITEMS);
    }
    ground.growth = Math.max(ground.growth, Math.abs(come.length - gone.length));
    ground.told = edit.told;
    ground.before = metAgain(ground.before, spot.before, MOST_NEIGHBOURS);
    ground.behind = metAgain(ground.behind, spot.behind, MOST_NEIGHBOURS);
  }
  // The one that varied last is the likeliest to vary again.
  const kept = [...grounds.filter(each => !touched.has(each)), ...touched].slice(-MOST_GROUNDS);
  grounds.splice(0, grounds.length, ...kept);
  return touched;
}

function newGround({ list, before, behind, gone, come }: Spot): Ground {
  return {
    ...{ key: hashAll([list, before, behind, ...gone, ...come]), list, before: [], behind: [], items: [] },
    ...{ differed: 0, agreed: 0, frames: [], starred: [], free: false, growth: 0, told: '' },
  };
}

function widen(ground: Ground, { list, frame, pieces, stars }: Edit): void {
  if (list !== 'reference') return;
  if (frame === 0) ground.free = true;
  else if (!ground.frames.includes(frame)) ground.frames = [...ground.frames, frame].slice(-MOST_NEIGHBOURS);
  const others = ground.starred.filter(([each]) => each !== pieces);
  const before = ground.starred.find(([each]) => each === pieces)?.[1] ?? 0;
  if (pieces !== 0) ground.starred = [...others, [pieces, before | stars] as [number, number]].slice(-MOST_NEIGHBOURS);
}

function metAgain(all: readonly Met[], hash: number, most: number): Met[] {
  const looks = all.find(([each]) => each === hash)?.[1] ?? 0;
  return [...all.filter(([each]) => each !== hash), [hash, looks + 1] satisfies Met].slice(-most);
}
