/**
 * Where everything lies in the scanner's memory: one table for the host, the tests and the module, whose copy
 * (assembly/layout.ts) build.ts writes. The low megabyte holds tables of fixed size; above it lie the input and what is
 * made of it. A test holds that no two regions overlap, and that the compiler's own data stays in its region.
 */
import { factsAt, MAX_BLOCKS, MAX_FACTS_BYTES, MAX_LEVEL_COUNT, MAX_LEVELS } from '../../errand/facts.ts';

interface Region {
  readonly at: number;
  readonly bytes: number;
}

/** Name, type in the module, value. */
export const limits = {
  /** Longer inputs are not taken. Six buffers of this length fit below the memory's maximum (build.ts). */
  MAX_INPUT: ['usize', 16 * 1024 * 1024],
  /** Entries of the hash tables, as powers of two; 16 bytes each: key (8), value (4), unused (4). */
  TAG_BITS: ['u64', 9],
  ENTITY_BITS: ['u64', 10],
  ATTRIBUTE_BITS: ['u64', 6],
  /** Open elements. */
  MAX_DEPTH: ['i32', 512],
  LINK_SLOT_COUNT: ['u32', 32_768],
  LINK_BYTES: ['usize', 48],
  /** More links of a page are not recorded. */
  MAX_LINKS: ['u32', 10_000],
  MAX_IMAGES: ['u32', 1024],
  MAX_BLOCKS: ['u32', 32_768],
  SCRATCH_BYTES: ['usize', 0x10000],
  /** Of what is kept in the facts of a page. */
  FACTS_LEVELS: ['usize', MAX_LEVELS],
  FACTS_ON_LEVEL: ['u32', MAX_LEVEL_COUNT],
  FACTS_BLOCKS: ['u32', MAX_BLOCKS],
} as const;

const value = (name: keyof typeof limits): number => limits[name][1];
const table = (name: 'TAG_BITS' | 'ENTITY_BITS' | 'ATTRIBUTE_BITS'): number => 16 << value(name);

export const regions = {
  /** Results for the host: see assembly/result.ts. */
  RESULT: { at: 0x400, bytes: 0x200 },
  /** Where the packed links lie: start, URLs, anchors, end; and the number of the canonical one. See assembly/pack-links.ts. */
  PACKED: { at: 0x600, bytes: 20 },
  /** Packed facts: see assembly/facts.ts. */
  FACTS: { at: 0x640, bytes: MAX_FACTS_BYTES },
  /** One byte of character classes per byte value. */
  CLASSES: { at: 0x800, bytes: 256 },
  /** One bit per ASCII character that occurs in the visible text: see assembly/codes.ts. */
  ASCII_SEEN: { at: 0x1000, bytes: 16 },
  /** Elements per level. */
  LEVELS: { at: 0x1200, bytes: MAX_LEVELS * 4 },
  /** Start and end of the attribute values of the tag being read. */
  ATTRIBUTES: { at: 0x1300, bytes: 32 * 8 },
  /** Bit planes that count, for each of 64 bits, in how many word pairs it was set. */
  PLANES: { at: 0x1400, bytes: 256 },
  /** One bit per character of the basic plane that occurred. */
  SEEN: { at: 0x2000, bytes: 65_536 / 8 },
  TAGS: { at: 0x4000, bytes: table('TAG_BITS') },
  /** Words, up to 2,048 of them, and for each of 8,192 places the number of its first entry: see assembly/lexicon.ts. */
  WORDS: { at: 0x6000, bytes: 2048 * 16 },
  WORD_INDEX: { at: 0x14800, bytes: 8192 * 2 },
  /** Keys of words to be looked up, hashes of word pairs not yet counted. */
  WORD_KEYS: { at: 0x19000, bytes: 512 * 8 },
  HASHES: { at: 0x1a000, bytes: 1024 * 8 },
  /** Where those words end; blocks that wait to be read, and other parts of the page that wait with them: see assembly/waiting.ts. */
  WORD_ENDS: { at: 0x1c000, bytes: 512 * 4 },
  WAITING: { at: 0x1d000, bytes: 256 * 16 },
  PARTS: { at: 0x1e000, bytes: 1024 * 8 },
  ENTITIES: { at: 0xe000, bytes: table('ENTITY_BITS') },
  /** Slots of attributes by name. */
  ATTRIBUTE_NAMES: { at: 0x14000, bytes: table('ATTRIBUTE_BITS') },
  /** Open elements: name key (8), information (4), length of the name (4). */
  STACK: { at: 0x12000, bytes: 16 * value('MAX_DEPTH') },
  /** Hash table of link numbers + 1. */
  LINK_SLOTS: { at: 0x20000, bytes: 2 * value('LINK_SLOT_COUNT') },
  /** See assembly/links.ts. */
  LINKS: { at: 0x30000, bytes: value('MAX_LINKS') * value('LINK_BYTES') },
  /** Start and end of each image's reference. */
  IMAGES: { at: 0xa8000, bytes: 8 * value('MAX_IMAGES') },
  /** 32-bit hashes of the blocks. */
  BLOCKS: { at: 0xb0000, bytes: 4 * value('MAX_BLOCKS') },
  /** Canonical form of one reference. */
  SCRATCH: { at: 0xd0000, bytes: value('SCRATCH_BYTES') },
  /** Directory against which the host wants links resolved. */
  DIRECTORY: { at: 0xe0000, bytes: 8192 },
  /** Start tags that were read before, and one that is not kept: see assembly/tag-memory.ts. */
  TAG_MEMORY: { at: 0xe4000, bytes: 64 << 8 },
  SPARE_TAG: { at: 0xe8000, bytes: 256 },
  /** For each byte value, 16 times itself: see assembly/tables.ts. */
  SPLATS: { at: 0xe9000, bytes: 256 * 16 },
  /** Hash table of packed links, as large as LINK_SLOTS; which links they are, or which the host has to resolve. */
  FOUND_SLOTS: { at: 0xea000, bytes: 2 * value('LINK_SLOT_COUNT') },
  UNIQUE: { at: 0xfa000, bytes: 2 * value('MAX_LINKS') },
  /** The compiler's own data. */
  STATIC: { at: 0x100000, bytes: 0x8000 },
  /** Long start tags that were read before: see assembly/tag-memory.ts. */
  LONG_TAGS: { at: 0x108000, bytes: 256 << 7 },
  /** The page, and behind it what is made of it: see assembly/memory.ts. */
  INPUT: { at: 0x110000, bytes: 0 },
} as const satisfies Record<string, Region>;

/** The module's copy, in its own language. */
export function layoutSource(): string {
  const lines = [
    ...Object.entries(limits).map(([name, [type, number]]) => `export const ${name}: ${type} = ${number};`),
    ...Object.entries(factsAt).map(([field, at]) => `export const FACTS_${shouted(field)}: usize = ${at};`),
    ...Object.entries(regions).map(([name, { at }]) => `export const ${name}: usize = 0x${at.toString(16)};`),
  ];
  return `// Written by build.ts from ../layout.ts, which says what each is.\n${lines.join('\n')}\n`;
}

/** `mainHash` → `MAIN_HASH`. */
function shouted(name: string): string {
  return name.replace(/[A-Z]/g, '_$&').toUpperCase();
}
