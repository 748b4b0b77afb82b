/**
 * What differs between two versions of a page, spot by spot. Each version is three lists: blocks of text in canonical
 * form, references (links, pictures), and the tags of each block. A spot that differs is an edit, known by its place:
 * the list, and what stands before and behind it. Pure: two bodies in, edits out.
 */
import { type Hunk, hunks } from '../base/myers.ts';
import type { Pieces } from '../crawler/analysis/analyse.ts';
import { hashAll, hashOf } from './hash.ts';
import { frameOf, hasStayed, isAddress, outlineOf, plainAddress, starsOf, stemOf } from './stems.ts';
import { type TokenTurn, tokenTurns } from './turns.ts';

type List = 'text' | 'reference' | 'tags';

/** Where something came or went, and what; hashes. */
export interface Spot {
  /** Which list it is of, by number; words of a block are a list, too. */
  readonly list: number;
  /** What stands before and behind the stretch that differs now. */
  readonly before: number;
  readonly behind: number;
  readonly gone: readonly number[];
  readonly come: readonly number[];
}

export interface Edit {
  readonly list: List;
  /** As it lies in its list; of a block that was replaced as a whole, as its words do, too. */
  readonly spots: readonly Spot[];
  /** What stands before and behind it, and which of several in a row it is. */
  readonly place: number;
  /** Hashes of what stands before and behind it, 0 = the end of the list; how many stand there. */
  readonly around: readonly [before: number, behind: number, above: number, below: number];
  /** Hashes of what stood there and what does now; 0 = nothing. */
  readonly before: number;
  readonly after: number;
  /** Hash of what the two have in common when only tokens differ (stems.ts); 0 = more does. */
  readonly stem: number;
  /**
   * Hash of what has stayed of a reference, or of a block of text most of whose words have, whatever the rest is; 0 = nothing
   * has. Two looks that differ in no more than that say nothing of an edit that goes further.
   */
  readonly frame: number;
  /** Of a reference: how many pieces it has, and which of them differ, as bits; 0 = more than that differs. */
  readonly pieces: number;
  readonly stars: number;
  /** Of a reference with a frame: the pieces that became others. */
  readonly turns: readonly TokenTurn[];
  /** It is about a picture. */
  readonly picture: boolean;
  /** Both hashes of all that was replaced there: of the whole block where the edit is some of its words. */
  readonly whole: readonly [before: number, after: number];
  /** Hashes of the blocks, references or runs of tags that stood there, one by one, and of those that do now. */
  readonly items: readonly [before: readonly number[], after: readonly number[]];
  /** Those of them that stand elsewhere in the other version. */
  readonly moved: readonly number[];
  /** Each is so long that nothing else has it by chance, as other things, too, are "in stock" and "sold out". */
  readonly long: readonly [before: boolean, after: boolean];
  /** It is a stretch of words in a block that has stayed for the most part, so that its place says what is there. */
  readonly within: boolean;
  /** For people: the stem, or what stood there and what does now; cut short. */
  readonly told: string;
}

interface Words {
  readonly removed: number;
  readonly added: number;
  /** Of both versions together. */
  readonly all: number;
}

export interface Difference {
  readonly edits: readonly Edit[];
  readonly words: Words;
}

/** Of a body that is no text: it is another. */
export const wholeEdit: Edit = {
  ...{
    list: 'text',
    place: 1,
    around: [0, 0, 0, 0],
    before: 1,
    after: 2,
    whole: [1, 2],
    items: [[1], [2]],
    moved: [],
    spots: [],
    stem: 0,
    frame: 0,
    pieces: 0,
    stars: 0,
    turns: [],
    long: [false, false],
    picture: false,
    within: false,
  },
  told: 'a file that is no text is another',
};

interface Sign {
  readonly hash: number;
  readonly value: string;
  readonly picture: boolean;
}

/** So many neighbours that were replaced one by one are edits of their own. */
const MOST_APART = 8;
/** Characters told of each side. */
const MOST_TOLD = 60;

export function editsBetween(before: Pieces, after: Pieces): Difference {
  const old = textsOf(before);
  const now = textsOf(after);
  const changed = hunksOf(old, now);
  const edits = [
    ...changed.flatMap(hunk => editsIn('text', hunk, old, now)),
    ...listEdits('reference', referencesOf(before), referencesOf(after)),
    ...listEdits('tags', tagsOf(before), tagsOf(after)),
  ];
  return { edits: withMoved(edits), words: wordsIn(changed, before.texts, after.texts) };
}

