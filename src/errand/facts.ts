/**
 * What analysis takes from a page: enough to say later, without the old copy, whether it changed, where, and by which
 * of the papers' measures. Packed into at most 300 bytes (packFacts), because the ledger keeps one per page and an
 * errand may carry thousands.
 */
export interface Facts {
  /** SHA-256 of the body as it came (content-coded), first 16 bytes. */
  readonly raw: Uint8Array;
  /**
   * SHA-256 of what a reader sees in canonical form (text without volatile stamps, links, body tags, image references),
   * first 16 bytes: the default definition of "the same". Of a body that is no text: SHA-256 of the decoded bytes.
   */
  readonly content: Uint8Array;
  /**
   * 64-bit hash of the same (text, links, tags, images) outside of the navigation, header and footer that the pages of
   * a site share. Of an image: its look.
   */
  readonly mainHash: bigint;
  /** 64-bit hash of the canonical list of links. Of an image: the lower bits of its code (detect/image.ts). */
  readonly linkHash: bigint;
  /** 64-bit simhash over word bigrams of the visible text; 0 for pages without text. */
  readonly simhash: bigint;
  /** Sum of the byte values of the decoded body ("ASCII count"). */
  readonly asciiSum: number;
  /** Number of href links, repeated ones counted. */
  readonly urls: number;
  /** Words of the visible text that are not general words, repeated ones counted. */
  readonly keywords: number;
  /** Words of the visible text. Of an image: bytes on the wire, 0 = its server did not say. */
  readonly words: number;
  /** Text I: sum of character codes over the number of distinct characters. */
  readonly textCode1: number;
  /** Text II: root of the sum of squared character codes, over their number. */
  readonly textCode2: number;
  /** Structure I: 32-bit hashes of the strings of first and of last letters of the opening tags. */
  readonly tagFirst: number;
  readonly tagLast: number;
  /** Structure II: elements per level, root first; at most 24 levels, deeper ones added to the last. */
  readonly levels: readonly number[];
  /** 16-bit hashes of the content blocks in order, folded to at most 64 entries: says where a page changed. */
  readonly blocks: Uint16Array;
  /** 32-bit hash of the canonical list of image references; 0 = it has none. */
  readonly imageHash: number;
  /** 32-bit hash of the opening tags of the body, those without meaning to a reader left out. */
  readonly structure: number;
  /** 64-bit hash of the visible text with its stamps and of all references as they stand; 0 = not known. */
  readonly visible: bigint;
}

/** Facts of which only the hashes are known: of a body that is no text, or that nobody reads as one. */
export function bareFacts(raw: Uint8Array, content: Uint8Array): Facts {
  return {
    ...{ raw, content, mainHash: 0n, linkHash: 0n, simhash: 0n, asciiSum: 0, urls: 0, keywords: 0, words: 0 },
    ...{ textCode1: 0, textCode2: 0, tagFirst: 0, tagLast: 0, levels: [], blocks: new Uint16Array(0) },
    ...{ imageHash: 0, structure: 0, visible: 0n },
  };
}

/** More per level is kept as this, so that a level takes two bytes at most. */
export const MAX_LEVEL_COUNT = 16_383;
export const MAX_LEVELS = 24;
export const MAX_BLOCKS = 64;
export const MAX_FACTS_BYTES = 300;

/** First byte of packed facts; other values are from another version and mean "nothing is known". */
const LAYOUT = 1;
/** Where each field of fixed length begins; the scanner writes them, too (crawler/scanner/layout.ts). The others follow. */
export const factsAt = {
  raw: 1,
  content: 17,
  mainHash: 33,
  linkHash: 41,
  simhash: 49,
  textCode1: 57,
  textCode2: 65,
  tagFirst: 73,
  tagLast: 77,
  imageHash: 81,
  structure: 85,
  fixed: 89,
} as const;
/** At the end; facts of earlier versions are without. */
const VISIBLE_BYTES = 8;

const scratch = new Uint8Array(MAX_FACTS_BYTES + 20);
const view = new DataView(scratch.buffer);

/** At most MAX_FACTS_BYTES; unpackFacts gives the same facts back. */
export function packFacts(facts: Facts): Uint8Array {
  scratch[0] = LAYOUT;
  putDigests(scratch, facts.raw, facts.content);
  view.setBigUint64(factsAt.mainHash, facts.mainHash, true);
  view.setBigUint64(factsAt.linkHash, facts.linkHash, true);
  view.setBigUint64(factsAt.simhash, facts.simhash, true);
  view.setFloat64(factsAt.textCode1, facts.textCode1, true);
  view.setFloat64(factsAt.textCode2, facts.textCode2, true);
  view.setUint32(factsAt.tagFirst, facts.tagFirst, true);
  view.setUint32(factsAt.tagLast, facts.tagLast, true);
  view.setUint32(factsAt.imageHash, facts.imageHash, true);
  view.setUint32(factsAt.structure, facts.structure, true);
  let at: number = factsAt.fixed;
  at = putVarint(at, facts.asciiSum);
  at = putVarint(at, facts.urls);
  at = putVarint(at, facts.keywords);
  at = putVarint(at, facts.words);
  const levels = Math.min(facts.levels.length, MAX_LEVELS);
  scratch[at++] = levels;
  for (let i = 0; i < levels; i++) at = putVarint(at, Math.min(facts.levels[i]!, MAX_LEVEL_COUNT));
  const blocks = Math.min(facts.blocks.length, MAX_BLOCKS);
  scratch[at++] = blocks;
  for (let i = 0; i < blocks; i++, at += 2) view.setUint16(at, facts.blocks[i]!, true);
  view.setBigUint64(at, facts.visible, true);
  return scratch.slice(0, at + VISIBLE_BYTES);
}

