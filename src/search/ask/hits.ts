/**
 * Where the words of a query stand in a text. Most words of most texts are of ASCII letters only: these are not read one by
 * one. What the wanted terms begin with is looked for as it stands, and only words that begin so are made into terms, which
 * takes half the time. The stretches with other letters are read word by word.
 */

import { eachWord, termAt } from '../terms/words.ts';
import type { Highlights } from './match.ts';

export interface Marked {
  readonly start: number;
  readonly end: number;
  /** Which term or beginning it is. */
  readonly what: string;
}

/** Letters and digits beyond ASCII, or what may be one; punctuation, arrows and lines are none. */
const other =
  '[^\\0-\\u00a9\\u00ab-\\u00b1\\u00b4\\u00b6-\\u00b8\\u00bb\\u00bf\\u00d7\\u00f7\\u2000-\\u206f\\u20a0-\\u20cf\\u2190-\\u23ff\\u2500-\\u27bf\\ufeff]';
const otherLetter = new RegExp(other);
const otherLetters = new RegExp(other, 'g');
const word = /[a-z\d]+/y;
/** Languages whose stemmers cut at the front, or that lower their letters in another way. */
const prefixing = new Set(['id', 'ga', 'tr', 'az']);

export function hitsIn(text: string, language: string, highlights: Highlights): Marked[] {
  const { terms, beginnings, initials } = highlights;
  if (terms.size === 0 && beginnings.length === 0) return [];
  const hits = new Map<number, Marked>();
  const take = (term: string, start: number, end: number) => {
    if (term === '' || hits.has(start)) return;
    const what = terms.has(term) ? term : beginnings.find(beginning => term.startsWith(beginning));
    if (what !== undefined) hits.set(start, { start, end, what });
  };
  const lower = text.toLowerCase();
  if (prefixing.has(language) || lower.length !== text.length) eachWord(text, language, take, initials);
  else {
    eachPlainWord(lower, probesOf(highlights), (start, end) => take(termAt(text, language, start, end), start, end));
    eachOtherStretch(text, (from, to) =>
      eachWord(text.slice(from, to), language, (term, start, end) => take(term, from + start, from + end), initials),
    );
  }
  return [...hits.values()].sort((a, b) => a.start - b.start);
}

/** What words of ASCII letters must begin with to be hits. */
function probesOf({ terms, beginnings }: Highlights): Set<string> {
  const plain = (term: string) => /^[a-z\d]+$/.test(term);
  return new Set([...terms].filter(plain).map(probeOf).concat(beginnings.filter(plain)));
}

/** Calls `take` with the place of each word of ASCII letters alone that begins with one of these. */
function eachPlainWord(lower: string, probes: ReadonlySet<string>, take: (start: number, end: number) => void): void {
  for (const probe of probes) {
    for (let at = lower.indexOf(probe); at >= 0; at = lower.indexOf(probe, at)) {
      const start = at;
      at += probe.length;
      if (isLetter(lower, start - 1)) continue;
      word.lastIndex = start;
      const end = start + (word.exec(lower)?.[0].length ?? 0);
      if (!isLetter(lower, end)) take(start, end);
    }
  }
}

/** Calls `take` with each stretch without ASCII punctuation that has a letter beyond ASCII. */
function eachOtherStretch(text: string, take: (from: number, to: number) => void): void {
  otherLetters.lastIndex = 0;
  for (let match = otherLetters.exec(text); match; match = otherLetters.exec(text)) {
    let [from, to] = [match.index, match.index + 1];
    while (from > 0 && isInside(text.charCodeAt(from - 1))) from--;
    while (to < text.length && isInside(text.charCodeAt(to))) to++;
    take(from, to);
    otherLetters.lastIndex = to;
  }
}

/** What all words of a stem begin with: a stem may end in another letter than they go on with. */
function probeOf(term: string): string {
  return term.slice(0, term.length > 5 ? -2 : Math.max(1, term.length - 1));
}

function isInside(unit: number): boolean {
  const lower = unit | 32;
  return unit >= 128 || (lower >= 97 && lower <= 122) || (unit >= 48 && unit <= 57);
}

/** Whether there is a letter or digit of any kind. */
function isLetter(lower: string, at: number): boolean {
  const unit = lower.charCodeAt(at); // NaN beyond the ends
  return unit >= 128 ? otherLetter.test(lower[at]!) : isInside(unit);
}
