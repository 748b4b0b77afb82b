/**
 * What is known of one block of visible text: its words, its character codes, its canonical form and that form's hash.
 * The canonical form is the text with volatile stamps replaced (stamps.ts); blocks of advertising have none.
 */
import { IN_AD, IN_STAMP, IN_TEMPLATE } from './elements';
import { copyRun, finish, hashBytes, key, keyOf, mix, spread } from './hash';
import { ASCII_SEEN, BLOCKS, CLASSES, canon, MAX_BLOCKS, PAIRS, PLANES, SEEN } from './memory';
import { maskStamps } from './stamps';
import { AGO, LAST, STAMP, STAMP_LAST, STOP, WORD, wordInfo } from './tables';

/** Beyond the flags of words: the block has a digit, a character beyond ASCII. */
const HAS_DIGIT: u32 = 1 << 31;
const HAS_WIDE: u32 = 1 << 30;
/** A block this short that says "updated" is the label of the block after it. */
const LABEL_BYTES: usize = 60;
/** With less text than this outside of navigation, header and footer, all of the page counts as what it is about. */
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
let afterLast: bool = false;
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
  memory.fill(ASCII_SEEN, 0, 128);
  memory.fill(PLANES, 0, 256);
  if (wide) memory.fill(SEEN, 0, 8192);
  wide = false;
}

/** `region`: where on the page the block stands, flags of elements.ts. */
export function endOfBlock(start: usize, end: usize, region: u32): void {
  const flags = readWords(start, end);
  if ((region & IN_AD) !== 0) return;
  const from = canonEnd;
  if ((flags & (HAS_DIGIT | AGO)) !== 0) {
    const keyed = labelled || (region & IN_STAMP) !== 0 || (flags & STAMP) !== 0;
    canonEnd = maskStamps(start, end, from, keyed ? flags | STAMP : flags);
  } else {
    canonEnd = copyRun(from, start, end);
  }
  const hash = hashBytes(from, canonEnd);
  store<u8>(canonEnd++, 10);
  labelled = (flags & STAMP) !== 0 && (flags & HAS_DIGIT) === 0 && end - start <= LABEL_BYTES;
  // Past the limit blocks are folded into the last one, so that a change there still shows.
  const at = BLOCKS + ((<usize>min(blockCount, MAX_BLOCKS - 1)) << 2);
  store<u32>(at, blockCount < MAX_BLOCKS ? <u32>(hash >> 32) : load<u32>(at) * 31 + <u32>hash);
  if (blockCount < MAX_BLOCKS) blockCount++;
  allHash = mix(allHash, hash);
  if ((region & IN_TEMPLATE) === 0) {
    mainPart = mix(mainPart, hash);
    mainBytes += canonEnd - from;
  }
}

/** A link, image or tag of the main part counts with the text it stands in. */
export function addToMain(hash: u64): void {
  mainPart = mix(mainPart, hash);
}

/** `rest`: hash of what the page has beside its text. */
export function mainHash(rest: u64): u64 {
  return finish(mainBytes < MIN_MAIN ? mix(allHash, rest) : mainPart);
}

/** Appends eight bytes to what the host hashes. */
export function seal(value: u64): void {
  store<u64>(canonEnd, value);
  canonEnd += 8;
}

/** Counts words and codes; returns what the words are, together, and HAS_DIGIT. */
function readWords(start: usize, end: usize): u32 {
  let flags = sumBytes(start, end);
  if ((flags & HAS_WIDE) !== 0) return (flags & HAS_DIGIT) | readWideWords(start, end);
  let word: usize = 0;
  for (let base = start; base < end; base += 64) {
    const rest = end - base;
    let mask = wordBits(base) | (wordBits(base + 16) << 16) | (wordBits(base + 32) << 32) | (wordBits(base + 48) << 48);
    if (rest < 64) mask &= ((<u64>1) << (<u64>rest)) - 1;
    // One bit where a word begins or ends.
    let edges = mask ^ ((mask << 1) | (word !== 0 ? 1 : 0));
    while (edges !== 0) {
      const at = base + <usize>ctz(edges);
      edges &= edges - 1;
      if (word === 0) word = at;
      else {
        flags |= endWord(keyOf(word, at));
        word = 0;
      }
    }
  }
  if (word !== 0) flags |= endWord(keyOf(word, end));
  return flags;
}

