/** Gathers a block's literals and matches, then writes it with codes made for it (RFC 1951, block type 2). */

import { LENGTH_CODE_SYMBOLS, makeCodes } from './huffman';
import {
  DISTANCE_COUNTS,
  DISTANCE_SYMBOLS,
  DISTANCES,
  INPUT,
  ITEMS,
  LENGTH_CODE_COUNTS,
  LENGTH_CODE_SIZES,
  LENGTH_CODES,
  LENGTH_SYMBOLS,
  LITERAL_COUNTS,
  LITERALS,
  MOST_ITEMS,
  RUNS,
  SIZES,
} from './memory';

const END_OF_BLOCK: u32 = 256;
const LITERAL_SYMBOLS: u32 = 286;
const DISTANCE_SYMBOL_COUNT: u32 = 30;
/** Marks a match among the items: length - 3 from bit 16 on, distance - 1 below. */
const MATCH: u32 = 0x8000_0000;

let item: usize = ITEMS;
let out: usize = 0;
let outStart: usize = 0;
let bits: u64 = 0;
let bitCount: u32 = 0;

export function outputStart(length: u32): usize {
  return (INPUT + <usize>length + 63) & ~(<usize>15);
}

export function startBlocks(length: u32): void {
  item = ITEMS;
  outStart = outputStart(length);
  out = outStart;
  bits = 0;
  bitCount = 0;
  clearCounts();
}

function clearCounts(): void {
  memory.fill(LITERAL_COUNTS, 0, LITERAL_SYMBOLS << 2);
  memory.fill(DISTANCE_COUNTS, 0, DISTANCE_SYMBOL_COUNT << 2);
  item = ITEMS;
}

export function blockFull(): bool {
  return item >= ITEMS + (MOST_ITEMS << 2) - 64;
}

function count(at: usize): void {
  store<u32>(at, load<u32>(at) + 1);
}

export function literal(byte: u8): void {
  store<u32>(item, byte);
  item += 4;
  count(LITERAL_COUNTS + ((<usize>byte) << 2));
}

function distanceSymbol(less: u32): u32 {
  return less < 256 ? load<u8>(DISTANCE_SYMBOLS + less) : load<u8>(DISTANCE_SYMBOLS + 256 + (less >> 7));
}

export function match(length: u32, distance: u32): void {
  store<u32>(item, MATCH | ((length - 3) << 16) | (distance - 1));
  item += 4;
  count(LITERAL_COUNTS + ((<usize>(257 + <u32>load<u8>(LENGTH_SYMBOLS + (length - 3)))) << 2));
  count(DISTANCE_COUNTS + ((<usize>distanceSymbol(distance - 1)) << 2));
}

function put(value: u32, size: u32): void {
  bits |= (<u64>value) << bitCount;
  bitCount += size;
}

/** Writes whole bytes out; at most 7 bits stay. Between two calls at most 56 bits may be put. */
function flush(): void {
  store<u64>(out, bits);
  const whole = bitCount & ~7;
  out += whole >> 3;
  bits = whole === 64 ? 0 : bits >> whole;
  bitCount &= 7;
}

/** Extra bits of length symbols 257 + s and of distance symbols s. */
function lengthExtra(symbol: u32): u32 {
  return symbol < 8 || symbol === 28 ? 0 : (symbol >> 2) - 1;
}

function distanceExtra(symbol: u32): u32 {
  return symbol < 4 ? 0 : (symbol >> 1) - 1;
}

export function endBlock(last: bool): void {
  store<u32>(LITERAL_COUNTS + (END_OF_BLOCK << 2), 1);
  makeCodes(LITERAL_COUNTS, LITERAL_SYMBOLS, SIZES, LITERALS);
  let literals = LITERAL_SYMBOLS;
  while (load<u8>(SIZES + literals - 1) === 0) literals--;
  makeCodes(DISTANCE_COUNTS, DISTANCE_SYMBOL_COUNT, SIZES + literals, DISTANCES);
  let distances = DISTANCE_SYMBOL_COUNT;
  while (load<u8>(SIZES + literals + distances - 1) === 0) distances--;
  put(last ? 1 : 0, 1);
  put(2, 2);
  writeHeader(literals, distances);
  writeItems();
  clearCounts();
}

