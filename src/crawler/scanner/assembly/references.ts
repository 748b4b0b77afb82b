/**
 * Values of attributes as the host wants them: entities decoded, trimmed. They lie one after another, each followed by
 * a line feed. Also their canonical form for hashing, in which what is random is masked.
 */

import { find } from './attributes';
import { after, code, decodeEntity } from './entities';
import { all, copyRun, hashBytes, key, keyOf, putCode, tokenEnd } from './hash';
import { CLASSES, references, SCRATCH, SCRATCH_BYTES } from './memory';
import { DIGIT, HEX, LETTER, SPACE } from './tables';

/** Longer references are not followed, and hashed only so far. */
export const MAX_REFERENCE: usize = 8192;

export let out: usize = 0;
/** False when some reference has bytes beyond ASCII. */
export let ascii: bool = true;

export function resetReferences(): void {
  out = references;
  ascii = true;
}

/** Forgets what was written from `start` on. */
export function rewind(start: usize): void {
  out = start;
}

/** Keeps what was written and ends it. */
export function keep(end: usize): void {
  out = end;
  store<u8>(out++, 10);
}

/** Whether the reference decoded last can differ from its canonical form. */
export let odd: bool = false;
/** Whether it may have a fragment. */
let fragmented: bool = false;

/** Writes the value decoded and trimmed, without tabs and line feeds; returns its end. Does not keep it. */
export function decodeReference(start: usize, end: usize): usize {
  let p = start;
  let last = end;
  while (p < last && load<u8>(p) <= 32) p++;
  while (last > p && load<u8>(last - 1) <= 32) last--;
  let odds: u32 = 0;
  let fragments: u32 = 0;
  const to = out;
  for (let at: usize = 0; p + at < last; at += 16) {
    const v = v128.load(p + at);
    const rest = last - p - at;
    const mask: u32 = rest < 16 ? (1 << (<u32>rest)) - 1 : 0xffff;
    // Signed: below the blank are control characters and everything beyond ASCII.
    const rare = v128.or(i8x16.lt_s(v, all(32)), i8x16.eq(v, all(38)));
    if ((i8x16.bitmask(rare) & mask) !== 0) return decodeSlowly(p, last);
    // Signed as well: what `0` to `9` become is lowest.
    const digits = i8x16.lt_s(i8x16.add(v, all(80)), all(138));
    const signs = v128.or(i8x16.eq(v, all(37)), i8x16.eq(v, all(61)));
    odds |= i8x16.bitmask(v128.or(digits, signs)) & mask;
    fragments |= i8x16.bitmask(i8x16.eq(v, all(35)));
    v128.store(to + at, v);
  }
  odd = odds !== 0;
  fragmented = fragments !== 0;
  return to + (last - p);
}

/** End of the reference decoded last without its fragment; it lies at [start, end). */
export function fragmentAt(start: usize, end: usize): usize {
  return fragmented ? min(end, find(start, end, 35)) : end;
}

function decodeSlowly(start: usize, end: usize): usize {
  let p = start;
  let to = out;
  let wide: u32 = 0;
  while (p < end) {
    let c: u32 = load<u8>(p++);
    if (c === 38 && decodeEntity(p - 1, end, true)) {
      p = after;
      c = code;
      if (c >= 0x80) {
        to = putCode(to, c);
        wide = 0x80;
        continue;
      }
    }
    if (c === 9 || c === 10 || c === 13) continue;
    wide |= c;
    store<u8>(to++, c);
  }
  if (wide >= 0x80) ascii = false;
  odd = true;
  fragmented = true;
  return to;
}

/** Hash of the canonical form of the reference decoded last, which lies at [start, end). */
export function hashReference(start: usize, end: usize, link: bool): u64 {
  if (!odd) {
    // Nothing to mask; a file's query counts for nothing.
    return hashBytes(start, link ? end : min(end, find(start, end, 63)));
  }
  return hashBytes(SCRATCH, canonicalReference(start, end, link));
}

/** End of the canonical form, which begins at SCRATCH. `link`: keep the query. */
function canonicalReference(start: usize, end: usize, link: bool): usize {
  let p = start;
  const last = min(end, start + SCRATCH_BYTES / 2);
  let to = SCRATCH;
  // A picture that is named by nothing else is another one where its token is.
  const named = link ? end : bareName(start, end);
  while (p < last) {
    const c: u32 = load<u8>(p);
    if ((load<u8>(CLASSES + c) & (LETTER | DIGIT)) !== 0) {
      const stop = tokenEnd(p, last);
      const session = stop < last && load<u8>(stop) === 61 && isSession(p, stop);
      to = p === named ? copyRun(to, p, stop) : copyMasked(to, p, stop, link);
      p = session ? sessionEnd(stop + 1, last) : stop;
      continue;
    }
    if (c === 63 && !link) return canonicalQuery(p, last, to);
    if (c === 37 && p + 2 < last && (load<u8>(CLASSES + load<u8>(p + 1)) & HEX) !== 0) {
      const value = (hexValue(load<u8>(p + 1)) << 4) | hexValue(load<u8>(p + 2));
      if (value >= 32 && value < 127) {
        store<u8>(to++, value);
        p += 3;
        continue;
      }
    }
    store<u8>(to++, c);
    p++;
  }
  return to;
}

/** Copies a run of letters, digits and underscores; what is random between two of these becomes one byte. */
function copyMasked(out: usize, start: usize, end: usize, link: bool): usize {
  let to = out;
  for (let p = start; p < end; ) {
    const stop = min(end, find(p, end, 95));
    if (isRandom(p, stop, link)) store<u8>(to++, 1);
    else to = copyRun(to, p, stop);
    if (stop < end) store<u8>(to++, 95);
    p = stop + 1;
  }
  return to;
}

