/**
 * What is known of one block of visible text: its words (block-words.ts), its canonical form and that form's hash.
 * The canonical form is the text with volatile stamps replaced (stamps.ts); blocks of advertising have none.
 */
import { HAS_DIGIT, readWords, resetWords } from './block-words';
import { IN_AD, IN_STAMP, IN_TEMPLATE } from './elements';
import { copyRun, finish, hashBytes, mix } from './hash';
import { BLOCKS, canon, MAX_BLOCKS } from './memory';
import { maskStamps } from './stamps';
import { AGO, STAMP } from './tables';

/** A block this short that says "updated" is the label of the block after it. */
const LABEL_BYTES: usize = 60;
/** With less text than this outside of navigation, header and footer, all of the page counts as what it is about. */
const MIN_MAIN: u64 = 200;

/** Blocks, also those of advertising. */
export let ended: u32 = 0;
export let blockCount: u32 = 0;
export let canonEnd: usize = 0;
let labelled: bool = false;
let allHash: u64 = 0;
let mainPart: u64 = 0;
let mainBytes: u64 = 0;

export function resetBlocks(): void {
  resetWords();
  ended = 0;
  blockCount = 0;
  canonEnd = canon;
  labelled = false;
  allHash = 0;
  mainPart = 0;
  mainBytes = 0;
}

/** `region`: where on the page the block stands, flags of elements.ts. */
export function endOfBlock(start: usize, end: usize, region: u32): void {
  const flags = readWords(start, end);
  ended++;
  if ((region & IN_AD) !== 0) return;
  const from = canonEnd;
  if ((flags & (HAS_DIGIT | AGO)) !== 0) {
    const keyed = labelled || (region & IN_STAMP) !== 0 || (flags & STAMP) !== 0;
    canonEnd = maskStamps(start, end, from, keyed ? flags | STAMP : flags);
  } else {
    canonEnd = copyRun(from, start, end);
  }
  const hash = hashBytes(from, canonEnd);
  store<u8>(canonEnd++, 10);
  labelled = (flags & STAMP) !== 0 && (flags & HAS_DIGIT) === 0 && end - start <= LABEL_BYTES;
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

/** A link, image or tag of the main part counts with the text it stands in. */
export function addToMain(hash: u64): void {
  mainPart = mix(mainPart, hash);
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
