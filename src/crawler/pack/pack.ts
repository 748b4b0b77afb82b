/**
 * The last stage of the crawler: a response becomes two WARC members, request and response, at the end of the bytes
 * that will travel as the parcel's member section. Compressing is the dearest step of the whole pipeline, so the effort
 * follows the load; what came compressed is never compressed again.
 */

import type { RecordPlace } from '../../errand/visit.ts';
import { type Effort, type Growing, growing } from '../../errand/warc/gzip.ts';
import { appendPage, type KeptPage } from '../../errand/warc/page-records.ts';
import type { Response } from '../stages.ts';

/** A response that is to be kept. */
export interface Kept extends KeptPage {
  readonly response: Response;
}

export interface PackOptions {
  /** Bytes of the first buffer; later ones are as large as parcels were, up to 8 MiB. Default 1 MiB. */
  readonly firstBytes?: number;
  /** Effort for bodies that compress, while the thread has more to do than it can. Default `stored`. */
  readonly whenBusy?: Effort;
  /** And while it waits for servers. Default `small`. */
  readonly whenIdle?: Effort;
}

export interface Packer {
  /** Appends request and response; `busy`: the thread has answers waiting. */
  add(kept: Kept, busy: boolean): RecordPlace;
  /** Bytes packed since the last take(). */
  readonly length: number;
  /** The members packed so far, in a buffer of their own that may be transferred; the packer starts anew. */
  take(): Uint8Array<ArrayBuffer>;
  /** Hands back what take() gave, once it was copied, so that the next parcel needs no new buffer. */
  reuse(members: Uint8Array<ArrayBuffer>): void;
}

/** A buffer larger than this goes once its parcel has gone. */
export const KEPT_BYTES = 1 << 23;
/** Below this a deflate state costs more than the bytes it saves. */
const SMALL_BODY = 512;
const COMPRESSED_TYPES =
  /^(?:image\/(?!svg|bmp|x-icon|vnd\.microsoft)|video\/|audio\/(?!midi|wav|x-wav)|font\/woff|application\/(?:zip|gzip|x-gzip|x-7z|x-rar|x-bzip|x-xz|zstd|pdf|epub|java-archive|vnd\.openxml|vnd\.oasis|wasm|ogg))/i;

/** True when deflate would find nothing left: a content coding, a compressed format, or hardly any bytes. */
export function cameCompressed(response: Response): boolean {
  if (response.body.length < SMALL_BODY) return true;
  const coding = response.headers.get('content-encoding');
  if (coding !== undefined && coding !== '' && coding.toLowerCase() !== 'identity') return true;
  return COMPRESSED_TYPES.test(response.headers.get('content-type') ?? '');
}

export function packer(options: PackOptions = {}): Packer {
  const { firstBytes = 1 << 20, whenBusy = 'stored', whenIdle = 'small' } = options;
  let target: Growing | undefined;
  let spare: Uint8Array<ArrayBuffer> | undefined;
  let nextBytes = firstBytes;
  return {
    add(kept, busy) {
      if (target === undefined) {
        target = spare ? { bytes: spare, length: 0 } : growing(nextBytes);
        spare = undefined;
      }
      const effort = busy ? whenBusy : whenIdle;
      return appendPage(target, kept, effort === 'stored' || cameCompressed(kept.response) ? 'stored' : effort);
    },
    get length() {
      return target?.length ?? 0;
    },
    take() {
      if (target === undefined) return new Uint8Array(0);
      const { bytes, length } = target;
      nextBytes = Math.min(bytes.length, KEPT_BYTES);
      target = undefined;
      return bytes.subarray(0, length);
    },
    reuse(members) {
      const { byteLength } = members.buffer;
      // A buffer that was transferred has no bytes left; one that a single huge page made is not worth holding on to.
      if (byteLength > 0 && byteLength <= KEPT_BYTES) spare = new Uint8Array(members.buffer);
    },
  };
}
