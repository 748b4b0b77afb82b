/**
 * What start tags say, by their bytes: `<p>`, `<td class="name">`. Most tags of real pages have been read before; what
 * those say is looked up, not read again. Only tags are kept of which nobody asks for the value of an attribute, so
 * that an entry is true wherever the same bytes stand.
 *
 * Entries of 64 bytes: the tag from its name to its `>` (32, the rest 0), key of the name (8), what the element is (4),
 * flags of classes (4), last letter (4), whether it closes itself (4), length of the name (4). Longer tags, which pages made of many classes
 * are full of, have a table of their own: 256 bytes, of which the first 64 are the same and the others the rest of the
 * tag.
 */
import { all, copyRun, spread } from './hash';
import { LONG_TAGS, TAG_MEMORY } from './memory';

const SHORT_BITS: u64 = 8;
const LONG_BITS: u64 = 7;
/** Longer tags have an entry in the table of long ones. */
const SHORT: usize = 32;
/** Longer tags than this are read every time. */
const LONGEST: usize = 224;

export function keyAt(tag: usize): u64 {
  return load<u64>(tag, 32);
}

export function infoAt(tag: usize): u32 {
  return load<u32>(tag, 40);
}

export function classesAt(tag: usize): u32 {
  return load<u32>(tag, 44);
}

export function lastLetterAt(tag: usize): u32 {
  return load<u32>(tag, 48);
}

export function closesItself(tag: usize): bool {
  return load<u32>(tag, 52) !== 0;
}

/** Length of the name if an end tag may be compared with its key, else 0. */
export function lengthAt(tag: usize): usize {
  return load<u32>(tag, 56);
}

export function putLength(tag: usize, length: usize): void {
  store<u32>(tag, <u32>length, 56);
}

export function putName(tag: usize, key: u64, info: u32, lastLetter: u32): void {
  store<u64>(tag, key, 32);
  store<u32>(tag, info, 40);
  store<u32>(tag, lastLetter, 48);
}

export function putAttributes(tag: usize, classes: u32, itself: bool): void {
  store<u32>(tag, classes, 44);
  store<u32>(tag, itself ? 1 : 0, 52);
}

/** Address of the first `>` behind `p`; 0 = there is none near enough for the tag to be kept. */
export function tagEnd(p: usize): usize {
  const close = all(62);
  const low: u32 = i8x16.bitmask(i8x16.eq(v128.load(p), close));
  const high: u32 = i8x16.bitmask(i8x16.eq(v128.load(p, 16), close));
  const hits = low | (high << 16);
  return hits !== 0 ? p + ctz(hits) : longEnd(p);
}

function longEnd(p: usize): usize {
  const close = all(62);
  for (let q = p + SHORT; q < p + LONGEST; q += 16) {
    const hits: u32 = i8x16.bitmask(i8x16.eq(v128.load(q), close));
    if (hits !== 0) return q + ctz(hits);
  }
  return 0;
}

/** Entry of the tag whose name begins at `p` and whose first `>` is at `stop`; 0 = it is not known. */
export function recall(p: usize, stop: usize): usize {
  if (stop - p >= SHORT) return recallLong(p, stop);
  const low = lowPart(p, stop - p);
  const high = highPart(p, stop - p);
  const entry = shortEntry(low, high);
  if (begins(entry, low, high)) return entry;
  return begins(entry ^ 64, low, high) ? entry ^ 64 : 0;
}

function recallLong(p: usize, stop: usize): usize {
  const entry = longEntry(p, stop);
  if (isLong(entry, p, stop)) return entry;
  return isLong(entry ^ 256, p, stop) ? entry ^ 256 : 0;
}

/** Where to put what the tag says. */
export function placeFor(p: usize, stop: usize): usize {
  // Two tags that meet have two places, and the third one's is now this, now that.
  turn ^= 1;
  if (stop - p < SHORT) {
    const low = lowPart(p, stop - p);
    const high = highPart(p, stop - p);
    const entry = shortEntry(low, high) ^ (turn << 6);
    v128.store(entry, low);
    v128.store(entry, high, 16);
    return entry;
  }
  const entry = longEntry(p, stop) ^ (turn << 8);
  copyRun(entry, p, p + SHORT);
  copyRun(entry + 64, p + SHORT, stop + 1);
  return entry;
}
let turn: usize = 0;

/** By the first 16 bytes and the last 32, for tags that differ mostly do so there. */
function longEntry(p: usize, stop: usize): usize {
  const a = load<u64>(p) ^ rotl(load<u64>(p, 8), 11) ^ rotl(load<u64>(stop - 31), 17);
  const b = load<u64>(stop - 7) ^ rotl(load<u64>(stop - 15), 11) ^ rotl(load<u64>(stop - 23), 29);
  return LONG_TAGS + ((<usize>(spread(a ^ rotl(b, 23)) >> (64 - LONG_BITS))) << 8);
}

/** Whether the entry's tag begins with these 32 bytes. */
function begins(entry: usize, low: v128, high: v128): bool {
  return !v128.any_true(v128.or(v128.xor(low, v128.load(entry)), v128.xor(high, v128.load(entry, 16))));
}

/** Whether the entry's tag is the one at `p`, whose first `>` is at `stop`. */
function isLong(entry: usize, p: usize, stop: usize): bool {
  if (!begins(entry, v128.load(p), v128.load(p, 16))) return false;
  let at = entry + 64;
  let q = p + SHORT;
  for (; q + 16 <= stop; q += 16, at += 16) {
    if (v128.any_true(v128.xor(v128.load(q), v128.load(at)))) return false;
  }
  const differs: u32 = ~i8x16.bitmask(i8x16.eq(v128.load(q), v128.load(at)));
  // Up to the `>` itself, so that none is taken for a longer one.
  return differs << (31 - <u32>(stop - q)) === 0;
}

function lowPart(p: usize, length: usize): v128 {
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return v128.and(v128.load(p), i8x16.le_u(places, i8x16.splat(<i8>length)));
}

function highPart(p: usize, length: usize): v128 {
  const places = i8x16(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  return v128.and(v128.load(p, 16), i8x16.le_u(places, i8x16.splat(<i8>length)));
}

function shortEntry(low: v128, high: v128): usize {
  const a = i64x2.extract_lane(low, 0) ^ rotl(i64x2.extract_lane(low, 1), 11);
  const b = i64x2.extract_lane(high, 0) ^ rotl(i64x2.extract_lane(high, 1), 11);
  return TAG_MEMORY + ((<usize>(spread(a ^ rotl(b, 23)) >> (64 - SHORT_BITS))) << 6);
}
