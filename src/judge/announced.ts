/**
 * What the scanner masks by its form, and what a reader wants to know all the same. It masks a date with a time, and any date
 * beside "updated" and its like, because most of them say when a page was made. One that lies ahead of the look does not: it says when
 * something will be. It masks hashes, because most of them name a build; the longest are checksums of files, and those that their line
 * or the one before calls so. Both versions are read by the time of the later look, so that a date that has passed since is no
 * difference. Pure.
 */
import { DAY } from '../base/clock.ts';
import type { Pieces } from '../crawler/analysis/analyse.ts';
import { MASK } from '../crawler/scanner/scanner.ts';

/** The same with the masks of these lifted. `time`: of the look, milliseconds since 1970. */
export function announced(pieces: Pieces, time: number): Pieces {
  const { texts, masked } = pieces;
  if (!masked.some(each => isAhead(each, time) || DIGEST.test(each))) return pieces;
  let next = 0;
  const lifted = (text: string, at: number): string =>
    text.replaceAll(MASK, () => {
      const value = masked[next++] ?? '';
      const isCalled = () => [texts[at - 1] ?? '', text].some(line => CALLED.test(line));
      return isAhead(value, time) || CHECKSUM.test(value) || (DIGEST.test(value) && isCalled()) ? value : MASK;
    });
  return { ...pieces, texts: texts.map(lifted) };
}

/** SHA-224 and longer. */
const CHECKSUM = /^[0-9a-f]{56,128}$/i;
/** MD5, SHA-1 and longer: builds and sessions have as many digits. */
const DIGEST = /^[0-9a-f]{32,128}$/i;
const CALLED = /\b(?:md5|sha-?1|sha-?160|checksums?|digest|fingerprint|info ?hash)\b/i;

/** A date further ahead says that a clock is wrong, as where old pages are played back. */
const FURTHEST = 120 * DAY;

/** Zones are not read: anywhere it may be tomorrow already. */
function isAhead(text: string, time: number): boolean {
  const day = dayOf(text, time);
  return day !== undefined && day > time + DAY && day < time + FURTHEST;
}

/** Beginning of the day that is written there; the earlier one where two may be meant. */
function dayOf(text: string, time: number): number | undefined {
  const words = text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];
  const year = words.find(word => /^(?:19|20)\d\d$/.test(word));
  const compact = /^(20\d\d)(\d\d)(\d\d)t/i.exec(text);
  if (compact) return utc(compact[1]!, compact[2]!, compact[3]!);
  const named = words.map(word => monthOf(word)).find(month => month !== undefined);
  const short = words.filter(word => /^\d\d?$/.test(word)) as string[];
  if (named !== undefined) return short[0] === undefined ? undefined : nearest(year, named, short[0], time);
  const [first, second] = short;
  if (year === undefined || first === undefined || second === undefined) return undefined;
  if (words[0] === year) return utc(year, first, second);
  const both = [utc(year, first, second), utc(year, second, first)].filter(day => day !== undefined);
  return both.length === 0 ? undefined : Math.min(...both);
}

function utc(year: string | number, month: string | number, day: string | number): number | undefined {
  const [m, d] = [Number(month), Number(day)];
  return m >= 1 && m <= 12 && d >= 1 && d <= 31 ? Date.UTC(Number(year), m - 1, d) : undefined;
}

/** Without a year it is that of the nearest such day. */
function nearest(year: string | undefined, month: number, day: string, time: number): number | undefined {
  if (year !== undefined) return utc(year, month, day);
  const now = new Date(time).getUTCFullYear();
  const days = [now - 1, now, now + 1].map(each => utc(each, month, day)).filter(each => each !== undefined);
  return days.sort((a, b) => Math.abs(a - time) - Math.abs(b - time))[0];
}

/** Those whose months the scanner knows; of English the short ones, too. */
const LANGUAGES = ['en', 'de', 'de-AT', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'ru', 'sv', 'da', 'fi'];
let months: Map<string, number> | undefined;

/** 1 to 12. */
function monthOf(word: string): number | undefined {
  months ??= new Map([
    ['sept', 9],
    ...monthsIn('en', 'short'),
    ...LANGUAGES.flatMap(language => monthsIn(language, 'long')),
  ]);
  return months.get(word);
}

/** As a date has them, which in some languages is another case. */
function monthsIn(language: string, month: 'long' | 'short'): [string, number][] {
  const format = new Intl.DateTimeFormat(language, { day: 'numeric', month, timeZone: 'UTC' });
  return Array.from({ length: 12 }, (_, at): [string, number] => {
    const part = format.formatToParts(Date.UTC(2026, at, 1)).find(({ type }) => type === 'month')!;
    return [part.value.toLowerCase(), at + 1];
  });
}
