/** Pages for a test web, made from a number: what each of them says, where it leads and when it changes is known. */
import { DAY } from '../base/clock.ts';
import type { TestPage } from './web.ts';

export interface MadeOptions {
  /** Default 50. */
  readonly pages?: number;
  /** Other numbers make other words. Default 1. */
  readonly seed?: number;
  /** When the first versions begin, milliseconds since 1970. Default now. */
  readonly start?: number;
  /** Changes a day, taken in turn by the pages: [0, 1] = every other page changes daily. Default [0]. */
  readonly rates?: readonly number[];
}

export interface MadePages {
  /** For testWeb(). */
  readonly pages: Readonly<Record<string, TestPage>>;
  /** All of them, sorted: a whole crawl from the root ends with these. */
  readonly paths: readonly string[];
  /** How often a page has changed since the start; a page says something else exactly when this number is another. */
  version(path: string, time: number): number;
}

const SYLLABLES = ['ba', 'den', 'fo', 'gar', 'hi', 'kel', 'lum', 'mo', 'nar', 'pes', 'ro', 'sul', 'ta', 'vi', 'wen'];
const PARAGRAPHS = 4;
const WORDS = 40;

/** A tree: page n leads to 2n + 1 and 2n + 2, and back to the root. */
export function madePages({ pages = 50, seed = 1, start = Date.now(), rates = [0] }: MadeOptions = {}): MadePages {
  const pathOf = (n: number): string => (n === 0 ? '/' : `/page-${n}.html`);
  const numbers = Array.from({ length: pages }, (_, n) => n);
  const versionOf = (n: number, time: number): number =>
    Math.max(0, Math.floor(((time - start) / DAY) * (rates[n % rates.length] ?? 0)));
  const html = (n: number, time: number): string => {
    const version = versionOf(n, time);
    const below = [2 * n + 1, 2 * n + 2].filter(child => child < pages);
    const text = Array.from({ length: PARAGRAPHS }, (_, i) => {
      const random = generator(seed * 1_000_003 + n * 101 + i + (i === 0 ? version * 7_919 : 0));
      return `<p>${Array.from({ length: WORDS }, () => word(random)).join(' ')}.</p>`;
    });
    const links = [0, ...below].map(to => `<a href="${pathOf(to)}">Page ${to}</a>`);
    const head = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Page ${n}</title></head>`;
    return `${head}<body><nav>${links.join(' ')}</nav><main><h1>Page ${n}</h1>${text.join('\n')}</main></body></html>`;
  };
  return {
    pages: Object.fromEntries(numbers.map(n => [pathOf(n), ({ time }) => html(n, time)] as [string, TestPage])),
    paths: numbers.map(pathOf).sort(),
    version: (path, time) => versionOf(path === '/' ? 0 : Number(/\d+/.exec(path)?.[0] ?? 0), time),
  };
}

const word = (random: () => number): string =>
  Array.from({ length: 2 + Math.floor(random() * 2) }, () => SYLLABLES[Math.floor(random() * SYLLABLES.length)]).join(
    '',
  );

/** The same numbers from 0 to 1 for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
