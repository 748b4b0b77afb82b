/**
 * What is known of one block of visible text: its words, its character codes, its canonical form and that form's hash.
 * The canonical form is the text with volatile stamps replaced (stamps.ts); blocks of advertising have none.
 */
import { finish, hashBytes, keyStep, mix } from './hash';
import { BLOCKS, CLASSES, canon, HISTOGRAM, MAX_BLOCKS, PLANES, SEEN } from './memory';
import { maskStamps } from './stamps';
import { DIGIT, STAMP, STOP, WORD, wordInfo } from './tables';

/** Beyond the flags of words: the block has a digit. */
const HAS_DIGIT: u32 = 1 << 31;
/** A block this short that says "updated" is the label of the block after it. */
const LABEL_BYTES: usize = 60;
/** With less main text than this the whole text counts as main: nothing but navigation was recognised. */
const MIN_MAIN: u64 = 200;

export let words: u32 = 0;
export let keywords: u32 = 0;
export let blockCount: u32 = 0;
export let canonEnd: usize = 0;
let labelled: bool = false;
let allHash: u64 = 0;
let mainPart: u64 = 0;
let mainBytes: u64 = 0;

export let codeCount: u64 = 0;
export let codeSum: u64 = 0;
export let codeSquares: u64 = 0;
export let distinctCodes: u32 = 0;
let wide: bool = false;

let before: u64 = 0;
let pairs: u32 = 0;

export function resetBlocks(): void {
  words = 0;
  keywords = 0;
  blockCount = 0;
  canonEnd = canon;
  labelled = false;
  allHash = 0;
  mainPart = 0;
  mainBytes = 0;
  codeCount = 0;
  codeSum = 0;
  codeSquares = 0;
  distinctCodes = 0;
  before = 0;
  pairs = 0;
  memory.fill(HISTOGRAM, 0, 512);
  memory.fill(PLANES, 0, 256);
  if (wide) memory.fill(SEEN, 0, 8192);
  wide = false;
}

export function endOfBlock(start: usize, end: usize, ad: bool, template: bool, stamped: bool): void {
  const flags = readWords(start, end);
  if (ad) return;
  const from = canonEnd;
  if ((flags & HAS_DIGIT) !== 0) {
    canonEnd = maskStamps(start, end, from, stamped || labelled || (flags & STAMP) !== 0);
  } else {
    memory.copy(from, start, end - start);
    canonEnd = from + (end - start);
  }
  const hash = hashBytes(from, canonEnd);
  store<u8>(canonEnd++, 10);
  labelled = (flags & STAMP) !== 0 && end - start <= LABEL_BYTES;
  // Past the limit blocks are folded into the last one, so that a change there still shows.
  const at = BLOCKS + ((<usize>min(blockCount, MAX_BLOCKS - 1)) << 2);
  store<u32>(at, blockCount < MAX_BLOCKS ? <u32>(hash >> 32) : load<u32>(at) * 31 + <u32>hash);
  if (blockCount < MAX_BLOCKS) blockCount++;
  allHash = mix(allHash, hash);
  if (!template) {
    mainPart = mix(mainPart, hash);
    mainBytes += canonEnd - from;
  }
}

/** A link or image of the main part counts with the text it stands in. */
export function addToMain(hash: u64): void {
  mainPart = mix(mainPart, hash);
}

export function mainHash(): u64 {
  return finish(mainBytes < MIN_MAIN ? allHash : mainPart);
}

/** Appends eight bytes to what the host hashes. */
export function seal(value: u64): void {
  store<u64>(canonEnd, value);
  canonEnd += 8;
}

