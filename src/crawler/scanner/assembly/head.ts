/** What a page says of itself: base, language, title, robots, refresh, description. */
import { CONTENT, EQUIV, HREF, has, LANG, NAME, valueEnd, valueStart } from './attributes';
import { key, keyOf } from './hash';
import { decodeReference, hasWord, keep, out as reference } from './references';

export const NOINDEX: u32 = 1;
export const NOFOLLOW: u32 = 2;
export const NOARCHIVE: u32 = 4;

const KEY_ROBOTS: u64 = key('robots');
const KEY_SKEIN: u64 = key('skein');
const KEY_REFRESH: u64 = key('refresh');
const KEY_DESCRIPTION: u64 = key('description');
const KEY_NOINDEX: u64 = key('noindex');
const KEY_NOFOLLOW: u64 = key('nofollow');
const KEY_NOARCHIVE: u64 = key('noarchive');
const KEY_NONE: u64 = key('none');

export let robots: u32 = 0;
export let baseStart: usize = 0;
export let baseEnd: usize = 0;
export let refreshStart: usize = 0;
export let refreshEnd: usize = 0;
export let languageStart: usize = 0;
export let languageEnd: usize = 0;
export let descriptionStart: usize = 0;
export let descriptionEnd: usize = 0;

export function resetHead(): void {
  robots = 0;
  baseStart = baseEnd = 0;
  refreshStart = refreshEnd = 0;
  languageStart = languageEnd = 0;
  descriptionStart = descriptionEnd = 0;
}

/** Address where the attribute's value was kept; it ends one byte before `reference`. */
function take(slot: u32): usize {
  const start = reference;
  keep(decodeReference(valueStart(slot), valueEnd(slot)));
  return start;
}

export function base(): void {
  if (baseStart !== 0 || !has(HREF)) return;
  baseStart = take(HREF);
  baseEnd = reference - 1;
}

export function language(): void {
  if (languageStart !== 0 || !has(LANG)) return;
  languageStart = take(LANG);
  languageEnd = reference - 1;
}

export function meta(): void {
  if (!has(CONTENT)) return;
  if (has(EQUIV) && refreshStart === 0 && keyOf(valueStart(EQUIV), valueEnd(EQUIV)) === KEY_REFRESH) {
    refreshStart = take(CONTENT);
    refreshEnd = reference - 1;
  }
  if (!has(NAME)) return;
  const name = keyOf(valueStart(NAME), valueEnd(NAME));
  if (name === KEY_ROBOTS || name === KEY_SKEIN) readRobots(valueStart(CONTENT), valueEnd(CONTENT));
  if (name === KEY_DESCRIPTION && descriptionStart === 0) {
    descriptionStart = take(CONTENT);
    descriptionEnd = reference - 1;
  }
}

function readRobots(start: usize, end: usize): void {
  if (hasWord(start, end, KEY_NOINDEX)) robots |= NOINDEX;
  if (hasWord(start, end, KEY_NOFOLLOW)) robots |= NOFOLLOW;
  if (hasWord(start, end, KEY_NOARCHIVE)) robots |= NOARCHIVE;
  if (hasWord(start, end, KEY_NONE)) robots |= NOINDEX | NOFOLLOW;
}
