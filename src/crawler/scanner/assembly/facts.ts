/**
 * The facts of the page, packed as src/errand/facts.ts says, all but the two digests, for which only the host has the
 * means. Written here, because to read twenty numbers out of this memory and pack them costs the host more than this does.
 */
import { blockCount } from './block';
import { keywords, words } from './block-words';
import { codeCount, codeSquares, codeSum, distinctCodes } from './codes';
import { urls } from './links';
import {
  BLOCKS,
  FACTS,
  FACTS_BLOCKS,
  FACTS_FIXED,
  FACTS_IMAGE_HASH,
  FACTS_LEVELS,
  FACTS_LINK_HASH,
  FACTS_MAIN_HASH,
  FACTS_ON_LEVEL,
  FACTS_SIMHASH,
  FACTS_STRUCTURE,
  FACTS_TAG_FIRST,
  FACTS_TAG_LAST,
  FACTS_TEXT_CODE1,
  FACTS_TEXT_CODE2,
  LEVELS,
  SCRATCH,
} from './memory';
import { structure, tagFirst, tagLast } from './tags';

// Equal to that of src/errand/facts.ts.
const LAYOUT: u32 = 1;

/** `main`, `links`, `images`: hashes of what the page is about, of its links, of its pictures. Returns the end. */
export function putFacts(byteSum: u64, main: u64, links: u64, images: u64): usize {
  store<u8>(FACTS, LAYOUT);
  store<u64>(FACTS, main, FACTS_MAIN_HASH);
  store<u64>(FACTS, links, FACTS_LINK_HASH);
  store<f64>(FACTS, distinctCodes === 0 ? 0 : <f64>codeSum / <f64>distinctCodes, FACTS_TEXT_CODE1);
  store<f64>(FACTS, secondCode(), FACTS_TEXT_CODE2);
  store<u32>(FACTS, tagFirst, FACTS_TAG_FIRST);
  store<u32>(FACTS, tagLast, FACTS_TAG_LAST);
  store<u32>(FACTS, fold(images), FACTS_IMAGE_HASH);
  store<u32>(FACTS, fold(structure), FACTS_STRUCTURE);
  let to = putNumber(FACTS + FACTS_FIXED, byteSum);
  to = putNumber(to, urls);
  to = putNumber(to, keywords);
  to = putNumber(to, words);
  return putBlocks(putLevels(to));
}

/** Known only when all words have been counted. */
export function putSimhash(value: u64): void {
  store<u64>(FACTS, value, FACTS_SIMHASH);
}

/** The last of them, at the end of the others. Returns the end. */
export function putVisible(to: usize, hash: u64): usize {
  store<u64>(to, hash);
  return to + 8;
}

/** Text II, in single precision at every step: see textCode2 of detect/text-codes.ts. */
function secondCode(): f64 {
  return codeCount === 0 ? 0 : <f64>(<f32>(<f64>(<f32>sqrt(<f64>codeSquares)) / <f64>codeCount));
}

function fold(hash: u64): u32 {
  return <u32>hash ^ <u32>(hash >> 32);
}

/** Seven bits a byte, the lowest first. */
function putNumber(start: usize, value: u64): usize {
  let to = start;
  let rest = value;
  for (; rest > 127; rest >>= 7) store<u8>(to++, <u32>rest | 128);
  store<u8>(to, <u32>rest);
  return to + 1;
}

function putLevels(start: usize): usize {
  let to = start + 1;
  let level: usize = 0;
  for (; level < FACTS_LEVELS; level++) {
    const count = load<u32>(LEVELS + (level << 2));
    if (count === 0) break;
    to = putNumber(to, min(count, FACTS_ON_LEVEL));
  }
  store<u8>(start, <u32>level);
  return to;
}

/**
 * More blocks than fit are joined in groups. A group ends at a block whose own hash says so, not at every n-th, so
 * that a block put in or taken out changes the group it is in and no other.
 */
function putBlocks(start: usize): usize {
  const bits = groupBits();
  let group: u32 = 0;
  let sum: u32 = 0;
  for (let i: u32 = 0; i < blockCount; i++) {
    const hash = blockAt(i);
    sum = sum * 0x01000193 + hash;
    if (i !== blockCount - 1 && onesOf(hash) < bits) continue;
    store<u16>(start + 1 + (min(group, FACTS_BLOCKS - 1) << 1), sum ^ (sum >> 16));
    if (group < FACTS_BLOCKS - 1) sum = 0;
    group++;
  }
  group = min(group, FACTS_BLOCKS);
  store<u8>(start, group);
  return start + 1 + (group << 1);
}

function blockAt(index: u32): u32 {
  return load<u32>(BLOCKS + (index << 2));
}

/** How many ones the upper half of a hash ends in: they decide where a group ends, what is kept comes from the whole. */
function onesOf(hash: u32): u32 {
  return ctz(~(hash >> 16));
}

/** The fewest ones that have to be asked for so that no more groups are left than fit. */
function groupBits(): u32 {
  if (blockCount <= FACTS_BLOCKS) return 0;
  memory.fill(SCRATCH, 0, 17 << 2);
  for (let i: u32 = 0; i < blockCount - 1; i++) {
    const counter = SCRATCH + (onesOf(blockAt(i)) << 2);
    store<u32>(counter, load<u32>(counter) + 1);
  }
  let groups: u32 = 1; // the last block ends one in any case
  for (let bits: u32 = 16; bits > 0; bits--) {
    groups += load<u32>(SCRATCH + (bits << 2));
    if (groups > FACTS_BLOCKS) return min<u32>(16, bits + 1);
  }
  return 1;
}
