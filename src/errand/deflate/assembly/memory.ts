/**
 * Where everything lies. Tables of fixed size first (build.ts puts the compiler's own data between them and TABLE), then
 * the input, then the output.
 */

export const TABLE_BITS: u32 = 14;
/** Codes by symbol: see makeCodes(). Numbers behind the addresses: entries, and bytes of one. */
export const LITERALS: usize = 0x1000; // 288 × 4
export const DISTANCES: usize = 0x1480; // 32 × 4
export const LENGTH_CODES: usize = 0x1500; // 19 × 4
/** How often each symbol occurs in the block. */
export const LITERAL_COUNTS: usize = 0x1600;
export const DISTANCE_COUNTS: usize = 0x1a80;
export const LENGTH_CODE_COUNTS: usize = 0x1b00;
/** Code lengths, a byte each: literals then distances side by side as the block's header wants them. */
export const SIZES: usize = 0x1c00; // 320
export const LENGTH_CODE_SIZES: usize = 0x1d80;
/** Run-length coded sizes: symbol, and value of its extra bits. */
export const RUNS: usize = 0x1e00; // 320 × 2
/** Scratch of the Huffman builder. */
export const KEYS: usize = 0x2200; // 288 × 4
export const WEIGHTS: usize = 0x2700; // 288 × 4
export const PARENTS: usize = 0x2c00; // 576 × 2
export const DEPTHS: usize = 0x3100; // 288
export const SIZE_COUNTS: usize = 0x3300; // 64 × 4
export const NEXT_CODES: usize = 0x3400; // 17 × 4
/** Symbols of match lengths 3 … 258, and of distances. */
export const LENGTH_SYMBOLS: usize = 0x3500; // 256
export const DISTANCE_SYMBOLS: usize = 0x3600; // 512
/** Positions by hash. */
export const TABLE: usize = 0x10000;
/** Literals and matches of the block, until its codes are known. */
export const ITEMS: usize = TABLE + ((<usize>4) << TABLE_BITS);
export const MOST_ITEMS: usize = 1 << 15;
export const INPUT: usize = ITEMS + (MOST_ITEMS << 2) + 64;

/** Twice the input holds any output: a literal takes at most 15 bits, a match of four bytes at most 48. */
export function memoryFor(length: u32): void {
  const needed = INPUT + 3 * <usize>length + 4096;
  const pages = <i32>((needed + 0xffff) >> 16);
  const missing = pages - memory.size();
  if (missing > 0) memory.grow(missing);
}