function readWords(start: usize, end: usize): u32 {
  let flags: u32 = 0;
  let key: u64 = 0;
  let length: u32 = 0;
  let p = start;
  while (p < end) {
    const c: u32 = load<u8>(p);
    if (c >= 0x80) {
      const wordLike = readWide(p, end, c);
      if (wordLike === 1) {
        for (let i: usize = 0; i < wideLength; i++) key = keyStep(key, length++, load<u8>(p + i));
      } else {
        if (length > 0) flags |= endWord(key);
        if (wordLike === 2) flags |= endWord(wideCode | ((<u64>1) << 32));
        key = 0;
        length = 0;
      }
      p += wideLength;
      continue;
    }
    const at = HISTOGRAM + (c << 2);
    store<u32>(at, load<u32>(at) + 1);
    const classes: u32 = load<u8>(CLASSES + c);
    if ((classes & WORD) !== 0) {
      if ((classes & DIGIT) !== 0) flags |= HAS_DIGIT;
      key = keyStep(key, length, c - 65 < 26 ? c | 32 : c);
      length++;
    } else if (length > 0) {
      flags |= endWord(key);
      key = 0;
      length = 0;
    }
    p++;
  }
  if (length > 0) flags |= endWord(key);
  return flags;
}

const KEY_AS: u64 = 0x6173;
const KEY_OF: u64 = 0x6f66;
const KEY_RENEW: u64 = 0x66f4 | (1 << 32);
const KEY_NEW: u64 = 0x65b0 | (1 << 32);

function endWord(key: u64): u32 {
  words++;
  let info = wordInfo(key);
  if ((info & STOP) === 0) keywords++;
  if ((key === KEY_OF && before === KEY_AS) || (key === KEY_NEW && before === KEY_RENEW)) info |= STAMP;
  addPair(finish(mix(before, key)));
  before = key;
  return info;
}

/**
 * Adds 1 to the counter of every bit that is set. The counters stand upright, one plane per binary digit, so that
 * one operation adds to all 64 of them.
 */
function addPair(bits: u64): void {
  pairs++;
  let carry = bits;
  for (let at = PLANES; carry !== 0; at += 8) {
    const plane = load<u64>(at);
    store<u64>(at, plane ^ carry);
    carry &= plane;
  }
}

export function simhash(): u64 {
  let result: u64 = 0;
  for (let bit: u64 = 0; bit < 64; bit++) {
    let set: u32 = 0;
    for (let digit: u32 = 0; digit < 26; digit++) {
      set += (<u32>((load<u64>(PLANES + (digit << 3)) >> bit) & 1)) << digit;
    }
    if (set * 2 > pairs) result |= (<u64>1) << bit;
  }
  return result;
}

let wideLength: usize = 0;
let wideCode: u32 = 0;

/** Takes a character beyond ASCII: 0 = separates words, 1 = part of a word, 2 = a word by itself (ideographs, kana). */
function readWide(p: usize, end: usize, c: u32): u32 {
  wideLength = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
  if (c < 0xc2 || c > 0xf4 || p + wideLength > end) {
    wideLength = 1;
    wideCode = 0xfffd;
  } else {
    wideCode = c & (wideLength === 2 ? 31 : wideLength === 3 ? 15 : 7);
    for (let i: usize = 1; i < wideLength; i++) wideCode = (wideCode << 6) | (load<u8>(p + i) & 63);
  }
  codeCount++;
  codeSum += wideCode;
  codeSquares += <u64>wideCode * <u64>wideCode;
  wide = true;
  const bit = wideCode & 0xffff;
  const at = SEEN + (bit >> 3);
  const seen: u32 = load<u8>(at);
  if (((seen >> (bit & 7)) & 1) === 0) {
    distinctCodes++;
    store<u8>(at, seen | (1 << (bit & 7)));
  }
  if (wideCode < 0xc0) return wideCode === 0xaa || wideCode === 0xb5 || wideCode === 0xba ? 1 : 0;
  if (wideCode < 0x2000) return 1;
  if (wideCode < 0x2c00 || wideCode >= 0xfe00) return 0;
  if (wideCode >= 0x3040 && wideCode < 0xa000) return 2;
  return wideCode >= 0x3000 && wideCode < 0x3040 ? 0 : 1;
}

/** Adds what the histogram counted. */
export function sumCodes(): void {
  for (let c: u64 = 0; c < 128; c++) {
    const n: u64 = load<u32>(HISTOGRAM + <usize>(c << 2));
    if (n === 0) continue;
    codeCount += n;
    codeSum += n * c;
    codeSquares += n * c * c;
    distinctCodes++;
  }
}