/** Where the last step of a path begins, if but for its ending it is one token; else `end`. */
function bareName(start: usize, end: usize): usize {
  const query = min(find(start, end, 63), find(start, end, 35));
  let from = query;
  while (from > start && load<u8>(from - 1) !== 47) from--;
  const stop = tokenEnd(from, query);
  if (find(from, stop, 95) < stop) return end;
  return stop > from && load<u8>(stop) === 46 && tokenEnd(stop + 1, query) === query ? from : end;
}

/**
 * A query says nothing of a file but how new or large it is to be. Only a value that has the name of a picture says which one is
 * meant: `/resize?url=/photos/goose.jpg&w=640`.
 */
function canonicalQuery(start: usize, end: usize, out: usize): usize {
  let to = out;
  for (let p = start; p < end; ) {
    const from = p + 1;
    p = from;
    let dot: usize = 0;
    while (p < end && load<u8>(p) !== 38) {
      if (load<u8>(p) === 46) dot = p;
      p++;
    }
    if (dot === 0 || !isPictureEnding(dot + 1, p)) continue;
    store<u8>(to++, 63);
    to = copyRun(to, from, p);
  }
  return to;
}

const KEY_JPG: u64 = key('jpg');
const KEY_JPEG: u64 = key('jpeg');
const KEY_PNG: u64 = key('png');
const KEY_GIF: u64 = key('gif');
const KEY_WEBP: u64 = key('webp');
const KEY_AVIF: u64 = key('avif');
const KEY_SVG: u64 = key('svg');

function isPictureEnding(start: usize, end: usize): bool {
  const name = keyOf(start, end);
  if (name === KEY_JPG || name === KEY_JPEG || name === KEY_PNG || name === KEY_GIF) return true;
  return name === KEY_WEBP || name === KEY_AVIF || name === KEY_SVG;
}

function hexValue(c: u32): u32 {
  return c < 58 ? c - 48 : (c | 32) - 87;
}

/**
 * Random: 16 or more hexadecimal digits, or 20 letters and digits in turns. In references to files, whose names often
 * carry a hash, also 7 hexadecimal digits, or 8 in which capitals, small letters and digits alternate. No words and numbers as people
 * put them together: `facade12`, `annual_report_2025_final`.
 */
function isRandom(start: usize, end: usize, link: bool): bool {
  const length = end - start;
  const least: usize = link ? 16 : 7;
  if (length < least) return false;
  let digits: u32 = 0;
  let hex: u32 = 0;
  let turns: u32 = 0;
  let before: u32 = 0;
  for (let p = start; p < end; p++) {
    const c: u32 = load<u8>(p);
    const classes: u32 = load<u8>(CLASSES + c);
    const kind: u32 = (classes & DIGIT) !== 0 ? 1 : c < 97 ? 2 : 3;
    if (kind === 1) digits++;
    if ((classes & HEX) !== 0) hex++;
    if (kind !== before) turns++;
    before = kind;
  }
  if (digits === 0 || digits === <u32>length) return false;
  // One word with a number behind it.
  if (hex === <u32>length) return turns > 2 || digits > MOST_NUMBERED || length < <usize>(MOST_NUMBERED + digits);
  return length >= 20 ? digits >= 3 && turns * TURNS >= <u32>length : !link && length === 8 && turns >= 5;
}

/** Digits of a number, and letters of a word beside it that is made of hexadecimal digits alone. */
const MOST_NUMBERED: u32 = 4;
/** Where letters and digits are mixed by lot, one in so many is of another kind than the one before. */
const TURNS: u32 = 4;

const KEY_SID: u64 = key('sid');
const KEY_NONCE: u64 = key('nonce');
const KEY_FBCLID: u64 = key('fbclid');
const KEY_GCLID: u64 = key('gclid');
const KEY_JSESSIONID: u64 = key('jsessionid');
const KEY_PHPSESSID: u64 = key('phpsessid');

/** Names of parameters that say who asks or where he came from, not what for. */
function isSession(start: usize, end: usize): bool {
  if ((load<u32>(start) | 0x202020) === 0x5f6d7475) return true; // utm_
  const name = keyOf(start, end);
  if (name === KEY_SID || name === KEY_JSESSIONID || name === KEY_PHPSESSID) return true;
  return name === KEY_NONCE || name === KEY_FBCLID || name === KEY_GCLID;
}

/** Behind the session, which is no short number: `sid=5` is a station. */
function sessionEnd(start: usize, end: usize): usize {
  const stop = valueEnd(start, end);
  return stop - start < LEAST_SESSION && digitsOnly(start, stop) ? start : stop;
}

const LEAST_SESSION: usize = 6;

function digitsOnly(start: usize, end: usize): bool {
  for (let p = start; p < end; p++) if ((load<u8>(CLASSES + load<u8>(p)) & DIGIT) === 0) return false;
  return true;
}

function valueEnd(start: usize, end: usize): usize {
  let p = start;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c === 38 || c === 59 || c === 35 || c === 47 || c === 63) break;
    p++;
  }
  return p;
}

/** True when one of the words of the value, separated by blanks or commas, has this key. */
export function hasWord(start: usize, end: usize, wanted: u64): bool {
  let from = start;
  for (let p = start; p <= end; p++) {
    if (p < end) {
      const c: u32 = load<u8>(p);
      if (c !== 44 && (load<u8>(CLASSES + c) & SPACE) === 0) continue;
    }
    if (p > from && keyOf(from, p) === wanted) return true;
    from = p + 1;
  }
  return false;
}
