/**
 * Short runs of bytes: hashes, keys, copies. The 64-bit hash is not meant against attackers: what must withstand them
 * the host hashes again.
 */
import { SCRATCH, SPLATS } from './memory';

const PRIME: u64 = 0x9e3779b97f4a7c15;
const OTHER: u64 = 0xd6e8feb86659fd93;

export function mix(state: u64, value: u64): u64 {
  const h = (state ^ value) * PRIME;
  return h ^ (h >> 29);
}

export function finish(state: u64): u64 {
  let h = state ^ (state >> 32);
  h *= OTHER;
  return h ^ (h >> 32);
}

/** May read up to 7 bytes beyond `end`, which it does not use. */
export function hashBytes(start: usize, end: usize): u64 {
  let h: u64 = (end - start) * OTHER;
  let p = start;
  for (; p + 8 <= end; p += 8) h = mix(h, load<u64>(p));
  if (p < end) h = mix(h, load<u64>(p) & (((<u64>1) << ((<u64>(end - p)) << 3)) - 1));
  return finish(h);
}

const SMALL: u64 = 0x2020202020202020;

/**
 * Key of a name, the same for capitals and small letters. Up to 8 bytes it is the name itself, so that short names
 * never collide; longer names have a hash. May read up to 7 bytes beyond `end`, which it does not use.
 */
export function keyOf(start: usize, end: usize): u64 {
  const length = end - start;
  if (length > 8) return longKey(start, end);
  // Shifted from above, because a shift by 64 would be one by 0.
  const mask = length === 0 ? 0 : ~(<u64>0) >> ((<u64>(8 - length)) << 3);
  return (load<u64>(start) | SMALL) & mask;
}

/** The same of a word, which is not empty. Nobody can predict whether it has more than 8 bytes, so both are computed. */
export function wordKey(start: usize, end: usize): u64 {
  const length = end - start;
  if (length > 15) return longKey(start, end);
  const first = load<u64>(start) | SMALL;
  const whole = first & (~(<u64>0) >> ((<u64>(8 - length)) << 3));
  const long = mix(mix(<u64>length * OTHER, first), load<u64>(end - 8) | SMALL);
  return select<u64>(long, whole, length > 8);
}

function longKey(start: usize, end: usize): u64 {
  let h = <u64>(end - start) * OTHER;
  let p = start;
  for (; p + 8 <= end; p += 8) h = mix(h, load<u64>(p) | SMALL);
  // The last eight bytes, some of them for the second time.
  return mix(h, load<u64>(end - 8) | SMALL);
}

/** The same for a literal. */
export function key(name: string): u64 {
  return keyOf(SCRATCH, putString(SCRATCH, name, 0, name.length));
}

/** Writes a part of a literal as UTF-8; returns the end. */
export function putString(start: usize, name: string, from: i32, end: i32): usize {
  let to = start;
  for (let i = from; i < end; i++) to = putCode(to, name.charCodeAt(i));
  return to;
}

/** Writes a code point as UTF-8; returns where the next byte goes. */
export function putCode(to: usize, c: u32): usize {
  if (c < 0x80) {
    store<u8>(to, c);
    return to + 1;
  }
  if (c < 0x800) {
    store<u8>(to, 0xc0 | (c >> 6));
    store<u8>(to + 1, 0x80 | (c & 63));
    return to + 2;
  }
  if (c < 0x10000) {
    store<u8>(to, 0xe0 | (c >> 12));
    store<u8>(to + 1, 0x80 | ((c >> 6) & 63));
    store<u8>(to + 2, 0x80 | (c & 63));
    return to + 3;
  }
  store<u8>(to, 0xf0 | (c >> 18));
  store<u8>(to + 1, 0x80 | ((c >> 12) & 63));
  store<u8>(to + 2, 0x80 | ((c >> 6) & 63));
  store<u8>(to + 3, 0x80 | (c & 63));
  return to + 4;
}

/** Copies a run; up to 15 bytes behind it are written too. For short runs a call of memory.copy costs more. */
export function copyRun(to: usize, start: usize, end: usize): usize {
  let out = to;
  for (let p = start; p < end; p += 16, out += 16) v128.store(out, v128.load(p));
  return to + (end - start);
}

/** Copies a run as copyRun does, and gives its hash, that of hashBytes. */
export function copyHashed(to: usize, start: usize, end: usize): u64 {
  let h: u64 = (end - start) * OTHER;
  let p = start;
  let out = to;
  for (; p + 8 <= end; p += 8, out += 8) {
    const eight = load<u64>(p);
    store<u64>(out, eight);
    h = mix(h, eight);
  }
  if (p < end) {
    const rest = load<u64>(p) & (((<u64>1) << ((<u64>(end - p)) << 3)) - 1);
    store<u64>(out, rest);
    h = mix(h, rest);
  }
  return finish(h);
}

/** 16 times the byte. Loaded, because the compiler makes a constant anew with three instructions wherever it is used. */
export function all(byte: usize): v128 {
  return v128.load(SPLATS + (byte << 4));
}

// Bytes are compared with sign: what letters or digits become by adding is lowest.

function letters(v: v128): v128 {
  return i8x16.lt_s(i8x16.add(v128.or(v, all(32)), all(31)), all(154));
}

function digits(v: v128): v128 {
  return i8x16.lt_s(i8x16.add(v, all(80)), all(138));
}

/** One bit for each of 16 bytes: letter, digit or `_`, all of ASCII. */
export function wordBits(v: v128): u32 {
  return i8x16.bitmask(v128.or(v128.or(letters(v), digits(v)), i8x16.eq(v, all(95))));
}

/** End of the run of such bytes. */
export function tokenEnd(start: usize, end: usize): usize {
  for (let p = start; p < end; p += 16) {
    const others = ~wordBits(v128.load(p)) & 0xffff;
    if (others !== 0) return min(p + ctz(others), end);
  }
  return end;
}

/** End of the run of letters of ASCII. */
export function lettersEnd(start: usize, end: usize): usize {
  for (let p = start; p < end; p += 16) {
    const others = ~i8x16.bitmask(letters(v128.load(p))) & 0xffff;
    if (others !== 0) return min(p + ctz(others), end);
  }
  return end;
}

/** First digit at or after `p`, or `end`. */
export function nextDigit(start: usize, end: usize): usize {
  for (let p = start; p < end; p += 16) {
    const hits = i8x16.bitmask(digits(v128.load(p)));
    if (hits !== 0) return min(p + ctz(hits), end);
  }
  return end;
}

/** Spreads the bits of a key; the top ones choose its entry in a table. */
export function spread(key: u64): u64 {
  return key * PRIME;
}

/** Address of the key's entry in a table of 2^bits entries, or of the free entry where it would go. */
export function entryOf(table: usize, bits: u64, key: u64): usize {
  let i = spread(key) >> (64 - bits);
  while (true) {
    const at = table + ((<usize>i) << 4);
    const found = load<u64>(at);
    if (found === key || found === 0) return at;
    i = (i + 1) & (((<u64>1) << bits) - 1);
  }
}
