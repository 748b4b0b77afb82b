/**
 * What start tags say, by their bytes: `<p>`, `<td class="name">`. More than half of the tags of real pages have been
 * read before; what those say is looked up, not read again. Only tags are kept of which nobody asks for the value of an
 * attribute, so that an entry is true wherever the same bytes stand.
 *
 * Entries of 64 bytes: the tag from its name to its `>` (32, the rest 0), key of the name (8), what the element is (4),
 * flags of classes (4), last letter (4), whether it closes itself (4).
 */
import { spread } from './hash';
import { SPARE_TAG, TAG_MEMORY } from './memory';

const ENTRY_BITS: u64 = 8;
/** Longer tags are read every time. */
const LONGEST: u32 = 32;

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

export function putName(tag: usize, key: u64, info: u32, lastLetter: u32): void {
  store<u64>(tag, key, 32);
  store<u32>(tag, info, 40);
  store<u32>(tag, lastLetter, 48);
}

export function putAttributes(tag: usize, classes: u32, itself: bool): void {
  store<u32>(tag, classes, 44);
  store<u32>(tag, itself ? 1 : 0, 52);
}

/** The address behind the first `>` of the tag that was looked for last. */
export let behind: usize = 0;

/** Entry of the tag whose name begins at `p`, 0 = it is not known. */
export function recall(p: usize, end: usize): usize {
  const length = lengthOf(p);
  behind = p + length + 1;
  if (length >= LONGEST || behind > end) return 0;
  const low = lowPart(p, length);
  const high = highPart(p, length);
  const entry = entryOf(low, high);
  const differs = v128.or(v128.xor(low, v128.load(entry)), v128.xor(high, v128.load(entry, 16)));
  return v128.any_true(differs) ? 0 : entry;
}

/** Where to put what the tag says that ends before `next`: an entry, or where it is soon forgotten. */
export function placeFor(p: usize, next: usize): usize {
  const length = lengthOf(p);
  // With a `>` inside of an attribute it is never looked for.
  if (length >= LONGEST || p + length + 1 !== next) return SPARE_TAG;
  const low = lowPart(p, length);
  const high = highPart(p, length);
  const entry = entryOf(low, high);
  v128.store(entry, low);
  v128.store(entry, high, 16);
  return entry;
}

/** Bytes before the first `>`, up to LONGEST. */
function lengthOf(p: usize): u32 {
  const close = i8x16.splat(62);
  const low: u32 = i8x16.bitmask(i8x16.eq(v128.load(p), close));
  const high: u32 = i8x16.bitmask(i8x16.eq(v128.load(p, 16), close));
  return ctz(low | (high << 16));
}

function lowPart(p: usize, length: u32): v128 {
  const places = i8x16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return v128.and(v128.load(p), i8x16.le_u(places, i8x16.splat(<i8>length)));
}

function highPart(p: usize, length: u32): v128 {
  const places = i8x16(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
  return v128.and(v128.load(p, 16), i8x16.le_u(places, i8x16.splat(<i8>length)));
}

function entryOf(low: v128, high: v128): usize {
  const a = i64x2.extract_lane(low, 0) ^ rotl(i64x2.extract_lane(low, 1), 11);
  const b = i64x2.extract_lane(high, 0) ^ rotl(i64x2.extract_lane(high, 1), 11);
  return TAG_MEMORY + ((<usize>(spread(a ^ rotl(b, 23)) >> (64 - ENTRY_BITS))) << 6);
}