/** What went from one place of a list to another has neither come nor gone. */
function withMoved(edits: readonly Edit[]): Edit[] {
  const moved = new Map<List, ReadonlySet<number>>();
  for (const list of Object.keys(listNumber) as List[]) {
    const own = edits.filter(edit => edit.list === list && !edit.within);
    const come = new Set(own.flatMap(({ items }) => items[1]));
    moved.set(list, new Set(own.flatMap(({ items }) => items[0].filter(item => come.has(item)))));
  }
  return edits.map(edit => {
    const there = moved.get(edit.list)!;
    return edit.within || there.size === 0
      ? edit
      : { ...edit, moved: edit.items.flat().filter(item => there.has(item)) };
  });
}

function listEdits(list: List, old: readonly Sign[], now: readonly Sign[]): Edit[] {
  return hunksOf(old, now).flatMap(hunk => editsIn(list, hunk, old, now));
}

function textsOf({ texts }: Pieces): Sign[] {
  return texts.map(value => ({ hash: hashOf(value), value, picture: false }));
}

function referencesOf({ pieces }: Pieces): Sign[] {
  return pieces
    .filter(({ kind }) => kind !== 'tags')
    .map(({ kind, hash, value }) => {
      // What is asked for with a picture counts for nothing, but for the name of one.
      if (kind === 'picture') {
        return {
          hash,
          value: value.replace(/\?[^\s,]*/g, query => (NAMES_PICTURE.test(query) ? query : '')),
          picture: true,
        };
      }
      if (!isAddress(value)) return { hash, value, picture: false };
      const plain = plainAddress(value);
      return { hash: hashOf(plain), value: plain, picture: false };
    });
}

/** As the scanner has it. */
const NAMES_PICTURE = /\.(?:jpe?g|png|gif|webp|avif|svg)(?:&|$)/i;

function tagsOf({ pieces }: Pieces): Sign[] {
  return pieces.filter(({ kind }) => kind === 'tags').map(({ hash }) => ({ hash, value: '', picture: false }));
}

function hunksOf(old: readonly Sign[], now: readonly Sign[]): Hunk[] {
  return hunks(
    old.map(({ hash }) => hash),
    now.map(({ hash }) => hash),
  );
}

function editsIn(list: List, { before, after }: Hunk, old: readonly Sign[], now: readonly Sign[]): Edit[] {
  const [behind, ahead] = [now[after[0] - 1]?.hash ?? 0, now[after[1]]?.hash ?? 0];
  const around = [behind, ahead, after[0], now.length - after[1]] as const;
  const spot = (index: number) => ({ list, around, place: hashAll([listNumber[list], behind, ahead, index]) });
  const [gone, come] = [old.slice(...before), now.slice(...after)];
  const pairs = pairsOf(list, gone, come);
  if (pairs.length === 0) return between(spot, gone, come, 0);
  // What stands beside a pair that has stayed for the most part is an edit of its own.
  const edits: Edit[] = [];
  let [i, j] = [0, 0];
  for (const [n, [was, is]] of [...pairs, [gone.length, come.length] as const].entries()) {
    if (was > i || is > j) edits.push(...between(spot, gone.slice(i, was), come.slice(j, is), BESIDE * n));
    if (n < pairs.length) edits.push(...replaced(spot(PAIRED + n), gone[was]!, come[is]!));
    [i, j] = [was + 1, is + 1];
  }
  return edits;
}

/** Indexes of edits in a stretch: those of pairs, and of what stands between them. */
const PAIRED = 100;
const BESIDE = 1000;

/** What was replaced as a whole, or one by one where as many came as went. */
function between(spot: (index: number) => Where, gone: readonly Sign[], come: readonly Sign[], from: number): Edit[] {
  const apart = gone.length === come.length && (come.length <= MOST_APART || isTokensAlone(gone, come));
  if (!apart) return [editOf(spot(from), gone, come)];
  return come.flatMap((is, i) => replaced(spot(from + i + 1), gone[i]!, is));
}

/** However many they are: each is what it was but for tokens. */
function isTokensAlone(gone: readonly Sign[], come: readonly Sign[]): boolean {
  return come.every((is, i) => stemOf(gone[i]!.value, is.value) !== undefined);
}

function replaced(spot: Where, was: Sign, is: Sign): Edit[] {
  const whole = editOf(spot, [was], [is]);
  return spot.list === 'text' ? wordEdits(whole, was.value, is.value) : [whole];
}

/** Of a stretch in which something came or went: more items than this are not paired. */
const MOST_PAIRED = 24;

