/**
 * The simhash: for each of 64 bits, whether it is set in more than half of the hashes that were added. The counters
 * stand upright, one plane per binary digit, so that one operation adds to all 64 of them; eight hashes are added
 * together, because a carry runs through half of the planes.
 */
import { HASHES, PLANES } from './memory';

/** Hashes are gathered up to about so many bytes of them before they are counted. */
const ENOUGH: usize = 4096;

/** Where the next hash goes: whoever writes hashes there says so by addHashes(), after 4,096 bytes at the latest. */
export let hashesEnd: usize = HASHES;
let total: u32 = 0;

export function resetSimhash(): void {
  hashesEnd = HASHES;
  total = 0;
  memory.fill(PLANES, 0, 256);
}

/** There are hashes up to `end`. */
export function addHashes(end: usize): void {
  total += <u32>((end - hashesEnd) >> 3);
  hashesEnd = end;
  if (end >= HASHES + ENOUGH) countHashes();
}

/** The carry of adding three bits, 64 times; the sum is a ^ b ^ c. */
function carry(a: u64, b: u64, c: u64): u64 {
  return (a & b) | ((a ^ b) & c);
}

function hash(at: usize, index: usize): u64 {
  return load<u64>(at + (index << 3));
}

/** Counts eight at a time; what is left over goes to the front. */
function countHashes(): void {
  let ones = load<u64>(PLANES);
  let twos = load<u64>(PLANES, 8);
  let fours = load<u64>(PLANES, 16);
  let at = HASHES;
  for (; at + 64 <= hashesEnd; at += 64) {
    const a = carry(ones, hash(at, 0), hash(at, 1));
    ones ^= hash(at, 0) ^ hash(at, 1);
    const b = carry(ones, hash(at, 2), hash(at, 3));
    ones ^= hash(at, 2) ^ hash(at, 3);
    const c = carry(ones, hash(at, 4), hash(at, 5));
    ones ^= hash(at, 4) ^ hash(at, 5);
    const d = carry(ones, hash(at, 6), hash(at, 7));
    ones ^= hash(at, 6) ^ hash(at, 7);
    const e = carry(twos, a, b);
    twos ^= a ^ b;
    const f = carry(twos, c, d);
    twos ^= c ^ d;
    const eights = carry(fours, e, f);
    fours ^= e ^ f;
    addAbove(eights);
  }
  store<u64>(PLANES, ones);
  store<u64>(PLANES, twos, 8);
  store<u64>(PLANES, fours, 16);
  let to = HASHES;
  for (; at < hashesEnd; at += 8, to += 8) store<u64>(to, load<u64>(at));
  hashesEnd = to;
}

/** Adds to the planes from that of eights on. */
function addAbove(bits: u64): void {
  let rest = bits;
  for (let at = PLANES + 24; rest !== 0; at += 8) {
    const plane = load<u64>(at);
    store<u64>(at, plane ^ rest);
    rest &= plane;
  }
}

export function simhash(): u64 {
  // The last eight are filled up with nothing.
  for (let i: usize = 0; i < 7; i++) store<u64>(hashesEnd + (i << 3), 0);
  hashesEnd += 56;
  countHashes();
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
