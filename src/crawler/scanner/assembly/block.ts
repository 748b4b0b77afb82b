/**
 * What is known of the blocks of visible text: their words (block-words.ts), their canonical form and its hash.
 * The canonical form is the text with volatile stamps replaced (stamps.ts); blocks of advertising have none.
 *
 * Blocks are read when many have ended (waiting.ts), and at the end of the page.
 */
import { readWords, resetWords } from './block-words';
import { IN_AD, IN_STAMP, IN_TEMPLATE } from './elements';
import { copyHashed, finish, hashBytes, mix, nextDigit } from './hash';
import { noteTags, noting } from './journal';
import { BLOCKS, canon, MAX_BLOCKS, PARTS, text, WAITING } from './memory';
import { maskStamps } from './stamps';
import { AGO, STAMP } from './tables';
import {
  addBlock,
  addPart,
  blocksEnd,
  isFull,
  partsEnd,
  partsEndAt,
  regionAt,
  resetWaiting,
  textEndAt,
  wordsAt,
} from './waiting';

/** A block this short that says "updated" is the label of the block after it. */
const LABEL_BYTES: usize = 60;
/** With less text than this outside of navigation, header and footer, all of the page counts as what it is about. */
const MIN_MAIN: u64 = 200;

/** Blocks, also those of advertising. */
export let ended: u32 = 0;
export let blockCount: u32 = 0;
export let canonEnd: usize = 0;
/** Where the text begins of the first block that waits. */
let unread: usize = 0;
let labelled: bool = false;
let allHash: u64 = 0;
let mainPart: u64 = 0;
let mainBytes: u64 = 0;

export function resetBlocks(): void {
  resetWords();
  resetWaiting();
  ended = 0;
  blockCount = 0;
  canonEnd = canon;
  unread = text + 1;
  labelled = false;
  allHash = 0;
  mainPart = 0;
  mainBytes = 0;
}

/** `region`: where on the page the block stands, flags of elements.ts. */
export function endOfBlock(end: usize, region: u32): void {
  if (noting) noteTags();
  if (isFull()) readBlocks();
  addBlock(end, region);
}

/** A link, image or tag of the main part counts with the text it stands in. */
export function addToMain(hash: u64): void {
  if (isFull()) readBlocks();
  addPart(hash);
}

/** Reads the blocks that wait. */
export function readBlocks(): void {
  const last = blocksEnd > WAITING ? textEndAt(blocksEnd - 16) : unread;
  readWords(unread, last);
  let start = unread;
  let part = PARTS;
  let digit: usize = 0;
  for (let block = WAITING; block < blocksEnd; block += 16) {
    const end = textEndAt(block);
    for (; part < partsEndAt(block); part += 8) mainPart = mix(mainPart, load<u64>(part));
    if (digit < start) digit = nextDigit(start, last);
    if ((regionAt(block) & IN_AD) === 0) readBlock(block, start, end, digit < end);
    start = end + 1;
  }
  for (; part < partsEnd; part += 8) mainPart = mix(mainPart, load<u64>(part));
  ended += <u32>((blocksEnd - WAITING) >> 4);
  unread = start;
  resetWaiting();
}

function readBlock(block: usize, start: usize, end: usize, hasDigit: bool): void {
  const flags = wordsAt(block);
  const region = regionAt(block);
  const from = canonEnd;
  let hash: u64 = 0;
  if (hasDigit || (flags & AGO) !== 0) {
    const keyed = labelled || (region & IN_STAMP) !== 0;
    canonEnd = maskStamps(start, end, from, keyed ? flags | STAMP : flags);
    hash = hashBytes(from, canonEnd);
  } else {
    hash = copyHashed(from, start, end);
    canonEnd = from + (end - start);
  }
  store<u8>(canonEnd++, 10);
  labelled = (flags & STAMP) !== 0 && !hasDigit && end - start <= LABEL_BYTES;
  // Past the limit blocks are folded into the last one, so that a change there still shows.
  const at = BLOCKS + ((<usize>min(blockCount, MAX_BLOCKS - 1)) << 2);
  store<u32>(at, blockCount < MAX_BLOCKS ? <u32>(hash >> 32) : load<u32>(at) * 31 + <u32>hash);
  if (blockCount < MAX_BLOCKS) blockCount++;
  allHash = mix(allHash, hash);
  if ((region & IN_TEMPLATE) === 0) {
    mainPart = mix(mainPart, hash);
    mainBytes += canonEnd - from;
  }
}

/** `rest`: hash of what the page has beside its text. */
export function mainHash(rest: u64): u64 {
  return finish(mainBytes < MIN_MAIN ? mix(allHash, rest) : mainPart);
}

/** Appends eight bytes to what the host hashes. */
export function seal(value: u64): void {
  store<u64>(canonEnd, value);
  canonEnd += 8;
}