/** Which of a stretch became which, in order, where most of an item has stayed; none where as many came as went in order. */
function pairsOf(list: List, gone: readonly Sign[], come: readonly Sign[]): (readonly [number, number])[] {
  if (list === 'tags' || gone.length === 0 || come.length === 0 || gone.length + come.length === 2) return [];
  if (gone.length > MOST_PAIRED || come.length > MOST_PAIRED) return longPairs(list, gone, come);
  const alike = gone.map(was => come.map(is => isAlike(list, was.value, is.value)));
  const most = Array.from({ length: gone.length + 1 }, () => new Array<number>(come.length + 1).fill(0));
  for (let i = gone.length - 1; i >= 0; i--) {
    for (let j = come.length - 1; j >= 0; j--) {
      const skip = Math.max(most[i + 1]![j]!, most[i]![j + 1]!);
      most[i]![j] = alike[i]![j] ? Math.max(skip, most[i + 1]![j + 1]! + 1) : skip;
    }
  }
  const pairs: (readonly [number, number])[] = [];
  for (let i = 0, j = 0; i < gone.length && j < come.length; ) {
    if (alike[i]![j] && most[i]![j] === most[i + 1]![j + 1]! + 1) pairs.push([i++, j++]);
    else if (most[i + 1]![j]! >= most[i]![j + 1]!) i++;
    else j++;
  }
  const inOrder = come.length <= MOST_APART && gone.length === come.length && pairs.every(([i, j]) => i === j);
  return inOrder ? [] : pairs;
}

/** Too many to hold each against each: where as many came as went, those that stand at the same place and are alike. */
function longPairs(list: List, gone: readonly Sign[], come: readonly Sign[]): (readonly [number, number])[] {
  if (gone.length !== come.length) return [];
  const pairs = come.flatMap((is, i) => (isAlike(list, gone[i]!.value, is.value) ? [[i, i] as const] : []));
  return 2 * pairs.length >= come.length ? pairs : [];
}

function isAlike(list: List, was: string, is: string): boolean {
  if (list === 'reference') return stemOf(was, is) !== undefined || hasStayed(was, is);
  return stretchesOf(wordsOf([was]), wordsOf([is])) !== undefined;
}

const listNumber: Readonly<Record<List, number>> = { text: 1, reference: 2, tags: 3 };

/** Words of a block, as a list of spots. */
const WORDS = 4;

type Where = Pick<Edit, 'list' | 'place' | 'around'>;

function editOf(spot: Where, old: readonly Sign[], now: readonly Sign[]): Edit {
  const alone = spot.list === 'reference' && old.length === 1 && now.length === 1;
  const stem = alone ? stemOf(old[0]!.value, now[0]!.value) : undefined;
  const pieced = alone ? frameOf(old[0]!.value, now[0]!.value) : undefined;
  const frame = pieced ?? (alone ? outlineOf(old[0]!.value, now[0]!.value) : undefined);
  const [gone, come] = [old, now].map(items => items.map(({ hash }) => hash)) as [number[], number[]];
  const [before, behind] = spot.around;
  return {
    ...spot,
    spots: [{ list: listNumber[spot.list], before, behind, gone, come }],
    before: hashesOf(old),
    after: hashesOf(now),
    whole: [hashesOf(old), hashesOf(now)],
    items: [gone, come],
    moved: [],
    stem: stem === undefined ? 0 : hashOf(stem),
    frame: frame === undefined ? 0 : hashOf(frame),
    ...(pieced === undefined ? { pieces: 0, stars: 0 } : starsOf(old[0]!.value, now[0]!.value)),
    turns: alone ? tokenTurns(old[0]!.value, now[0]!.value) : [],
    long: [isLongOf(old), isLongOf(now)],
    picture: [...old, ...now].some(({ picture }) => picture),
    within: false,
    told: stem ?? `${shortened(old)} → ${shortened(now)}`,
  };
}

/** So many stretches of words that differ in one block, and such a share of its words that stays, make edits of their own. */
const MOST_STRETCHES = 4;
const LEAST_KEPT = 0.5;

