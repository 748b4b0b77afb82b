/** Huffman codes of bounded length from frequencies. */
import { DEPTHS, KEYS, NEXT_CODES, PARENTS, SIZE_COUNTS, WEIGHTS } from './memory';

export const LENGTH_CODE_SYMBOLS: u32 = 19;

/** Symbols with a frequency, rarest first, as frequency × 512 + symbol; returns how many. Shell sort: at most 288. */
function sortedKeys(counts: usize, symbols: u32): u32 {
  let used: u32 = 0;
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const count = load<u32>(counts + (symbol << 2));
    if (count > 0) store<u32>(KEYS + (used++ << 2), (count << 9) | symbol);
  }
  for (let gap: i32 = 57; gap > 0; gap = gap > 23 ? 23 : gap > 10 ? 10 : gap > 4 ? 4 : gap > 1 ? 1 : 0) {
    for (let i: i32 = gap; i < <i32>used; i++) {
      const key = load<u32>(KEYS + ((<usize>i) << 2));
      let j = i;
      while (j >= gap && load<u32>(KEYS + ((<usize>(j - gap)) << 2)) > key) {
        store<u32>(KEYS + ((<usize>j) << 2), load<u32>(KEYS + ((<usize>(j - gap)) << 2)));
        j -= gap;
      }
      store<u32>(KEYS + ((<usize>j) << 2), key);
    }
  }
  return used;
}

/**
 * Joins the two lightest of leaves and joints until one is left. Both come in order of weight, so two queues do. Parents
 * of leaves lie at PARENTS, those of joints behind them.
 */
function joinAll(used: u32): void {
  let leaf: u32 = 0;
  let joint: u32 = 0;
  for (let made: u32 = 0; made + 1 < used; made++) {
    let weight: u32 = 0;
    for (let side = 0; side < 2; side++) {
      const leafWeight = leaf < used ? load<u32>(KEYS + (leaf << 2)) >> 9 : u32.MAX_VALUE;
      const jointWeight = joint < made ? load<u32>(WEIGHTS + (joint << 2)) : u32.MAX_VALUE;
      if (leafWeight <= jointWeight) {
        weight += leafWeight;
        store<u16>(PARENTS + (leaf++ << 1), <u16>made);
      } else {
        weight += jointWeight;
        store<u16>(PARENTS + ((used + joint++) << 1), <u16>made);
      }
    }
    store<u32>(WEIGHTS + (made << 2), weight);
  }
}

/** Counts of each code size at SIZE_COUNTS, none above `most`. */
function countSizes(used: u32, most: u32): void {
  memory.fill(SIZE_COUNTS, 0, 256);
  const joints = used - 1;
  store<u8>(DEPTHS + joints - 1, 0);
  for (let i = <i32>joints - 2; i >= 0; i--) {
    store<u8>(DEPTHS + <usize>i, load<u8>(DEPTHS + load<u16>(PARENTS + ((used + <u32>i) << 1))) + 1);
  }
  for (let i: u32 = 0; i < used; i++) {
    const depth = <u32>load<u8>(DEPTHS + load<u16>(PARENTS + (i << 1))) + 1;
    const at = SIZE_COUNTS + (min(depth, most) << 2);
    store<u32>(at, load<u32>(at) + 1);
  }
  // Cutting sizes at `most` claims more codes than there are: lengthen shorter ones until it fits again.
  let claimed: u32 = 0;
  for (let size: u32 = 1; size <= most; size++) claimed += load<u32>(SIZE_COUNTS + (size << 2)) << (most - size);
  const mostAt = SIZE_COUNTS + (most << 2);
  while (claimed > (<u32>1) << most) {
    store<u32>(mostAt, load<u32>(mostAt) - 1);
    let size = most - 1;
    while (load<u32>(SIZE_COUNTS + (size << 2)) === 0) size--;
    const at = SIZE_COUNTS + (size << 2);
    store<u32>(at, load<u32>(at) - 1);
    store<u32>(at + 4, load<u32>(at + 4) + 2);
    claimed--;
  }
}

function reversed(code: u32, size: u32): u32 {
  let bits = code;
  bits = ((bits & 0x5555) << 1) | ((bits >> 1) & 0x5555);
  bits = ((bits & 0x3333) << 2) | ((bits >> 2) & 0x3333);
  bits = ((bits & 0x0f0f) << 4) | ((bits >> 4) & 0x0f0f);
  bits = ((bits & 0x00ff) << 8) | ((bits >> 8) & 0x00ff);
  return bits >> (16 - size);
}

/**
 * For each symbol its size at `sizes` (a byte, 0 = not used) and its code at `codes` (bits, first bit lowest, and the
 * size from bit 16 on). There are always two codes at least, since some decoders want a whole tree.
 */
export function makeCodes(counts: usize, symbols: u32, sizes: usize, codes: usize): void {
  const most: u32 = symbols === LENGTH_CODE_SYMBOLS ? 7 : 15; // what the format allows
  let used = sortedKeys(counts, symbols);
  for (let symbol: u32 = 0; used < 2; symbol++) {
    if (load<u32>(counts + (symbol << 2)) > 0) continue;
    store<u32>(counts + (symbol << 2), 1);
    used = sortedKeys(counts, symbols);
  }
  joinAll(used);
  countSizes(used, most);
  memory.fill(sizes, 0, symbols);
  let key: u32 = 0;
  for (let size = most; size > 0; size--) {
    for (let left = load<u32>(SIZE_COUNTS + (size << 2)); left > 0; left--) {
      store<u8>(sizes + (load<u32>(KEYS + (key++ << 2)) & 511), <u8>size);
    }
  }
  let code: u32 = 0;
  for (let size: u32 = 1; size <= most; size++) {
    store<u32>(NEXT_CODES + (size << 2), code);
    code = (code + load<u32>(SIZE_COUNTS + (size << 2))) << 1;
  }
  for (let symbol: u32 = 0; symbol < symbols; symbol++) {
    const size = <u32>load<u8>(sizes + symbol);
    if (size === 0) continue;
    const at = NEXT_CODES + (size << 2);
    const next = load<u32>(at);
    store<u32>(at, next + 1);
    store<u32>(codes + (symbol << 2), reversed(next, size) | (size << 16));
  }
}
