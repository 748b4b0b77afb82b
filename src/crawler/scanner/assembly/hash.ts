/** 64-bit hashing of short runs of bytes. Not against attackers: what must be is hashed again by the host. */

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

/** Step of the key of a name: names of up to 8 bytes have keys of their own, longer ones a hash. */
export function keyStep(key: u64, length: u32, byte: u32): u64 {
  return length < 8 ? (key << 8) | byte : (key ^ byte) * PRIME;
}

export function keyOf(start: usize, end: usize): u64 {
  let key: u64 = 0;
  for (let p = start; p < end; p++) {
    let c: u32 = load<u8>(p);
    if (c - 65 < 26) c |= 32;
    key = keyStep(key, <u32>(p - start), c);
  }
  return key;
}

/** Address of the key's entry in a table of 2^bits entries, or of the free entry where it would go. */
export function entryOf(table: usize, bits: u64, key: u64): usize {
  let i = (key * PRIME) >> (64 - bits);
  while (true) {
    const at = table + ((<usize>i) << 4);
    const found = load<u64>(at);
    if (found === key || found === 0) return at;
    i = (i + 1) & (((<u64>1) << bits) - 1);
  }
}
