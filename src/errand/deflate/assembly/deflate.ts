/**
 * A deflate encoder for speed: one candidate per position, no second thoughts, Huffman codes made for each block. On
 * HTML two to three times as fast as zlib's fastest level, for about a hundredth more bytes (bench/archive.ts). Looking
 * one byte further before taking a match would save that hundredth and cost a quarter more time.
 * It sees bytes and nothing else, and its memory depends on the input's length alone.
 */

import { blockFull, endBlock, finish, literal, match, outputStart, startBlocks } from './block';
import { INPUT, memoryFor, TABLE, TABLE_BITS } from './memory';

const WINDOW: u32 = 32768;
const LEAST_MATCH: u32 = 4;
const MOST_MATCH: usize = 258;

/**
 * Positions in the table count on from call to call with a gap of a window, so that what an earlier call left is always
 * too far away to match and the table need not be cleared.
 */
let epoch: u32 = 2 * WINDOW;

/** Room for an input of this length; returns where to put it. */
export function reserve(length: u32): usize {
  memoryFor(length);
  return INPUT;
}

/** Where the output of an input of this length begins. */
export function outputAt(length: u32): usize {
  return outputStart(length);
}

function slotOf(word: u32): usize {
  return TABLE + ((<usize>((word * 0x9e3779b1) >> (32 - TABLE_BITS))) << 2);
}

function extend(at: usize, from: usize, most: usize): usize {
  let length: usize = LEAST_MATCH;
  while (length < most) {
    const difference = load<u64>(at + length) ^ load<u64>(from + length);
    if (difference !== 0) return min(most, length + (<usize>ctz(difference) >> 3));
    length += 8;
  }
  return most;
}

/** Compresses the input; returns the length of the output. */
export function deflate(length: u32): u32 {
  if (epoch > 0x7000_0000) {
    memory.fill(TABLE, 0, (<usize>4) << TABLE_BITS);
    epoch = 2 * WINDOW;
  }
  const end: usize = INPUT + length;
  const shift: u32 = epoch - <u32>INPUT;
  startBlocks(length);
  let at: usize = INPUT;
  const last: usize = length > 8 ? end - 8 : INPUT;
  while (at < last) {
    const word = load<u32>(at);
    const slot = slotOf(word);
    const here = <u32>at + shift;
    const distance = here - load<u32>(slot);
    store<u32>(slot, here);
    if (distance <= WINDOW && load<u32>(at - <usize>distance) === word) {
      const size = extend(at, at - <usize>distance, min(MOST_MATCH, end - at));
      match(<u32>size, distance);
      const next = at + size;
      if (next < last) {
        store<u32>(slotOf(load<u32>(at + 1)), here + 1);
        store<u32>(slotOf(load<u32>(at + 2)), here + 2);
        store<u32>(slotOf(load<u32>(next - 2)), <u32>next - 2 + shift);
        store<u32>(slotOf(load<u32>(next - 1)), <u32>next - 1 + shift);
      }
      at = next;
    } else {
      literal(load<u8>(at));
      at++;
    }
    if (blockFull()) endBlock(false);
  }
  for (; at < end; at++) literal(load<u8>(at));
  endBlock(true);
  epoch += length + WINDOW + 1;
  return finish();
}
