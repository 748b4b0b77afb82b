/**
 * A changed page as the difference to the version that the receiver holds: zstd with the old version as its dictionary.
 * Where both ends have the old version this is a hundredth of the page and less (bench/archive.ts). Both sides work on
 * decoded bodies: compressed ones share nothing. Measured to work up to 3 MB; at 20 MB zstd finds nothing in a dictionary.
 *
 * A delta is: a version byte, the first 8 bytes of SHA-256 of the old body, the length of the new body, the zstd frame.
 * The digest makes a delta against the wrong old version an error and never a wrong page.
 */
import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '../base/errors.ts';

export interface DeltaLimits {
  /** Bytes of the new version. */
  readonly bytes: number;
}

const VERSION = 1;
const DIGEST_BYTES = 8;
const HEADER_BYTES = 1 + DIGEST_BYTES + 4;
/** Level 3 loses half of the matches on pages of 300 kB, levels above 9 cost more than they save. */
const LEVEL = 9;
/** zstd's own bounds for a window. */
const LEAST_WINDOW_LOG = 10;
const MOST_WINDOW_LOG = 27;

export function makeDelta(before: Uint8Array, after: Uint8Array): Uint8Array {
  // The window must reach back over the new version into all of the old one, or its beginning is never found.
  const span = Math.log2(before.length + after.length + 1);
  const windowLog = Math.min(MOST_WINDOW_LOG, Math.max(LEAST_WINDOW_LOG, Math.ceil(span)));
  const frame = zstdCompressSync(after, {
    ...dictionaryOf(before),
    params: {
      [constants.ZSTD_c_compressionLevel]: LEVEL,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_contentSizeFlag]: 0,
    },
  });
  const delta = Buffer.allocUnsafe(HEADER_BYTES + frame.length);
  delta[0] = VERSION;
  delta.set(identity(before), 1);
  delta.writeUInt32LE(after.length, 1 + DIGEST_BYTES);
  delta.set(frame, HEADER_BYTES);
  return delta;
}

/** Throws `bad-frame` when the delta is damaged, breaks the limit, or was made against another version. */
export function applyDelta(before: Uint8Array, delta: Uint8Array, limits: DeltaLimits): Uint8Array {
  if (delta.length < HEADER_BYTES || delta[0] !== VERSION) throw bad('is not one, or of a newer version');
  if (!identity(before).equals(delta.subarray(1, 1 + DIGEST_BYTES))) throw bad('was made against another version');
  const length = new DataView(delta.buffer, delta.byteOffset).getUint32(1 + DIGEST_BYTES, true);
  if (length > limits.bytes) throw bad(`makes ${length} bytes, more than the ${limits.bytes} allowed`);
  let after: Uint8Array;
  try {
    after = zstdDecompressSync(delta.subarray(HEADER_BYTES), {
      ...dictionaryOf(before),
      maxOutputLength: Math.max(1, length),
      params: { [constants.ZSTD_d_windowLogMax]: MOST_WINDOW_LOG },
    });
  } catch (error) {
    throw bad('does not decompress', error);
  }
  if (after.length !== length) throw bad('does not have the length that it says');
  return after;
}

/** zstd takes no empty dictionary, and takes one that begins with its magic number for a trained one. */
function dictionaryOf(before: Uint8Array): { dictionary?: Uint8Array } {
  if (before.length === 0) return {};
  const trained = MAGIC.every((byte, i) => before[i] === byte);
  return { dictionary: trained ? before.subarray(1) : before };
}

const MAGIC = [0x37, 0xa4, 0x30, 0xec] as const;

function identity(body: Uint8Array): Buffer {
  return hash('sha256', body, 'buffer').subarray(0, DIGEST_BYTES);
}

function bad(problem: string, cause?: unknown): SkeinError {
  return new SkeinError('bad-frame', `the delta ${problem}`, undefined, { cause });
}
