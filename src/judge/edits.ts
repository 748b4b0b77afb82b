/**
 * What differs between two versions of a page, spot by spot. Each version is three lists: blocks of text in canonical
 * form, references (links, pictures), and the tags of each block. A spot that differs is an edit, known by its place:
 * the list, and what stands before and behind it. Pure: two bodies in, edits out.
 */
import { type Hunk, hunks } from '../base/myers.ts';
import type { Pieces } from '../crawler/analysis/analyse.ts';
import { hashAll, hashOf } from './hash.ts';
import { frameOf, plainAddress, stemOf } from './stems.ts';

export type List = 'text' | 'reference' | 'tags';

export interface Edit {
  readonly list: List;
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
  /** It is about a picture. */
  readonly picture: boolean;
  /** Both hashes of all that was replaced there: of the whole block where the edit is some of its words. */
  readonly whole: readonly [before: number, after: number];
  /** Both are so long that no two pages have them by chance, as they have "in stock" and "sold out". */
  readonly long: boolean;
  /** It is a stretch of words in a block that has stayed for the most part, so that its place says what is there. */
  readonly within: boolean;
  /** For people: the stem, or what stood there and what does now; cut short. */
  readonly told: string;
}

export interface Words {
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
    stem: 0,
    frame: 0,
    long: false,
    picture: false,
    within: false,
  },
  told: 'a file that is no text is another',
};

interface Item {
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
  return { edits, words: wordsIn(changed, before.texts, after.texts) };
}

function listEdits(list: List, old: readonly Item[], now: readonly Item[]): Edit[] {
  return hunksOf(old, now).flatMap(hunk => editsIn(list, hunk, old, now));
}

function textsOf({ texts }: Pieces): Item[] {
  return texts.map(value => ({ hash: hashOf(value), value, picture: false }));
}

function referencesOf({ pieces }: Pieces): Item[] {
  return pieces
    .filter(({ kind }) => kind !== 'tags')
    .map(({ kind, hash, value }) => {
      if (!/^mailto:/i.test(value)) return { hash, value, picture: kind === 'picture' };
      const plain = plainAddress(value);
      return { hash: hashOf(plain), value: plain, picture: false };
    });
}

function tagsOf({ pieces }: Pieces): Item[] {
  return pieces.filter(({ kind }) => kind === 'tags').map(({ hash }) => ({ hash, value: '', picture: false }));
}

function hunksOf(old: readonly Item[], now: readonly Item[]): Hunk[] {
  return hunks(
    old.map(({ hash }) => hash),
    now.map(({ hash }) => hash),
  );
}

function editsIn(list: List, { before, after }: Hunk, old: readonly Item[], now: readonly Item[]): Edit[] {
  const length = after[1] - after[0];
  const [behind, ahead] = [now[after[0] - 1]?.hash ?? 0, now[after[1]]?.hash ?? 0];
  const around = [behind, ahead, after[0], now.length - after[1]] as const;
  const spot = (index: number) => ({ list, around, place: hashAll([listNumber[list], behind, ahead, index]) });
  if (length !== before[1] - before[0] || length > MOST_APART) {
    return [editOf(spot(0), old.slice(...before), now.slice(...after))];
  }
  return Array.from({ length }, (_, i) => {
    const [was, is] = [old[before[0] + i]!, now[after[0] + i]!];
    const whole = editOf(spot(i + 1), [was], [is]);
    return list === 'text' ? wordEdits(whole, was.value, is.value) : [whole];
  }).flat();
}

const listNumber: Readonly<Record<List, number>> = { text: 1, reference: 2, tags: 3 };

type Spot = Pick<Edit, 'list' | 'place' | 'around'>;

function editOf(spot: Spot, old: readonly Item[], now: readonly Item[]): Edit {
  const alone = spot.list === 'reference' && old.length === 1 && now.length === 1;
  const stem = alone ? stemOf(old[0]!.value, now[0]!.value) : undefined;
  const frame = alone ? frameOf(old[0]!.value, now[0]!.value) : undefined;
  return {
    ...spot,
    before: hashesOf(old),
    after: hashesOf(now),
    whole: [hashesOf(old), hashesOf(now)],
    stem: stem === undefined ? 0 : hashOf(stem),
    frame: frame === undefined ? 0 : hashOf(frame),
    long: [old, now].every(items => isLong(items.map(({ value }) => value).join(' '))),
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
  const changed = hunks(old, now, MOST_WORDS);
  const kept = now.length - changed.reduce((sum, { after }) => sum + after[1] - after[0], 0);
  if (changed.length > MOST_STRETCHES || kept < LEAST_KEPT * Math.max(old.length, now.length)) return [whole];
  const frame = frameOfWords(now, changed);
  return changed.map(({ before, after }) => {
    const [gone, come] = [old.slice(...before).join(' '), now.slice(...after).join(' ')];
    const beside = [now[after[0] - 1] ?? '', now[after[1]] ?? ''].map(hashOf);
    return {
      ...whole,
      within: true,
      frame,
      place: hashAll([whole.place, ...beside]),
      before: gone === '' ? 0 : hashOf(gone),
      after: come === '' ? 0 : hashOf(come),
      told: `${cut(gone)} → ${cut(come)}`,
    };
  });
}

/** The words that have stayed, with a star for each stretch that has not; 0 where they are too few to say what it is. */
function frameOfWords(now: readonly string[], changed: readonly Hunk[]): number {
  let from = 0;
  const kept: string[] = [];
  for (const { after } of changed) {
    kept.push(...now.slice(from, after[0]), '*');
    from = after[1];
  }
  kept.push(...now.slice(from));
  return kept.length - changed.length < LEAST_FRAME ? 0 : hashOf(kept.join(' '));
}

const LEAST_FRAME = 1;

function hashesOf(items: readonly Item[]): number {
  return items.length === 0 ? 0 : items.length === 1 ? items[0]!.hash : hashAll(items.map(({ hash }) => hash));
}

/** Words, or characters where it is an address. */
const LONG = 5;
const LONG_ADDRESS = 24;

function isLong(value: string): boolean {
  return value.includes(' ') ? value.split(' ').length >= LONG : value.length >= LONG_ADDRESS;
}

function shortened(items: readonly Item[]): string {
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
