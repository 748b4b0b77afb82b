/** The parts of a page between its headings, and which of them a question is about: a result leads there, not to the top. */
import type { Extracted } from '../extract/page.ts';
import type { Fragment } from '../search/index.ts';

export interface Section {
  /** Fragment of the URL; empty = the page's beginning. */
  readonly anchor: string;
  readonly heading: string;
  readonly text: string;
}

export interface SectionHit {
  readonly anchor: string;
  readonly heading: string;
  readonly snippet: readonly Fragment[];
}

/** Of one page, and characters of one that are looked at. */
const MOST_SECTIONS = 300;
const MOST_TEXT = 20_000;
/** Sections that a result shows, and characters around a word. */
const SHOWN = 3;
const BEFORE = 60;
const AFTER = 120;

export function sectionsOf({ blocks }: Pick<Extracted, 'blocks'>): Section[] {
  const sections: { anchor: string; heading: string; text: string }[] = [];
  let current = { anchor: '', heading: '', text: '' };
  for (const { kind, text, anchor = '' } of blocks) {
    if (kind === 'heading') {
      sections.push(current);
      if (sections.length >= MOST_SECTIONS) return sections;
      current = { anchor, heading: text, text: '' };
    } else if (current.text.length < MOST_TEXT) current.text += `${text.slice(0, MOST_TEXT)}\n`;
  }
  return [...sections, current];
}

/** Sections with an anchor that have most of the words, the best first. */
export function sectionsAbout(sections: readonly Section[], words: readonly string[]): SectionHit[] {
  if (words.length === 0) return [];
  const weighed = sections
    .filter(({ anchor }) => anchor !== '')
    .map(section => ({ section, weight: weightOf(section, words) }));
  const enough = weighed.reduce((most, { weight }) => Math.max(most, weight), words.length / 2);
  return weighed
    .filter(({ weight }) => weight >= enough * 0.75)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, SHOWN)
    .map(({ section }) => ({
      anchor: section.anchor,
      heading: section.heading,
      snippet: around(section.text, words),
    }));
}

/** A word in the heading counts twice. */
function weightOf({ heading, text }: Section, words: readonly string[]): number {
  const [head, body] = [heading.toLowerCase(), text.toLowerCase()];
  return words.reduce((sum, word) => sum + (head.includes(word) ? 2 : body.includes(word) ? 1 : 0), 0);
}

function around(text: string, words: readonly string[]): Fragment[] {
  const lower = text.toLowerCase();
  // Some letters change their length with their case; then places in one are none in the other.
  if (lower.length !== text.length) return [{ text: text.slice(0, BEFORE + AFTER).trim(), hit: false }];
  const first = Math.min(...words.map(word => lower.indexOf(word)).filter(at => at >= 0));
  const from = Number.isFinite(first) ? Math.max(0, lower.lastIndexOf(' ', Math.max(0, first - BEFORE)) + 1) : 0;
  const most = from + BEFORE + AFTER;
  // Whole words; scripts without blanks are cut where they must be.
  const blank = text.lastIndexOf(' ', most);
  const to = most >= text.length ? text.length : blank > from + BEFORE ? blank : most;
  const middle = text.slice(from, to).replace(/\s+/g, ' ').trim();
  const shown = `${from > 0 ? '… ' : ''}${middle}${to < text.length ? ' …' : ''}`;
  return marked(shown, words);
}

function marked(text: string, words: readonly string[]): Fragment[] {
  const lower = text.toLowerCase();
  const fragments: Fragment[] = [];
  let at = 0;
  while (at < text.length) {
    const next = words
      .map(word => ({ word, place: lower.indexOf(word, at) }))
      .filter(({ place }) => place >= 0)
      .sort((a, b) => a.place - b.place || b.word.length - a.word.length)[0];
    if (!next) break;
    if (next.place > at) fragments.push({ text: text.slice(at, next.place), hit: false });
    at = next.place + next.word.length;
    fragments.push({ text: text.slice(next.place, at), hit: true });
  }
  if (at < text.length) fragments.push({ text: text.slice(at), hit: false });
  return fragments;
}
