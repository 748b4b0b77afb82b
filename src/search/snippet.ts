/**
 * Cuts the piece out of a page's text that shows best why it matched, and marks what matched in it. Works on the
 * original text, word by word with the page's own stems, so `running` is marked for the query `run`. Gives data, not
 * markup: nothing here is escaped, and nothing here needs to be trusted.
 */
import type { Fragment } from './document.ts';
import type { Highlights } from './match.ts';
import { eachWord, Initials } from './words.ts';

/** Characters of a snippet, and of the lead before its first hit. */
const LENGTH = 240;
const LEAD = 60;
/** Text beyond this is not searched for a better place. */
const READ = 200_000;

/** Controls, and the marks that reverse the direction of text: a page must not rearrange the words around it. */
const unwanted = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\s]+/gu;
const clean = (text: string) => text.replace(unwanted, ' ').toWellFormed();

interface Marked {
  readonly start: number;
  readonly end: number;
  /** Which term or beginning it is. */
  readonly what: string;
}

interface Reading {
  /** Where words begin and end. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
  readonly hits: readonly Marked[];
}

function read(text: string, language: string, { terms, beginnings }: Highlights): Reading {
  const starts: number[] = [];
  const ends: number[] = [];
  const hits: Marked[] = [];
  const take = (term: string, start: number, end: number) => {
    starts.push(start);
    ends.push(end);
    if (term === '') return;
    const what = terms.has(term) ? term : beginnings.find(beginning => term.startsWith(beginning));
    if (what !== undefined) hits.push({ start, end, what });
  };
  eachWord(text, language, take, new Initials([...terms, ...beginnings]));
  return { starts, ends, hits };
}

/** The first hit of the window that shows most different terms; the earlier one of equals. */
function bestHit(hits: readonly Marked[]): number {
  let best = 0;
  let bestScore = -1;
  for (let first = 0; first < hits.length; first++) {
    const seen = new Set<string>();
    let at = first;
    for (; at < hits.length && hits[at]!.end - hits[first]!.start <= LENGTH - LEAD; at++) seen.add(hits[at]!.what);
    const score = seen.size + Math.min(at - first, 10) * 0.05;
    if (score > bestScore) [best, bestScore] = [first, score];
    if (first > 2000) break; // a page that is nothing but hits shows any of them
  }
  return best;
}

function fragments(text: string, from: number, to: number, hits: readonly Marked[]): Fragment[] {
  const parts: Fragment[] = [];
  const add = (piece: string, hit: boolean) => {
    if (piece !== '') parts.push({ text: clean(piece), hit });
  };
  let at = from;
  for (let index = 0; index < hits.length; index++) {
    const { start } = hits[index]!;
    let { end } = hits[index]!;
    if (start < at || end > to) continue;
    // Without spaces between them, neighbours are marked as one.
    while (hits[index + 1]?.start === end && hits[index + 1]!.end <= to) end = hits[++index]!.end;
    add(text.slice(at, start), false);
    add(text.slice(start, end), true);
    at = end;
  }
  add(text.slice(at, to), false);
  return parts;
}

/** The whole of a short text, hits marked. */
export function highlight(text: string, language: string, highlights: Highlights): Fragment[] {
  return fragments(text, 0, text.length, read(text, language, highlights).hits);
}

/** At most about 240 characters of the text, around what matched; its beginning when nothing did. */
export function snippet(whole: string, language: string, highlights: Highlights): Fragment[] {
  const text = whole.length > READ ? whole.slice(0, READ) : whole;
  const { starts, ends, hits } = read(text, language, highlights);
  if (starts.length === 0) return [];
  const hit = hits.length > 0 ? hits[bestHit(hits)]! : undefined;
  const earliest = hit === undefined || hit.start <= LEAD ? 0 : hit.start - LEAD;
  const from = earliest === 0 ? 0 : (starts.find(start => start >= earliest) ?? 0);
  const last =
    text.length <= from + LENGTH ? text.length : (ends.findLast(end => end <= from + LENGTH) ?? from + LENGTH);
  // A single word longer than the snippet is cut, and its own end is what counts.
  const to = last > from ? last : Math.min(text.length, from + LENGTH);
  const parts = fragments(text, from, to, hits);
  if (from > 0) parts.unshift({ text: '… ', hit: false });
  if (to < text.length) parts.push({ text: ' …', hit: false });
  return parts;
}
