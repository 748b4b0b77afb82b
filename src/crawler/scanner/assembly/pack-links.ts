/**
 * The links as they travel: unique by URL, in the order in which they were first mentioned. The host gets them in one
 * piece: fingerprints, flags, as many zeros for the relevance, URLs, anchors; the last two joined by line feeds.
 */
import { copyRun } from './hash';
import { anchorOut, CANONICAL, linkCount, mergeFlags } from './links';
import { anchors, FOUND_SLOTS, grow, LINK_BYTES, LINK_SLOT_COUNT, LINKS, PACKED, UNIQUE, urls } from './memory';
import { urlsOut } from './resolve';

/** Longer URLs are no links. Equals LONGEST_URL of src/base/url.ts. */
const LONGEST_URL: usize = 4096;
const NONE: u32 = 0xffffffff;

/** Number of the link that is the page's canonical address. */
let canonical: u32 = NONE;
let count: u32 = 0;

/** Returns how many there are; PACKED says where. Links without a URL are left out. */
export function packLinks(): u32 {
  canonical = NONE;
  count = 0;
  for (let link: u32 = 0; link < linkCount; link++) {
    const length = load<u32>(at(link), 36) - load<u32>(at(link), 32);
    if (length !== 0 && length <= LONGEST_URL) find(link);
  }
  // A copy of a run may write 15 bytes beyond it.
  const start = (urlsOut + 15) & ~7;
  if (!grow(start + 12 * count + (urlsOut - urls) + (anchorOut - anchors) + 16)) return NONE;
  putAll(start);
  for (let i: u32 = 0; i < count; i++) store<u16>(FOUND_SLOTS + (load<u32>(at(unique(i)), 20) << 1), 0);
  return count;
}

function at(link: u32): usize {
  return LINKS + link * LINK_BYTES;
}

/** The link that has the URL of the `index`-th; another one may have its anchor. */
function unique(index: u32): u32 {
  return load<u16>(UNIQUE + (index << 1));
}

/** Adds the link, or what it says to the one with the same fingerprint. Words 5 and 7 of links are free by now. */
function find(link: u32): void {
  const print = load<u64>(at(link), 40);
  let slot = <u32>(print >> 32) & (LINK_SLOT_COUNT - 1);
  let known: u32 = 0;
  while ((known = load<u16>(FOUND_SLOTS + (slot << 1))) !== 0 && load<u64>(at(unique(known - 1)), 40) !== print) {
    slot = (slot + 1) & (LINK_SLOT_COUNT - 1);
  }
  const flags = load<u32>(at(link), 16);
  if ((flags & CANONICAL) !== 0 && canonical === NONE) canonical = known === 0 ? count : known - 1;
  if (known !== 0) {
    const first = at(unique(known - 1));
    store<u32>(first, mergeFlags(load<u32>(first, 16), flags), 16);
    if (load<u32>(at(load<u32>(first, 28)), 12) === 0) store<u32>(first, link, 28);
    return;
  }
  store<u16>(UNIQUE + (count << 1), link);
  store<u16>(FOUND_SLOTS + (slot << 1), ++count);
  store<u32>(at(link), slot, 20);
  store<u32>(at(link), link, 28);
}

function putAll(start: usize): void {
  const flags = start + (count << 3);
  for (let i: u32 = 0; i < count; i++) {
    store<u64>(start + (i << 3), load<u64>(at(unique(i)), 40));
    store<u8>(flags + i, load<u32>(at(unique(i)), 16));
  }
  memory.fill(flags + count, 0, count);
  const urlStart = flags + (count << 1);
  let to = urlStart;
  for (let i: u32 = 0; i < count; i++) to = putLine(to, at(unique(i)) + 32);
  const anchorStart = count === 0 ? to : to - 1;
  to = anchorStart;
  for (let i: u32 = 0; i < count; i++) to = putLine(to, at(load<u32>(at(unique(i)), 28)) + 8);
  store<u32>(PACKED, <u32>start);
  store<u32>(PACKED, <u32>urlStart, 4);
  store<u32>(PACKED, <u32>anchorStart, 8);
  store<u32>(PACKED, <u32>(count === 0 ? to : to - 1), 12);
  store<u32>(PACKED, canonical, 16);
}

/** Copies the bytes whose start and end lie at `words`, and a line feed. */
function putLine(to: usize, words: usize): usize {
  const end = copyRun(to, load<u32>(words), load<u32>(words, 4));
  store<u8>(end, 10);
  return end + 1;
}
