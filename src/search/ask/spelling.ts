/**
 * What a person may have meant by a word that no page has: the word of the pages that takes the fewest mistakes to
 * become it. A mistake is a letter too many, too few or wrong, or two that changed places; words are compared as they are
 * written, not by their stems. Among equals it is the one that begins and ends as the word does and that many pages have.
 *
 * Asked only when no page has all words of a query, because it reads through the words with the same first letter.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { termOf } from '../terms/words.ts';
import { either, HEAD, languagesFor, quote, type Vocabulary } from './asked.ts';

/** Letters from which a word can be told from its neighbours, and from which two mistakes are forgiven. */
const SHORTEST = 4;
const LONG = 8;
/** Neighbours that are compared by how many pages have them. */
const COMPARED = 8;

/** Words of a query up to which one of them may be a mistake that some page has made, too; pages that may have made it. */
export const SHORT_QUERY = 4;
export const FEW_PAGES = 3;
/** How many times as many pages must have the word that is meant then. */
export const TIMES = 50;
/** Pages with a word that goes on from one that no page writes, up to which the latter may be a mistake. */
export const FEW_BEGUN = 20;

export class Spelling {
  readonly #near: StatementSync;
  readonly #pagesWith: (word: string) => number;

  constructor(database: DatabaseSync, pagesWith: (word: string) => number) {
    this.#pagesWith = pagesWith;
    this.#near = database.prepare(
      'SELECT word FROM vocabulary WHERE word >= ? AND word < ? || char(1114111) AND length(word) BETWEEN ? AND ?',
    );
    this.#near.setReturnArrays(true);
  }

  /** A word of the pages that is nearly `word`; undefined = there is none. */
  correct(word: string): string | undefined {
    const { words } = this.nearest(word);
    const pages = new Map(comparedTo(word, words).map(near => [near, this.#pagesWith(near)]));
    return likeliest(word, pages);
  }

  /** The words of the pages that take the fewest mistakes to become `word`, and how many those are. */
  nearest(word: string): Nearest {
    if (word.length < SHORTEST || !/^\p{L}+$/u.test(word)) return { words: [], mistakes: 0 };
    const lower = lowered(word);
    const most = lower.length < LONG ? 1 : 2;
    let [best, least] = [[] as string[], most];
    const pieces = piecesOf(lower, 2 * most + 1);
    for (const near of this.#neighbours(lower, most)) {
      if (!pieces.some(piece => near.includes(piece))) continue;
      const distance = mistakes(lower, near, least);
      if (distance > least || near === lower) continue;
      if (distance < least) [best, least] = [[], distance];
      best.push(near);
    }
    return { words: best, mistakes: least };
  }

  /** Words of about the same length that begin with the first letter, or with the first two in the other order. */
  *#neighbours(word: string, most: number): Generator<string> {
    const [first = '', second = ''] = word;
    for (const start of [first, second + first]) {
      const found = this.#near.all(start, start, word.length - most, word.length + most);
      for (const [near] of found as unknown as [string][]) yield near;
    }
  }
}

export interface Nearest {
  readonly words: readonly string[];
  readonly mistakes: number;
}

const lowered = (word: string) => word.normalize('NFC').toLowerCase();

/** Those of its neighbours that begin and end most like it. */
export function comparedTo(word: string, words: readonly string[]): string[] {
  const alike = words.map(near => ({ near, likeness: likeness(lowered(word), near) }));
  alike.sort((a, b) => b.likeness - a.likeness);
  return alike.slice(0, COMPARED).map(({ near }) => near);
}

/** The one of them that is meant, by how many pages have each. */
export function likeliest(word: string, pagesWith: ReadonlyMap<string, number>): string | undefined {
  const counted = [...pagesWith].map(([near, pages]) => {
    return { near, pages, worth: likeness(lowered(word), near) + Math.log2(1 + pages) };
  });
  counted.sort((a, b) => b.worth - a.worth);
  // A page that had the word may be gone.
  return counted.find(({ pages }) => pages > 0)?.near;
}

/** The word in so many pieces. A mistake spoils two of them at most, so that with one more than that one is always whole. */
function piecesOf(word: string, count: number): string[] {
  return Array.from({ length: count }, (_, at) =>
    word.slice(Math.floor((at * word.length) / count), Math.floor(((at + 1) * word.length) / count)),
  );
}

/** Letters that both begin and end with, at most three each. */
function likeness(one: string, two: string): number {
  let [start, end] = [0, 0];
  while (start < 3 && one[start] === two[start]) start++;
  while (end < 3 && one.at(-1 - end) === two.at(-1 - end)) end++;
  return start + end;
}

/** Letters to change, add, leave out or swap with their neighbour to make one word of the other; more than `most` = most + 1. */
function mistakes(one: string, two: string, most: number): number {
  if (Math.abs(one.length - two.length) > most) return most + 1;
  let [before, last] = [[] as number[], Array.from({ length: two.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    let lowest = i;
    for (let j = 1; j <= two.length; j++) {
      const same = one.charCodeAt(i - 1) === two.charCodeAt(j - 1) ? 0 : 1;
      let least = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + same);
      if (i > 1 && j > 1 && one[i - 1] === two[j - 2] && one[i - 2] === two[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      row.push(least);
      if (least < lowest) lowest = least;
    }
    if (lowest > most) return most + 1;
    [before, last] = [last, row];
  }
  return last[two.length]!;
}

/** Letters of the word, and of each half. */
const LONGEST_WHOLE = 24;
const SHORTEST_HALF = 3;

/** All ways to write in two what pages may write so: `cherrypick` is *git-cherry-pick*. */
export function halvesOf(word: string): string[] {
  if (word.length > LONGEST_WHOLE || !/^\p{L}+$/u.test(word)) return [];
  const count = Math.max(0, word.length - 2 * SHORTEST_HALF + 1);
  return Array.from({ length: count }, (_, i) => SHORTEST_HALF + i).map(at =>
    `${word.slice(0, at)} ${word.slice(at)}`.toLowerCase(),
  );
}

/** What finds pages that have both, next to each other, where names stand. */
export function asName(halves: string, spoken: Pick<Vocabulary, 'languages' | 'others'>): string {
  const phrases = languagesFor(halves, spoken).map(language =>
    quote(halves.split(' ').map(half => termOf(half, language))),
  );
  return HEAD + either([...new Set(phrases)]);
}

/** The way that most pages write it; undefined = no page has it so. */
export function commonest(ways: readonly string[], pages: readonly number[]): string | undefined {
  const most = Math.max(0, ...pages);
  return most === 0 ? undefined : ways[pages.indexOf(most)];
}