function writeItems(): void {
  for (let at = ITEMS; at < item; at += 4) {
    const what = load<u32>(at);
    if ((what & MATCH) === 0) {
      const code = load<u32>(LITERALS + (what << 2));
      put(code & 0xffff, code >> 16);
    } else {
      const length = (what >> 16) & 255;
      const symbol = <u32>load<u8>(LENGTH_SYMBOLS + length);
      const code = load<u32>(LITERALS + ((257 + symbol) << 2));
      put(code & 0xffff, code >> 16);
      const extra = lengthExtra(symbol);
      put(length & ((1 << extra) - 1), extra);
      const less = what & 0x7fff;
      const far = distanceSymbol(less);
      const farCode = load<u32>(DISTANCES + (far << 2));
      put(farCode & 0xffff, farCode >> 16);
      const farExtra = distanceExtra(far);
      put(less & ((1 << farExtra) - 1), farExtra);
    }
    flush();
  }
  const code = load<u32>(LITERALS + (END_OF_BLOCK << 2));
  put(code & 0xffff, code >> 16);
  flush();
}

/** Run-length codes the sizes: 16 repeats the last 3–6 times, 17 and 18 are 3–10 and 11–138 zeros. */
function makeRuns(total: u32): u32 {
  memory.fill(LENGTH_CODE_COUNTS, 0, LENGTH_CODE_SYMBOLS << 2);
  let runs: u32 = 0;
  for (let at: u32 = 0; at < total; ) {
    const size = load<u8>(SIZES + at);
    let length: u32 = 1;
    while (at + length < total && load<u8>(SIZES + at + length) === size) length++;
    at += length;
    let symbol: u32 = size;
    let extra: u32 = 0;
    while (length > 0) {
      let taken: u32 = 1;
      symbol = size;
      extra = 0;
      if (size === 0 && length >= 3) {
        taken = min(length, 138);
        symbol = taken < 11 ? 17 : 18;
        extra = taken < 11 ? taken - 3 : taken - 11;
      } else if (length >= 4) {
        // The first says the size, the rest repeat it.
        store<u16>(RUNS + (runs++ << 1), <u16>symbol);
        count(LENGTH_CODE_COUNTS + ((<usize>symbol) << 2));
        length--;
        taken = min(length, 6);
        symbol = 16;
        extra = taken - 3;
      }
      store<u16>(RUNS + (runs++ << 1), <u16>(symbol | (extra << 8)));
      count(LENGTH_CODE_COUNTS + ((<usize>symbol) << 2));
      length -= taken;
    }
  }
  return runs;
}

/** The order in which the header gives the sizes of the length codes. */
const ORDER = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);

function writeHeader(literals: u32, distances: u32): void {
  const runs = makeRuns(literals + distances);
  makeCodes(LENGTH_CODE_COUNTS, LENGTH_CODE_SYMBOLS, LENGTH_CODE_SIZES, LENGTH_CODES);
  let given = LENGTH_CODE_SYMBOLS;
  while (given > 4 && load<u8>(LENGTH_CODE_SIZES + <usize>load<u8>(ORDER + given - 1)) === 0) given--;
  put(literals - 257, 5);
  put(distances - 1, 5);
  put(given - 4, 4);
  flush();
  for (let i: u32 = 0; i < given; i++) {
    put(load<u8>(LENGTH_CODE_SIZES + <usize>load<u8>(ORDER + i)), 3);
    flush();
  }
  for (let i: u32 = 0; i < runs; i++) {
    const run = <u32>load<u16>(RUNS + (i << 1));
    const symbol = run & 255;
    const code = load<u32>(LENGTH_CODES + (symbol << 2));
    put(code & 0xffff, code >> 16);
    if (symbol > 15) put(run >> 8, symbol === 16 ? 2 : symbol === 17 ? 3 : 7);
    flush();
  }
}

/** Pads to a byte; returns the length of the output. */
export function finish(): u32 {
  if (bitCount > 0) bitCount = (bitCount + 7) & ~7;
  flush();
  return <u32>(out - outStart);
}

function fillSymbols(): void {
  let length: u32 = 0;
  for (let symbol: u32 = 0; symbol < 28; symbol++) {
    for (let i: u32 = 1 << lengthExtra(symbol); i > 0; i--) store<u8>(LENGTH_SYMBOLS + length++, <u8>symbol);
  }
  store<u8>(LENGTH_SYMBOLS + 255, 28);
  let less: u32 = 0;
  for (let symbol: u32 = 0; symbol < 16; symbol++) {
    for (let i: u32 = 1 << distanceExtra(symbol); i > 0; i--) store<u8>(DISTANCE_SYMBOLS + less++, <u8>symbol);
  }
  less = 256;
  for (let symbol: u32 = 16; symbol < DISTANCE_SYMBOL_COUNT; symbol++) {
    for (let i: u32 = 1 << (distanceExtra(symbol) - 7); i > 0; i--) {
      store<u8>(DISTANCE_SYMBOLS + 256 + (less >> 7), <u8>symbol);
      less += 128;
    }
  }
}

fillSymbols();
