/**
 * The texts that snippets are cut from, as they are stored. By Skein's own encoder, in about the time of zstd's level 1 and
 * little more than half of zlib's (bench/deflate.ts).
 */
import { constants, inflateRawSync } from 'node:zlib';
import { deflateInput, inputRoom } from '../../errand/deflate/deflate.ts';

/** Shorter texts cost more to compress than they save. */
const PACKED_FROM = 2048;
const encoder = new TextEncoder();

/** Columns of a row of `texts`. */
interface PackedText {
  readonly packed: number;
  readonly body: Uint8Array;
}

/** What it gives may change with the next call. */
export function pack(text: string): PackedText {
  if (text.length < PACKED_FROM) return { packed: 0, body: Buffer.from(text) };
  // A UTF-16 unit is at most three bytes of UTF-8.
  const { written } = encoder.encodeInto(text, inputRoom(text.length * 3));
  return { packed: 1, body: deflateInput(written).slice() };
}

/** `most`: bytes of what is stored that are read, for who needs only the beginning of a long text. */
export function unpack({ packed, body }: PackedText, most = body.length): string {
  const read = body.subarray(0, most);
  const { buffer, byteOffset, byteLength } = packed === 0 ? read : inflateRawSync(read, most < body.length ? cut : {});
  return Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
}

/** What is cut off is not missed. */
const cut = { finishFlush: constants.Z_SYNC_FLUSH };