/** One bit for each of 16 bytes: letter, digit or `_`. */
function wordBits(p: usize): u64 {
  const v = v128.load(p);
  const letters = i8x16.lt_u(i8x16.sub(v128.or(v, i8x16.splat(32)), i8x16.splat(97)), i8x16.splat(26));
  const digits = i8x16.lt_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(10));
  return <u64>i8x16.bitmask(v128.or(v128.or(letters, digits), i8x16.eq(v, i8x16.splat(95))));
}

/** Adds the codes of a block as if each byte were a character; HAS_DIGIT and HAS_WIDE as they apply. */
function sumBytes(start: usize, end: usize): u32 {
  let sums = i32x4.splat(0);
  let squares = i64x2.splat(0);
  let digits = i8x16.splat(0);
  let high = i8x16.splat(0);
  let p = start;
  for (; p + 16 <= end; p += 16) {
    const v = v128.load(p);
    high = v128.or(high, v);
    digits = v128.or(digits, i8x16.lt_u(i8x16.sub(v, i8x16.splat(48)), i8x16.splat(10)));
    sums = i32x4.add(sums, i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(v)));
    const low = i16x8.extmul_low_i8x16_u(v, v);
    const upper = i16x8.extmul_high_i8x16_u(v, v);
    const four = i32x4.add(i32x4.extadd_pairwise_i16x8_u(low), i32x4.extadd_pairwise_i16x8_u(upper));
    squares = i64x2.add(squares, i64x2.add(i64x2.extend_low_i32x4_u(four), i64x2.extend_high_i32x4_u(four)));
  }
  codeCount += end - start;
  codeSum += <u64>i32x4.extract_lane(sums, 0) + <u64>i32x4.extract_lane(sums, 1);
  codeSum += <u64>i32x4.extract_lane(sums, 2) + <u64>i32x4.extract_lane(sums, 3);
  codeSquares += <u64>i64x2.extract_lane(squares, 0) + <u64>i64x2.extract_lane(squares, 1);
  let flags: u32 = v128.any_true(digits) ? HAS_DIGIT : 0;
  if (i8x16.bitmask(high) !== 0) flags |= HAS_WIDE;
  for (; p < end; p++) {
    const c: u32 = load<u8>(p);
    codeSum += c;
    codeSquares += c * c;
    if (c - 48 < 10) flags |= HAS_DIGIT;
    if (c > 127) flags |= HAS_WIDE;
  }
  markSeen(start, end);
  return flags;
}

/** Eight at a time: the stores are cheap, it is the loads that cost. */
function markSeen(start: usize, end: usize): void {
  let p = start;
  for (; p + 8 <= end; p += 8) {
    const eight = load<u64>(p);
    store<u8>(ASCII_SEEN + <usize>(eight & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 8) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 16) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 24) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 32) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 40) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>((eight >> 48) & 255), 1);
    store<u8>(ASCII_SEEN + <usize>(eight >> 56), 1);
  }
  for (; p < end; p++) store<u8>(ASCII_SEEN + load<u8>(p), 1);
}

/** The same for a block that has characters beyond ASCII. */
function readWideWords(start: usize, end: usize): u32 {
  let flags: u32 = 0;
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
      if (p > word) flags |= endWord(keyOf(word, p));
      if (kind === 2) flags |= endWord(keyOf(p, p + length));
      word = p + length;
    }
    p += length;
  }
  if (end > word) flags |= endWord(keyOf(word, end));
  return flags;
}

const KEY_AS: u64 = key('as');
const KEY_OF: u64 = key('of');
const KEY_RENEW: u64 = key('更');
const KEY_NEW: u64 = key('新');

