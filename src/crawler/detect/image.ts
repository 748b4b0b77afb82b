/**
 * Whether an image changed. Ours: SHA-256 of its bytes says "changed", a 64-bit difference hash says "looks
 * different". The papers': ival, a number of the image scaled to n × n in two tones. Their array of n rows of n/16
 * numbers has no determinant, so ival here is that of MᵀM, which is 0 for images of low rank (blank, stripes).
 *
 * Look and code are kept in the facts of the image, in places of which an image has no use: the look in mainHash, the
 * code in linkHash and tagFirst.
 */
import { hash } from 'node:crypto';
import type { Facts } from '../../errand/facts.ts';

export interface ImageFacts {
  /** SHA-256 of the bytes, first 16. */
  readonly bytes: Uint8Array;
  /** Difference hash of 9 × 8 grey pixels; 0 when the image cannot be read. */
  readonly look: bigint;
  /** The papers' image code; 0 when the image cannot be read. */
  readonly ival: bigint;
}

/** Images of more pixels are not decoded. */
const MAX_PIXELS = 50_000_000;
const SIDE = 32;

/** Facts of an image file; one that cannot be decoded is known by its bytes alone. */
export async function imageFacts(file: Uint8Array): Promise<ImageFacts> {
  const bytes = new Uint8Array(hash('sha256', file, 'buffer').subarray(0, 16));
  try {
    const [look, tones] = [await greyPixels(file, 9, 8), await greyPixels(file, SIDE, SIDE)];
    return { bytes, look: differenceHash(look), ival: imageCode(twoTone(tones), SIDE) };
  } catch {
    return { bytes, look: 0n, ival: 0n }; // not an image that sharp reads: the bytes still tell
  }
}

async function greyPixels(file: Uint8Array, width: number, height: number): Promise<Uint8Array> {
  // Loaded when the first image comes: most crawls never look at one, and the library is large.
  const { default: sharp } = await import('sharp');
  const image = sharp(file, { limitInputPixels: MAX_PIXELS, failOn: 'none' });
  const pixels = await image
    .flatten({ background: '#fff' })
    .greyscale()
    .resize(width, height, { fit: 'fill' })
    .raw()
    .toBuffer();
  return pixels.length === width * height
    ? pixels
    : pixels.filter((_, i) => i % (pixels.length / (width * height)) === 0);
}

/** One bit per pair of neighbours in 8 rows of 9 pixels: whether it gets brighter. */
function differenceHash(pixels: Uint8Array): bigint {
  let bits = 0n;
  for (let row = 0; row < 8; row++) {
    for (let column = 0; column < 8; column++) {
      const at = row * 9 + column;
      bits = (bits << 1n) | (pixels[at + 1]! > pixels[at]! ? 1n : 0n);
    }
  }
  return bits;
}

/** 1 = darker than the middle. */
function twoTone(pixels: Uint8Array): Uint8Array {
  return pixels.map(value => (value < 128 ? 1 : 0));
}

/** ival: rows of `side` bits in groups of 16, each a number; the determinant of MᵀM, exactly. */
export function imageCode(bits: Uint8Array, side: number): bigint {
  const columns = side / 16;
  const rows = Array.from({ length: side }, (_, row) =>
    Array.from({ length: columns }, (_, group) => {
      let value = 0;
      for (let i = 0; i < 16; i++) value = value * 2 + bits[row * side + group * 16 + i]!;
      return BigInt(value);
    }),
  );
  const gram = Array.from({ length: columns }, (_, a) =>
    Array.from({ length: columns }, (_, b) => rows.reduce((sum, row) => sum + row[a]! * row[b]!, 0n)),
  );
  return determinant(gram);
}

/** By Bareiss: every division is exact, so whole numbers stay whole. */
export function determinant(matrix: readonly (readonly bigint[])[]): bigint {
  const m = matrix.map(row => [...row]);
  const n = m.length;
  let sign = 1n;
  let before = 1n;
  for (let k = 0; k < n - 1; k++) {
    const pivot = m.findIndex((row, i) => i >= k && row[k] !== 0n);
    if (pivot < 0) return 0n;
    if (pivot !== k) {
      [m[k], m[pivot]] = [m[pivot]!, m[k]!];
      sign = -sign;
    }
    for (let i = k + 1; i < n; i++) {
      for (let j = k + 1; j < n; j++) m[i]![j] = (m[i]![j]! * m[k]![k]! - m[i]![k]! * m[k]![j]!) / before;
    }
    before = m[k]![k]!;
  }
  return n === 0 ? 1n : sign * m[n - 1]![n - 1]!;
}

/** Whether any image of a page differs; lists as the page names them. */
export function imagesDiffer(
  before: readonly ImageFacts[],
  after: readonly ImageFacts[],
  by: 'bytes' | 'ival' = 'bytes',
): boolean {
  if (before.length !== after.length) return true;
  return before.some((image, i) =>
    by === 'ival' ? image.ival !== after[i]!.ival : Buffer.compare(image.bytes, after[i]!.bytes) !== 0,
  );
}

const LOW = (1n << 64n) - 1n;

/** An image's facts with its look and its code. Of 32 × 32 pixels a code has at most 75 bits. */
export function withImage(facts: Facts, { look, ival }: Pick<ImageFacts, 'look' | 'ival'>): Facts {
  return { ...facts, mainHash: look, linkHash: ival & LOW, tagFirst: Number((ival >> 64n) & 0xffffffffn) };
}

/** The code of an image, by its facts; 0 = it has none. */
export function ivalOf({ linkHash, tagFirst }: Facts): bigint {
  return (BigInt(tagFirst) << 64n) | linkHash;
}
