/**
 * How errands and parcels are packed for the way: one function each, both directions side by side. What comes out is
 * opaque to relays and to the spool. Limits on size and ratio keep a hostile end from filling the memory of the other.
 */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '../base/errors.ts';
import type { Errand } from '../errand/errand.ts';
import { decodeErrand, encodeErrand } from '../errand/errand-codec.ts';
import type { Parcel } from '../errand/parcel.ts';
import { decodeParcel, encodeParcel } from '../errand/parcel-codec.ts';

const LARGEST = 256 << 20;
const LARGEST_RATIO = 200;
/** Below this the ratio says nothing: a few hundred equal bytes shrink to almost none. */
const SMALL = 1 << 20;

export function packErrand(errand: Errand): Uint8Array {
  return zstdCompressSync(encodeErrand(errand));
}

export function unpackErrand(bytes: Uint8Array): Errand {
  return decodeErrand(expand(bytes));
}

export function packParcel(parcel: Parcel): Uint8Array {
  return zstdCompressSync(encodeParcel(parcel));
}

export function unpackParcel(bytes: Uint8Array): Parcel {
  return decodeParcel(expand(bytes));
}

function expand(bytes: Uint8Array): Uint8Array {
  const most = Math.min(LARGEST, Math.max(SMALL, bytes.length * LARGEST_RATIO));
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: most });
  } catch (error) {
    const why = (error as Error).message;
    throw new SkeinError('bad-frame', `A packed message does not unpack: ${why}.`, undefined, { cause: error });
  }
}