/** A price beside a counter is another place than the counter: where a block stays for the most part, its words are. */
function wordEdits(whole: Edit, was: string, is: string): Edit[] {
  const old = wordsOf([was]);
  const now = wordsOf([is]);
  const changed = stretchesOf(old, now);
  if (!changed) return [{ ...whole, spots: [...whole.spots, ...wordSpots(whole, old, now)] }];
  const frame = frameOfWords(now, changed);
  return changed.map(({ before, after }) => {
    const [gone, come] = [old.slice(...before).join(' '), now.slice(...after).join(' ')];
    const beside = [now[after[0] - 1] ?? '', now[after[1]] ?? ''].map(hashOf);
    return {
      ...whole,
      within: true,
      spots: wordSpot(whole, { before, after }, old, now),
      frame,
      place: hashAll([whole.place, ...beside]),
      before: gone === '' ? 0 : hashOf(gone),
      after: come === '' ? 0 : hashOf(come),
      told: `${cut(gone)} → ${cut(come)}`,
    };
  });
}

/** Of a block of which few words have stayed: all between those at its two ends that have. */
function wordSpots(whole: Edit, old: readonly string[], now: readonly string[]): Spot[] {
  const most = Math.min(old.length, now.length);
  let [from, to] = [0, 0];
  while (from < most && old[from] === now[from]) from++;
  while (to < most - from && old[old.length - 1 - to] === now[now.length - 1 - to]) to++;
  if (from + to === 0) return [];
  return wordSpot(whole, { before: [from, old.length - to], after: [from, now.length - to] }, old, now);
}

/** Words are those of their block, which is known by what stands before it, or by what stands behind it. */
function wordSpot({ around }: Edit, { before, after }: Hunk, old: readonly string[], now: readonly string[]): Spot[] {
  const [ahead, next] = [now[after[0] - 1] ?? '', now[after[1]] ?? ''].map(hashOf) as [number, number];
  const [gone, come] = [old.slice(...before).map(hashOf), now.slice(...after).map(hashOf)];
  return [0, 1].map(side => {
    return { list: hashAll([WORDS + side, around[side]!]), before: ahead, behind: next, gone, come };
  });
}

/** Where the words of a block differ; undefined where too few have stayed. */
function stretchesOf(old: readonly string[], now: readonly string[]): Hunk[] | undefined {
  const longest = Math.max(old.length, now.length);
  if (Math.min(old.length, now.length) < LEAST_KEPT * longest) return undefined;
  const changed = hunks(old, now, MOST_WORDS);
  const kept = now.length - changed.reduce((sum, { after }) => sum + after[1] - after[0], 0);
  return changed.length > MOST_STRETCHES || kept < LEAST_KEPT * longest ? undefined : changed;
}

/** The words that have stayed, with a star for each stretch that has not; 0 where they are too few to say what it is. */
function frameOfWords(now: readonly string[], changed: readonly Hunk[]): number {
  let from = 0;
  const kept: string[] = [];
  for (const { after } of changed) {
    for (; from < after[0]; from++) kept.push(now[from]!);
    kept.push('*');
    from = after[1];
  }
  for (; from < now.length; from++) kept.push(now[from]!);
  return kept.length - changed.length < LEAST_FRAME ? 0 : hashOf(kept.join(' '));
}

const LEAST_FRAME = 1;

function hashesOf(items: readonly Sign[]): number {
  return items.length === 0 ? 0 : items.length === 1 ? items[0]!.hash : hashAll(items.map(({ hash }) => hash));
}

/** Words, or characters where it is an address. */
const LONG = 5;
const LONG_ADDRESS = 24;

const isLongOf = (items: readonly Sign[]): boolean => isLong(items.map(({ value }) => value).join(' '));

function isLong(value: string): boolean {
  return value.includes(' ') ? value.split(' ').length >= LONG : value.length >= LONG_ADDRESS;
}

function shortened(items: readonly Sign[]): string {
  return cut(items.map(({ value }) => value).join(' '));
}

function cut(text: string): string {
  return text.length <= MOST_TOLD ? text : `${text.slice(0, MOST_TOLD - 1)}…`;
}

/** Words, not blocks: one that was put into a long paragraph is one. */
function wordsIn(changed: readonly Hunk[], old: readonly string[], now: readonly string[]): Words {
  let removed = 0;
  let added = 0;
  for (const { before, after } of changed) {
    for (const hunk of hunks(wordsOf(old.slice(...before)), wordsOf(now.slice(...after)), MOST_WORDS)) {
      removed += hunk.before[1] - hunk.before[0];
      added += hunk.after[1] - hunk.after[0];
    }
  }
  return { removed, added, all: wordsOf(old).length + wordsOf(now).length };
}

/** Words that differ in one stretch beyond which it is called replaced as a whole. */
const MOST_WORDS = 800;

function wordsOf(texts: readonly string[]): string[] {
  return texts.flatMap(text => text.split(/\s+/).filter(word => word !== ''));
}
