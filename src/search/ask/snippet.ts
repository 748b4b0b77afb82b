/**
 * Cuts the piece out of a page's text that shows best why it matched, and marks what matched in it. Works on the
 * original text, word by word with the page's own stems, so `running` is marked for the query `run`. Gives data, not
 * markup: nothing here is escaped, and nothing here needs to be trusted.
 */
import type { Fragment } from '../document.ts';
import { eachWord, endsDense } from '../terms/words.ts';
import { hitsIn, type Marked } from './hits.ts';
import type { Highlights } from './match.ts';

/** Characters of a snippet, and of the lead before its first hit. */
const LENGTH = 240;
const LEAD = 60;
/** Text beyond this is not searched for a better place. */
const READ = 200_000;
/** Characters from which a line of text says something; shorter ones are menus, captions, names. */
const PROSE = 60;
/** The same for scripts without spaces, which say as much in a third of the room. */
const DENSE_PROSE = 20;
/** What a hit in a shorter line counts: two of them less than one in a sentence. */
const MENU = 0.45;

/** Controls, and the marks that reverse the direction of text: a page must not rearrange the words around it. */
const unwanted = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\s]+/gu;
/** Blocks of a page that are no sentences, as headings and entries of menus, must not read as one. */
const joint = /(?<![.!?:;,…。！？]\s*)\s*\n\s*(?=\S)/gu;
const clean = (text: string) => text.replace(joint, ' · ').replace(unwanted, ' ').toWellFormed();
/** The same for a piece that goes on with a hit, which the last line end of the piece stands before. */
const cleanBefore = (text: string) => clean(/\s$/.test(text) ? `${text}\0` : text);

/** The block that a place in the text is in. */
interface TextLine {
  readonly start: number;
  readonly prose: boolean;
}

function lineAt(text: string, place: number): TextLine {
  const start = text.lastIndexOf('\n', place - 1) + 1;
  const next = text.indexOf('\n', place);
  const length = (next < 0 ? text.length : next) - start;
  return { start, prose: length >= (endsDense(text.slice(start, place + 1)) ? DENSE_PROSE : PROSE) };
}

/** The first line that says something, from `body` on. */
function firstProse(text: string, body: number): number {
  for (let at = body; at < text.length; ) {
    if (lineAt(text, at).prose) return at;
    const next = text.indexOf('\n', at);
    if (next < 0) break;
    at = next + 1;
  }
  return 0;
}

/** The first hit of the window that shows most different terms, in sentences rather than menus; the earlier of equals. */
function bestHit(text: string, hits: readonly Marked[]): Marked {
  const weights = hits.slice(0, 3000).map(({ start }) => (lineAt(text, start).prose ? 1 : MENU));
  let best = 0;
  let bestScore = -1;
  for (let first = 0; first < weights.length; first++) {
    const seen = new Map<string, number>();
    let at = first;
    for (; at < weights.length && hits[at]!.end - hits[first]!.start <= LENGTH - LEAD; at++) {
      const { what } = hits[at]!;
      seen.set(what, Math.max(seen.get(what) ?? 0, weights[at]!));
    }
    // What it begins with counts twice: a menu is not worth showing for the sentence after it.
    const shown = [...seen.values()].reduce((sum, weight) => sum + weight, weights[first]!);
    const score = shown + Math.min(at - first, 10) * 0.02;
    if (score > bestScore) [best, bestScore] = [first, score];
  }
  return hits[best]!;
}

/** Where a snippet that shows `hit` begins: with its line, its sentence, or a word a little before it. */
function beginning(text: string, hit: Marked): number {
  const line = lineAt(text, hit.start);
  if (hit.start - line.start <= LEAD) return line.start;
  const lead = text.slice(hit.start - 2 * LEAD, hit.start);
  const sentence = lead.search(/(?<=[.!?:;]\s|[。！？])\S/u);
  return sentence >= 0 && hit.start - 2 * LEAD + sentence >= line.start
    ? hit.start - 2 * LEAD + sentence
    : hit.start - LEAD;
}

/** The words nearest to from and to, so that none is cut. */
function wholeWords(text: string, language: string, from: number, to: number): readonly [number, number] {
  const margin = Math.max(0, from - LEAD);
  let [first, last] = [from, from];
  let found = from === 0 || text[from - 1] === '\n';
  eachWord(text.slice(margin, to + LEAD), language, (_, start, end) => {
    if (!found && margin + start >= from) [first, found] = [margin + start, true];
    if (margin + end <= to) last = margin + end;
  });
  if (to >= text.length) return [first, text.length];
  // A single word longer than the snippet is cut, but not inside a character.
  const cut = /[\udc00-\udfff]/.test(text[to]!) ? to - 1 : to;
  return [first, last > first ? last : cut];
}

function fragments(text: string, from: number, to: number, hits: readonly Marked[]): Fragment[] {
  const parts: Fragment[] = [];
  const add = (piece: string, hit: boolean, made = clean) => {
    if (piece !== '') parts.push({ text: made(piece), hit });
  };
  let at = from;
  for (let index = 0; index < hits.length; index++) {
    const { start } = hits[index]!;
    let { end } = hits[index]!;
    if (start < at || end > to) continue;
    // Without spaces between them, neighbours are marked as one.
    while (hits[index + 1]?.start === end && hits[index + 1]!.end <= to) end = hits[++index]!.end;
    add(text.slice(at, start), false, cleanBefore);
    add(text.slice(start, end), true);
    at = end;
  }
  add(text.slice(at, to), false);
  return parts;
}

/** The whole of a short text, hits marked. */
export function highlight(text: string, language: string, highlights: Highlights): Fragment[] {
  return fragments(text, 0, text.length, hitsIn(text, language, highlights));
}

/** At most about 240 characters of the text, around what matched; where nothing did, its first sentence. */
export function snippet(whole: string, language: string, highlights: Highlights): Fragment[] {
  const text = (whole.length > READ ? whole.slice(0, READ) : whole).trimEnd();
  const hits = hitsIn(text, language, highlights);
  // The first line is the title, which is shown anyway.
  const body = text.indexOf('\n') + 1;
  const telling = body === 0 ? hits : hits.filter(({ start }) => start >= body);
  const earliest = telling.length > 0 ? beginning(text, bestHit(text, telling)) : firstProse(text, body);
  const [from, to] = wholeWords(text, language, earliest, earliest + LENGTH);
  if (text.slice(from, to).trim() === '') return [];
  const parts = fragments(text, from, to, hits);
  if (from > 0) parts.unshift({ text: '… ', hit: false });
  if (to < text.length) parts.push({ text: ' …', hit: false });
  return parts;
}