/** Puts the digests, the first 16 bytes of each, into packed facts in which all the rest stands. */
export function putDigests(facts: Uint8Array, raw: Uint8Array, content: Uint8Array): void {
  for (let i = 0; i < 16; i++) {
    facts[factsAt.raw + i] = raw[i]!;
    facts[factsAt.content + i] = content[i]!;
  }
}

/** Undefined when the bytes are not facts of this layout: the page then counts as never analysed. */
export function unpackFacts(bytes: Uint8Array): Facts | undefined {
  if (!isFacts(bytes)) return undefined;
  const from = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cursor: { at: number } = { at: factsAt.fixed };
  const [asciiSum, urls, keywords, words] = [0, 0, 0, 0].map(() => takeVarint(bytes, cursor)) as [number, ...number[]];
  const levels = Array.from({ length: Math.min(bytes[cursor.at++] ?? 0, MAX_LEVELS) }, () => takeVarint(bytes, cursor));
  const blocks = new Uint16Array(Math.min(bytes[cursor.at++] ?? 0, MAX_BLOCKS));
  const visible = cursor.at + blocks.length * 2;
  if (visible !== bytes.length && visible + VISIBLE_BYTES !== bytes.length) return undefined;
  for (let i = 0; i < blocks.length; i++) blocks[i] = from.getUint16(cursor.at + i * 2, true);
  return {
    raw: bytes.slice(factsAt.raw, factsAt.content),
    content: bytes.slice(factsAt.content, factsAt.content + 16),
    mainHash: from.getBigUint64(factsAt.mainHash, true),
    linkHash: from.getBigUint64(factsAt.linkHash, true),
    simhash: from.getBigUint64(factsAt.simhash, true),
    textCode1: from.getFloat64(factsAt.textCode1, true),
    textCode2: from.getFloat64(factsAt.textCode2, true),
    tagFirst: from.getUint32(factsAt.tagFirst, true),
    tagLast: from.getUint32(factsAt.tagLast, true),
    imageHash: from.getUint32(factsAt.imageHash, true),
    structure: from.getUint32(factsAt.structure, true),
    asciiSum,
    urls: urls!,
    keywords: keywords!,
    words: words!,
    levels,
    blocks,
    visible: visible === bytes.length ? 0n : from.getBigUint64(visible, true),
  };
}

/** Whether packed facts hold hashes and nothing else, as an errand may carry them (bareFacts). */
export function isHashOnly(bytes: Uint8Array): boolean {
  return bytes.subarray(factsAt.mainHash).every(byte => byte === 0);
}

/** Whether a page shows images, by its packed facts alone; one of which nothing is known may. */
export function mayShowImages(bytes: Uint8Array | null): boolean {
  if (bytes?.[0] !== LAYOUT || bytes.length < factsAt.fixed) return true;
  return (
    (bytes[factsAt.imageHash]! |
      bytes[factsAt.imageHash + 1]! |
      bytes[factsAt.imageHash + 2]! |
      bytes[factsAt.imageHash + 3]!) !==
    0
  );
}

/** What the papers count, and the ledger has columns for. */
type Counts = Pick<Facts, 'asciiSum' | 'urls' | 'keywords'>;

/** The counts alone, in a tenth of the time; undefined as with unpackFacts. */
export function countsOf(bytes: Uint8Array): Counts | undefined {
  if (!isFacts(bytes)) return undefined;
  const cursor: { at: number } = { at: factsAt.fixed };
  const asciiSum = takeVarint(bytes, cursor);
  const urls = takeVarint(bytes, cursor);
  return { asciiSum, urls, keywords: takeVarint(bytes, cursor) };
}

function isFacts(bytes: Uint8Array): boolean {
  return bytes[0] === LAYOUT && bytes.length >= factsAt.fixed + 6 && bytes.length <= scratch.length;
}

function putVarint(at: number, value: number): number {
  while (value > 127) {
    scratch[at++] = (value % 128) | 128;
    value = Math.floor(value / 128);
  }
  scratch[at] = value;
  return at + 1;
}

function takeVarint(bytes: Uint8Array, cursor: { at: number }): number {
  let value = 0;
  for (let scale = 1; scale < 2 ** 56; scale *= 128) {
    const byte = bytes[cursor.at++] ?? 0;
    value += (byte & 127) * scale;
    if (byte < 128) break;
  }
  return value;
}
