/**
 * The words of a block. They are first listed, then looked up in a loop of its own: neither has branches that depend on
 * the word, of which each would be mispredicted at every second or third one. That was a third of the scanner's time.
 */
import { correct } from './codes';
import { keyOf, nextDigit, spread, wordKey } from './hash';
import { firstEntry, infoBehind } from './lexicon';
import { CLASSES, WORD_KEYS } from './memory';
import { addHashes, hashesEnd } from './simhash';
import { FIRSTS, STAMP, STOP, WORD } from './tables';

/** Beyond the flags of words: the block has a digit. */
export const HAS_DIGIT: u32 = 1 << 31;

export let words: u32 = 0;
export let keywords: u32 = 0;
/** The word before, spread, and what it is. */
let before: u64 = 0;
let previous: u32 = 0;

export function resetWords(): void {
  words = 0;
  keywords = 0;
  before = 0;
  previous = 0;
}

/** A longer list is looked up before more is read; 64 bytes have at most 33 words. */
const KEYS_END: usize = WORD_KEYS + 448 * 8;

/** Counts the words; returns what they are, together, and HAS_DIGIT. Writes 64 bytes of nothing behind `end`. */
export function readWords(start: usize, end: usize): u32 {
  for (let i: usize = 0; i < 64; i += 16) v128.store(end + i, i8x16.splat(0));
  let flags: u32 = 0;
  let keys = WORD_KEYS;
  // Where the word begins that is being read, and 1 while it goes on from the 64 bytes before.
  let from = start;
  let goesOn: u64 = 0;
  for (let base = start; base < end; base += 64) {
    const a = v128.load(base);
    const b = v128.load(base, 16);
    const c = v128.load(base, 32);
    const d = v128.load(base, 48);
    if (i8x16.bitmask(v128.or(v128.or(a, b), v128.or(c, d))) !== 0) {
      flags |= lookUp(keys) | (nextDigit(base, end) < end ? HAS_DIGIT : 0);
      return flags | readWideWords(goesOn !== 0 ? from : base, end);
    }
    if (v128.any_true(v128.or(v128.or(digits(a), digits(b)), v128.or(digits(c), digits(d))))) flags |= HAS_DIGIT;
    const mask = wordBits(a) | (wordBits(b) << 16) | (wordBits(c) << 32) | (wordBits(d) << 48);
    const shifted = (mask << 1) | goesOn;
    let starts = mask & ~shifted;
    let ends = shifted & ~mask;
    from = select<usize>(from, base + <usize>ctz(starts), goesOn !== 0);
    starts &= starts - (goesOn ^ 1);
    for (; ends !== 0; ends &= ends - 1) {
      store<u64>(keys, wordKey(from, base + <usize>ctz(ends)));
      keys += 8;
      from = base + <usize>ctz(starts);
      starts &= starts - 1;
    }
    goesOn = mask >> 63;
    if (keys > KEYS_END) {
      flags |= lookUp(keys);
      keys = WORD_KEYS;
    }
  }
  if (goesOn !== 0) {
    store<u64>(keys, keyOf(from, end));
    keys += 8;
  }
  return flags | lookUp(keys);
}

function digits(v: v128): v128 {
  return i8x16.le_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(9));
}

/** One bit for each of 16 bytes: letter, digit or `_`. */
function wordBits(v: v128): u64 {
  const letters = i8x16.le_u(i8x16.sub(v128.or(v, i8x16.splat(32)), i8x16.splat(97)), i8x16.splat(25));
  return <u64>i8x16.bitmask(v128.or(v128.or(letters, digits(v)), i8x16.eq(v, i8x16.splat(95))));
}

/** The same for text that has characters beyond ASCII. */
function readWideWords(start: usize, end: usize): u32 {
  let flags: u32 = 0;
  let keys = WORD_KEYS;
  let word = start;
  let p = start;
  while (p < end) {
    const c: u32 = load<u8>(p);
    let length: usize = 1;
    let kind: u32 = (load<u8>(CLASSES + c) & WORD) !== 0 ? 1 : 0;
    if (c > 127) {
      kind = readWide(p, end, c);
      length = wideLength;
    }
    if (kind !== 1) {
      if (p > word) {
        store<u64>(keys, keyOf(word, p));
        keys += 8;
      }
      if (kind === 2) {
        store<u64>(keys, keyOf(p, p + length));
        keys += 8;
      }
      word = p + length;
      if (keys > KEYS_END) {
        flags |= lookUp(keys);
        keys = WORD_KEYS;
      }
    }
    p += length;
  }
  if (end > word) {
    store<u64>(keys, keyOf(word, end));
    keys += 8;
  }
  return flags | lookUp(keys);
}

/** Counts the words whose keys are listed up to `end`; returns what they are, together. */
function lookUp(end: usize): u32 {
  const count = <u32>((end - WORD_KEYS) >> 3);
  let flags: u32 = 0;
  let general: u32 = 0;
  let last = before;
  let lastInfo = previous;
  let hash = hashesEnd;
  for (let at = WORD_KEYS; at < end; at += 8) {
    const key = load<u64>(at);
    const scattered = spread(key);
    const entry = firstEntry(scattered);
    const other = load<u64>(entry) !== key;
    let info = select<u32>(0, load<u32>(entry, 8), other);
    if (load<u32>(entry, 12) !== 0 && other) info = infoBehind(entry, key);
    if (((info << 1) & lastInfo & FIRSTS) !== 0) info |= STAMP;
    lastInfo = info;
    flags |= info;
    general += info & STOP;
    // The simhash is over pairs of words.
    const pair = spread(key ^ rotl(last, 23));
    store<u64>(hash, pair ^ (pair >> 31));
    hash += 8;
    last = scattered;
  }
  before = last;
  previous = lastInfo;
  words += count;
  keywords += count - general;
  addHashes(hash);
  return flags;
}

const COPYRIGHT_SIGN: u32 = 0xa9;
let wideLength: usize = 0;

/** Takes a character beyond ASCII: 0 = separates words, 1 = part of a word, 2 = a word by itself (ideographs, kana). */
function readWide(p: usize, end: usize, c: u32): u32 {
  let code: u32 = 0xfffd;
  wideLength = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  if (c < 0xc2 || c > 0xf4 || p + wideLength > end) wideLength = 1;
  else {
    code = c & (wideLength === 2 ? 31 : wideLength === 3 ? 15 : 7);
    for (let i: usize = 1; i < wideLength; i++) code = (code << 6) | (load<u8>(p + i) & 63);
  }
  correct(p, wideLength, code);
  if (code === COPYRIGHT_SIGN) return 2;
  if (code < 0xc0) return code === 0xaa || code === 0xb5 || code === 0xba ? 1 : 0;
  if (code < 0x2000) return 1;
  if (code < 0x2c00 || code >= 0xfe00) return 0;
  if (code >= 0x3040 && code < 0xa000) return 2;
  return code >= 0x3000 && code < 0x3040 ? 0 : 1;
}
