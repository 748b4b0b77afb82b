/** How what several indexes told becomes what one would have told. Pages are numbered so that no two share a number. */
import type { LanguageCount } from '../ask/answer.ts';
import { SCORED, WINDOW } from '../ask/find.ts';
import { sorted } from '../ask/rank.ts';
import type { Nearest } from '../ask/spelling.ts';
import type { CountsTold, FoundPart, WordsTold } from './part.ts';

/** As many longer words as one index gives. */
const LONGER = 20;

export function joinedLanguages(parts: readonly (readonly LanguageCount[])[]): LanguageCount[] {
  const counts = new Map<string, number>();
  for (const { language, pages } of parts.flat()) counts.set(language, (counts.get(language) ?? 0) + pages);
  return [...counts].map(([language, pages]) => ({ language, pages })).sort((a, b) => b.pages - a.pages);
}

export function joinedWords(parts: readonly WordsTold[]): WordsTold {
  const [first] = parts;
  return {
    terms: first?.terms.map((_, i) => parts.some(part => part.terms[i])) ?? [],
    words: first?.words.map((_, i) => parts.some(part => part.words[i])) ?? [],
    longer:
      first?.longer.map((_, i) => [...new Set(parts.flatMap(part => part.longer[i]!))].sort().slice(0, LONGER)) ?? [],
  };
}

export function joinedCounts(parts: readonly CountsTold[]): CountsTold {
  return {
    counts: parts[0]?.counts.map((_, i) => parts.reduce((sum, part) => sum + part.counts[i]!, 0)) ?? [],
    pages: parts.reduce((sum, part) => sum + part.pages, 0),
  };
}

export function joinedNearest(parts: readonly (readonly Nearest[])[]): Nearest[] {
  return (parts[0] ?? []).map((_, i) => {
    const found = parts.map(part => part[i]!).filter(({ words }) => words.length > 0);
    const mistakes = Math.min(...found.map(each => each.mistakes));
    const best = found.filter(each => each.mistakes === mistakes);
    return { words: [...new Set(best.flatMap(({ words }) => words))].sort(), mistakes: best.length > 0 ? mistakes : 0 };
  });
}

export function joinedFound(parts: readonly FoundPart[]): FoundPart {
  const total = parts.reduce((sum, part) => sum + part.total, 0);
  return {
    rows: sorted(parts.flatMap(part => part.rows)).slice(0, WINDOW),
    total: Math.min(total, SCORED),
    exact: parts.every(part => part.exact) && total <= SCORED,
  };
}
