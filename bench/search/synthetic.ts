/** Pages and queries drawn from a seed: 200,000 made-up words, frequencies by Zipf's law as in real text. */
import type { SearchDocument } from '../../src/search/index.ts';

const VOCABULARY = 200_000;
/** Words of a page's text. */
const SHORTEST = 80;
const LONGEST = 280;
const consonants = 'bcdfghklmnprstvw';
const vowels = 'aeiou';

export interface Corpus {
  documents(first: number, count: number): SearchDocument[];
  queries(count: number): [name: string, queries: string[]][];
}

function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function vocabulary(random: () => number): string[] {
  const made = new Set<string>();
  while (made.size < VOCABULARY) {
    // Common words are short: the number of syllables grows with the rank.
    const syllables = 1 + Math.floor(Math.log10(made.size + 10) * (0.4 + 0.6 * random()));
    let word = '';
    for (let i = 0; i < syllables; i++)
      word += consonants[Math.floor(random() * 16)]! + vowels[Math.floor(random() * 5)]!;
    if (random() < 0.5) word += consonants[Math.floor(random() * 16)]!;
    made.add(word);
  }
  return [...made];
}

function zipf(random: () => number): () => number {
  const sums = new Float64Array(VOCABULARY);
  let sum = 0;
  for (let rank = 0; rank < VOCABULARY; rank++) sums[rank] = sum += 1 / (rank + 2.7);
  return () => {
    const wanted = random() * sum;
    let [low, high] = [0, VOCABULARY - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** The same seed gives the same pages and queries. */
export function corpus(seed: number): Corpus {
  const random = generator(seed);
  const words = vocabulary(random);
  const draw = zipf(random);
  const text = (count: number) => Array.from({ length: count }, () => words[draw()]!).join(' ');
  const asking = generator(seed + 1);
  const between = (low: number, high: number) => words[Math.floor(low * (high / low) ** asking())]!;
  return {
    documents: (first, count) =>
      Array.from({ length: count }, (_, index) => ({
        page: first + index,
        url: `https://host${(first + index) % 997}.example/${words[draw()]}/${first + index}`,
        title: text(6),
        headings: text(10),
        anchors: text(5),
        text: text(SHORTEST + Math.floor(random() * (LONGEST - SHORTEST))),
        language: 'en',
        mediaType: 'text/html',
        fetched: 1_760_000_000_000,
        changed: 1_760_000_000_000 - (first + index) * 60_000,
        importance: random() ** 4,
        noindex: false,
        noarchive: false,
      })),
    queries: count => {
      // Each once: a query asked again is the cache's matter.
      const make = (one: () => string) => [...new Set(Array.from({ length: count }, one))];
      return [
        ['one rare word', make(() => between(5000, 100_000))],
        ['one usual word', make(() => between(200, 5000))],
        ['one of the commonest', make(() => between(1, 100))],
        ['mixed', make(() => `${between(50, 5000)} ${between(50, 20_000)}`)],
        ['phrase', make(() => `"${between(1, 200)} ${between(1, 200)}"`)],
        ['beginning', make(() => `${between(1000, 50_000).slice(0, 4)}*`)],
      ];
    },
  };
}
