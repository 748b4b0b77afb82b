/**
 * The words of a block. They are first listed, then looked up in a loop of its own: neither has branches that depend on
 * the word, of which each would be mispredicted at every second or third one. That was a third of the scanner's time.
 */
import { correct } from './codes';
import { keyOf, spread, wordBits, wordKey } from './hash';
import { firstEntry, infoBehind } from './lexicon';
import { CLASSES, WAITING, WORD_ENDS, WORD_KEYS } from './memory';
import { addHashes, hashesEnd } from './simhash';
import { AGO, AGO_BEFORE, COPYRIGHT, FIRSTS, HASHED, MONTH, STAMP, STOP, WEEKDAY, WORD } from './tables';
import { addWord, textEndAt } from './waiting';

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

/** The words that make a difference to a block's canonical form. */
const NOTED: u32 = STAMP | MONTH | WEEKDAY | AGO | AGO_BEFORE | COPYRIGHT | HASHED;

/** Counts the words of the blocks that wait, whose text is at [start, end); notes with each block what they are. */
export function readWords(start: usize, end: usize): void {
  block = WAITING;
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
      lookUp(keys);
      keys = WORD_KEYS;
      from = select<usize>(from, base, goesOn !== 0);
      const stop = textEndAt(blockOf(from));
      readWideWords(from, stop);
      // Goes on behind the line feed.
      base = stop + 1 - 64;
      goesOn = 0;
      continue;
    }
    // What lies behind the end has no words.
    const inside = ~(<u64>0) >> <u64>(64 - min<usize>(end - base, 64));
    const mask = (bits(a) | (bits(b) << 16) | (bits(c) << 32) | (bits(d) << 48)) & inside;
    const shifted = (mask << 1) | goesOn;
    let starts = mask & ~shifted;
    let ends = shifted & ~mask;
    from = select<usize>(from, base + <usize>ctz(starts), goesOn !== 0);
    starts &= starts - (goesOn ^ 1);
    for (; ends !== 0; ends &= ends - 1) {
      const to = base + <usize>ctz(ends);
      putWord(keys, wordKey(from, to), to);
      keys += 8;
      from = base + <usize>ctz(starts);
      starts &= starts - 1;
    }
    goesOn = mask >> 63;
    if (keys > KEYS_END) {
      lookUp(keys);
      keys = WORD_KEYS;
    }
  }
  if (goesOn !== 0) {
    putWord(keys, keyOf(from, end), end);
    keys += 8;
  }
  lookUp(keys);
}

function bits(v: v128): u64 {
  return <u64>wordBits(v);
}

function putWord(at: usize, key: u64, end: usize): void {
  store<u64>(at, key);
  store<u32>(WORD_ENDS + ((at - WORD_KEYS) >> 1), <u32>end);
}

/** Of the blocks that wait, the one at hand. */
let block: usize = 0;

/** The block in which `p` lies, which is never before the one at hand. */
function blockOf(p: usize): usize {
  while (textEndAt(block) < p) block += 16;
  return block;
}

/** The same for the rest of a block that has characters beyond ASCII. */
function readWideWords(start: usize, end: usize): void {
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
        putWord(keys, keyOf(word, p), p);
        keys += 8;
      }
      if (kind === 2) {
        putWord(keys, keyOf(p, p + length), p + length);
        keys += 8;
      }
      word = p + length;
      if (keys > KEYS_END) {
        lookUp(keys);
        keys = WORD_KEYS;
      }
    }
    p += length;
  }
  if (end > word) {
    putWord(keys, keyOf(word, end), end);
    keys += 8;
  }
  lookUp(keys);
}

/** Counts the words whose keys are listed up to `end`, and notes those that make a difference to their block. */
function lookUp(end: usize): void {
  const count = <u32>((end - WORD_KEYS) >> 3);
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
    if ((info & NOTED) !== 0) addWord(blockOf(load<u32>(WORD_ENDS + ((at - WORD_KEYS) >> 1))), info);
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
