/** What the scanner has found, as it lies in its memory before it is packed: for tests that hold every part of it. */
import { lent } from '../../src/base/borrowed.ts';
import { limits, regions } from '../../src/crawler/scanner/layout.ts';
import { at, type Scanner } from '../../src/crawler/scanner/scanner.ts';

/** 32-bit words of one link: start and end of its reference, of its anchor, flags; 8, 9 of its URL; 10, 11 its fingerprint. */
export const LINK_WORDS = limits.LINK_BYTES[1] / 4;

function words(scan: Scanner, start: number, count: number): Uint32Array {
  const bytes = lent(scan.bytes(start, start + count * 4));
  return new Uint32Array(bytes.buffer, bytes.byteOffset, count);
}

/** 0 sum of bytes, 1 links, 2 main part, 3 simhash, 4 sum of codes, 5 of their squares, 6 number of characters. */
export function longOf(scan: Scanner, index: number): bigint {
  return lent(scan.bytes(regions.RESULT.at, regions.RESULT.at + 56)).readBigUInt64LE(index * 8);
}

/** Elements on each level. */
export function levelsOf(scan: Scanner): number[] {
  return [...words(scan, regions.LEVELS.at, 24)];
}

/** LINK_WORDS words each; a view. */
export function linksOf(scan: Scanner): Uint32Array {
  return words(scan, regions.LINKS.at, scan.get(at.links) * LINK_WORDS);
}

/** Hashes of the blocks of text, in order; a view. */
export function blocksOf(scan: Scanner): Uint32Array {
  return words(scan, regions.BLOCKS.at, scan.get(at.blocks));
}