function endWord(word: u64): u32 {
  words++;
  let info = wordInfo(word);
  if ((info & STOP) === 0) keywords++;
  if ((word === KEY_OF && before === KEY_AS) || (word === KEY_NEW && before === KEY_RENEW)) info |= STAMP;
  if ((info & STAMP_LAST) !== 0 && afterLast) info |= STAMP;
  afterLast = (info & LAST) !== 0;
  const pair = spread(word ^ rotl(spread(before), 23));
  before = word;
  addPair(pair ^ (pair >> 31));
  return info;
}

/**
 * Adds 1 to the counter of every bit that is set. The counters stand upright, one plane per binary digit, so that
 * one operation adds to all 64 of them; eight are gathered first, because a carry runs through half of the planes.
 */
function addPair(bits: u64): void {
  store<u64>(PAIRS + ((pairs & 7) << 3), bits);
  if ((++pairs & 7) === 0) addEight();
}

/** Carry of three bits each; the sum is left in `sumBits`. */
function carryOf(a: u64, b: u64, c: u64): u64 {
  const half = a ^ b;
  sumBits = half ^ c;
  return (a & b) | (half & c);
}
let sumBits: u64 = 0;

function pairAt(index: u32): u64 {
  return load<u64>(PAIRS + (index << 3));
}

function addEight(): void {
  let one = carryOf(load<u64>(PLANES), pairAt(0), pairAt(1));
  let two = carryOf(sumBits, pairAt(2), pairAt(3));
  const ones = sumBits;
  const four = carryOf(load<u64>(PLANES, 8), one, two);
  const twos = sumBits;
  one = carryOf(ones, pairAt(4), pairAt(5));
  two = carryOf(sumBits, pairAt(6), pairAt(7));
  store<u64>(PLANES, sumBits);
  const more = carryOf(twos, one, two);
  store<u64>(PLANES, sumBits, 8);
  let carry = carryOf(load<u64>(PLANES, 16), four, more);
  store<u64>(PLANES, sumBits, 16);
  for (let at = PLANES + 24; carry !== 0; at += 8) {
    const plane = load<u64>(at);
    store<u64>(at, plane ^ carry);
    carry &= plane;
  }
}

export function simhash(): u64 {
  // What is left of the last eight, filled up with nothing.
  const total = pairs;
  while ((pairs & 7) !== 0) addPair(0);
  // All 64 counters are compared with half of the total at once, digit by digit from the top.
  const half = total >> 1;
  let above: u64 = 0;
  let equal: u64 = ~(<u64>0);
  for (let digit: i32 = 31; digit >= 0; digit--) {
    const plane = load<u64>(PLANES + (digit << 3));
    const wanted: u64 = ((half >> digit) & 1) !== 0 ? ~(<u64>0) : 0;
    above |= equal & plane & ~wanted;
    equal &= ~(plane ^ wanted);
  }
  return above;
}

const COPYRIGHT_SIGN: u32 = 0xa9;
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
  // Its bytes have been added one by one.
  codeCount -= wideLength - 1;
  codeSum += wideCode;
  codeSquares += <u64>wideCode * <u64>wideCode;
  for (let i: usize = 0; i < wideLength; i++) {
    const byte: u64 = load<u8>(p + i);
    codeSum -= byte;
    codeSquares -= byte * byte;
  }
  wide = true;
  const bit = wideCode & 0xffff;
  const at = SEEN + (bit >> 3);
  const seen: u32 = load<u8>(at);
  if (((seen >> (bit & 7)) & 1) === 0) {
    distinctCodes++;
    store<u8>(at, seen | (1 << (bit & 7)));
  }
  if (wideCode === COPYRIGHT_SIGN) return 2;
  if (wideCode < 0xc0) return wideCode === 0xaa || wideCode === 0xb5 || wideCode === 0xba ? 1 : 0;
  if (wideCode < 0x2000) return 1;
  if (wideCode < 0x2c00 || wideCode >= 0xfe00) return 0;
  if (wideCode >= 0x3040 && wideCode < 0xa000) return 2;
  return wideCode >= 0x3000 && wideCode < 0x3040 ? 0 : 1;
}

/** Adds the ASCII characters that occurred to the distinct ones. */
export function countCodes(): void {
  for (let c: usize = 0; c < 128; c++) distinctCodes += load<u8>(ASCII_SEEN + c);
}
