/**
 * Blocks that have ended and wait to be read (block.ts), and what else belongs to the main part of the page meanwhile:
 * both wait in their order. Most blocks have few words, so that reading each by itself was mostly beginning and ending.
 *
 * Entries of 16 bytes: where the block's text ends (4), its region (4), what its words are (4), up to where the parts
 * came before it (4). Its text begins one byte behind that of the block before.
 */
import { PARTS, WAITING } from './memory';

/** More are not kept waiting. */
const MOST_BLOCKS: usize = 256;
const MOST_PARTS: usize = 1024;

export let blocksEnd: usize = WAITING;
export let partsEnd: usize = PARTS;

export function resetWaiting(): void {
  blocksEnd = WAITING;
  partsEnd = PARTS;
}

/** Whether one more block and one more part still fit. */
export function isFull(): bool {
  return blocksEnd === WAITING + (MOST_BLOCKS << 4) || partsEnd === PARTS + (MOST_PARTS << 3);
}

export function addBlock(textEnd: usize, region: u32): void {
  store<u32>(blocksEnd, <u32>textEnd);
  store<u32>(blocksEnd, region, 4);
  store<u32>(blocksEnd, 0, 8);
  store<u32>(blocksEnd, <u32>partsEnd, 12);
  blocksEnd += 16;
}

export function addPart(hash: u64): void {
  store<u64>(partsEnd, hash);
  partsEnd += 8;
}

export function textEndAt(block: usize): usize {
  return load<u32>(block);
}

export function regionAt(block: usize): u32 {
  return load<u32>(block, 4);
}

export function wordsAt(block: usize): u32 {
  return load<u32>(block, 8);
}

export function partsEndAt(block: usize): usize {
  return load<u32>(block, 12);
}

/** The block has a word that is this. */
export function addWord(block: usize, info: u32): void {
  store<u32>(block, load<u32>(block, 8) | info, 8);
}
