/**
 * Where everything lies. The low megabyte holds tables of fixed size; above it lie the input and what is made of it,
 * each as long as the input, because nothing that the scanner writes is longer than what it read. So memory depends on
 * the input's length alone, never on its contents.
 */

/** Results for the host: see result.ts. */
export const RESULT: usize = 0x400;
/** Where the packed links lie: start, URLs, anchors, end; and the number of the canonical one. See pack-links.ts. */
export const PACKED: usize = 0x600;
/** Packed facts: see facts.ts. */
export const FACTS: usize = 0x640;
/** One byte of character classes per byte value. */
export const CLASSES: usize = 0x800;
/** One bit per ASCII character that occurs in the visible text: see codes.ts. */
export const ASCII_SEEN: usize = 0x1000;
/** Elements per level. */
export const LEVELS: usize = 0x1200;
/** Start and end of the attribute values of the tag being read. */
export const ATTRIBUTES: usize = 0x1300;
/** Bit planes that count, for each of 64 bits, in how many word pairs it was set. */
export const PLANES: usize = 0x1400;
/** One bit per character of the basic plane that occurred. */
export const SEEN: usize = 0x2000;
/** Hash tables of 16-byte entries: key (8), value (4), unused (4). */
export const TAGS: usize = 0x4000;
export const TAG_BITS: u64 = 9;
/** Words, up to 2,048 of them, and for each of 8,192 places the number of its first entry: see lexicon.ts. */
export const WORDS: usize = 0x6000;
export const WORD_INDEX: usize = 0x14800;
/** Keys of words to be looked up, hashes of word pairs not yet counted. */
export const WORD_KEYS: usize = 0x19000;
export const HASHES: usize = 0x1a000;
/** Where those words end; blocks that wait to be read, and other parts of the page that wait with them: see waiting.ts. */
export const WORD_ENDS: usize = 0x1c000;
export const WAITING: usize = 0x1d000;
export const PARTS: usize = 0x1e000;
export const ENTITIES: usize = 0xe000;
export const ENTITY_BITS: u64 = 10;
/** Slots of attributes by name; 64 entries. */
export const ATTRIBUTE_NAMES: usize = 0x14000;
export const ATTRIBUTE_BITS: u64 = 6;
/** Open elements: name key (8), information (4), length of the name (4). */
export const STACK: usize = 0x12000;
export const MAX_DEPTH: i32 = 512;
/** Hash table of link numbers + 1. */
export const LINK_SLOTS: usize = 0x20000;
export const LINK_SLOT_COUNT: u32 = 32768;
/** Links, LINK_BYTES each: see links.ts. */
export const LINKS: usize = 0x30000;
export const LINK_BYTES: usize = 48;
export const MAX_LINKS: u32 = 10000;
/** Images, 8 bytes each: start and end of the reference. */
export const IMAGES: usize = 0xa8000;
export const MAX_IMAGES: u32 = 1024;
/** 32-bit hashes of the blocks. */
export const BLOCKS: usize = 0xb0000;
export const MAX_BLOCKS: u32 = 32768;
/** Canonical form of one reference. */
export const SCRATCH: usize = 0xd0000;
export const SCRATCH_BYTES: usize = 0x10000;
/** Directory against which the host wants links resolved. */
export const DIRECTORY: usize = 0xe0000;

/** Start tags that were read before, and one that is not kept: see tag-memory.ts. */
export const TAG_MEMORY: usize = 0xe4000;
export const SPARE_TAG: usize = 0xe8000;
/** For each byte value, 16 times itself: see tables.ts. */
export const SPLATS: usize = 0xe9000;

/** Hash table of packed links, as large as LINK_SLOTS; which links they are; which the host has to resolve. */
export const FOUND_SLOTS: usize = 0xea000;
export const UNIQUE: usize = 0xfa000;
export const LEFT_OVER: usize = UNIQUE;

// Static data of the compiler begins at 0x100000 (build.ts says so) and takes less than 0x5000 bytes.

/** Long start tags that were read before: see tag-memory.ts. */
export const LONG_TAGS: usize = 0x108000;
export const INPUT: usize = 0x110000;
/** Longer inputs are not taken. Six buffers of this length fit below the memory's maximum (build.ts). */
export const MAX_INPUT: usize = 16 * 1024 * 1024;
/** Room behind each buffer for reads of 16 bytes at once. */
const MARGIN: usize = 64;

export let text: usize = 0;
export let canon: usize = 0;
export let references: usize = 0;
export let anchors: usize = 0;
export let anchorsEnd: usize = 0;
export let urls: usize = 0;

/** Makes room for an input of `length` bytes; 0 = too long. */
export function reserve(length: usize): usize {
  if (length > MAX_INPUT) return 0;
  const span = (length + MARGIN * 2) & ~15;
  text = INPUT + span;
  canon = text + span;
  references = canon + span + 64;
  anchors = references + span + 65536;
  anchorsEnd = anchors + span + 65536;
  urls = anchorsEnd + MARGIN;
  // Enough for nearly every page; more of it comes when it is needed.
  return grow(urls + span + 65536) ? INPUT : 0;
}

/** Makes memory reach beyond `end`; false when there is no more. */
export function grow(end: usize): bool {
  const pages = <i32>((end + MARGIN + 65535) >> 16);
  return pages <= memory.size() || memory.grow(pages - memory.size()) >= 0;
}
