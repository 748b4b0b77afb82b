/**
 * The papers' sums over the characters of the visible text. All text is summed at the end in one pass as if each byte
 * were a character; characters of several bytes say by correct() what is to be added or taken away.
 */
import { all } from './hash';
import { ASCII_SEEN, SEEN } from './memory';

export let codeCount: u64 = 0;
export let codeSum: u64 = 0;
export let codeSquares: u64 = 0;
export let distinctCodes: u32 = 0;
/** Whether there were characters beyond ASCII. */
let wide: bool = false;

export function resetCodes(): void {
  codeCount = 0;
  codeSum = 0;
  codeSquares = 0;
  distinctCodes = 0;
  if (wide) memory.fill(SEEN, 0, 8192);
  wide = false;
}

/** The character at `p` is `code`, not the codes of its `length` bytes. */
export function correct(p: usize, length: usize, code: u32): void {
  codeCount -= length - 1;
  codeSum += code;
  codeSquares += <u64>code * <u64>code;
  for (let i: usize = 0; i < length; i++) {
    const byte: u64 = load<u8>(p + i);
    codeSum -= byte;
    codeSquares -= byte * byte;
  }
  wide = true;
  const bit = code & 0xffff;
  const at = SEEN + (bit >> 3);
  const seen: u32 = load<u8>(at);
  if (((seen >> (bit & 7)) & 1) !== 0) return;
  distinctCodes++;
  store<u8>(at, seen | (1 << (bit & 7)));
}

/** Bytes of which the squares are added up in 32 bits. */
const STRETCH: usize = 65536;

/**
 * Adds the text at [start, end), in which `lines` line feeds stand between blocks and are no characters of it.
 */
export function addCodes(start: usize, end: usize, lines: u32): void {
  // Behind the text is nothing that counts.
  v128.store(end, i8x16.splat(0));
  // Where a byte is noted as seen: see(). The byte 0 and the line feed are noted before, so that they are not counted.
  store<u64>(ASCII_SEEN, 1);
  store<u64>(ASCII_SEEN, 1 << 16, 8);
  let feeds: u32 = 0;
  for (let p = start; p < end; p += STRETCH) feeds += addStretch(p, min(end, p + STRETCH));
  codeCount += end - start - lines;
  codeSum -= 10 * <u64>lines;
  codeSquares -= 100 * <u64>lines;
  distinctCodes += <u32>(popcnt(load<u64>(ASCII_SEEN)) + popcnt(load<u64>(ASCII_SEEN, 8))) - 2;
  if (feeds > lines) distinctCodes++;
}

/**
 * Returns the number of line feeds. Nearly always all of 16 bytes have been seen before, which costs less to find out
 * than to note each again.
 */
function addStretch(start: usize, end: usize): u32 {
  let feeds: u32 = 0;
  let sums = i32x4.splat(0);
  let squares = i32x4.splat(0);
  let seen = v128.load(ASCII_SEEN);
  const nibble = all(15);
  const feed = all(10);
  const ones = i16x8.shr_u(all(1), 8);
  // 1 << upper half of a byte, 0 for one beyond ASCII.
  const bits = i64x2(<i64>0x8040201008040201, 0);
  for (let p = start; p < end; p += 16) {
    const v = v128.load(p);
    const low = i16x8.extend_low_i8x16_u(v);
    const high = i16x8.extend_high_i8x16_u(v);
    sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.add(low, high), ones));
    squares = i32x4.add(squares, i32x4.add(i32x4.dot_i16x8_s(low, low), i32x4.dot_i16x8_s(high, high)));
    feeds += popcnt(i8x16.bitmask(i8x16.eq(v, feed)));
    const bit = i8x16.swizzle(bits, v128.and(i16x8.shr_u(v, 4), nibble));
    const known = i8x16.swizzle(seen, v128.and(v, nibble));
    if (!v128.any_true(v128.andnot(bit, known))) continue;
    see(p);
    seen = v128.load(ASCII_SEEN);
  }
  codeSum += total(sums);
  codeSquares += total(squares);
  return feeds;
}

/** One bit per ASCII character: the byte is chosen by its lower half, the bit by its upper half. */
function see(p: usize): void {
  for (let i: usize = 0; i < 16; i++) {
    const c: u32 = load<u8>(p + i);
    const at = ASCII_SEEN + (c & 15);
    if (c < 128) store<u8>(at, <u32>load<u8>(at) | (1 << (c >> 4)));
  }
}

function total(lanes: v128): u64 {
  const low = <u64>(<u32>i32x4.extract_lane(lanes, 0)) + <u64>(<u32>i32x4.extract_lane(lanes, 1));
  return low + <u64>(<u32>i32x4.extract_lane(lanes, 2)) + <u64>(<u32>i32x4.extract_lane(lanes, 3));
}
