/**
 * Gzip members, written one after another into one growing buffer: a file of members is itself a gzip file, and any
 * member of it can be read alone. Three efforts, because compressing is the dearest step of keeping a page: for a 41 kB
 * page `stored` costs about 20 µs, `fast` 400 µs, `small` 1,000 µs (bench/archive.ts).
 */
import { constants, crc32, gzipSync } from 'node:zlib';

/**
 * stored: not compressed at all; right for what came compressed, and for blocks of a few hundred bytes
 * fast:   deflate level 1
 * small:  deflate level 6
 */
export type Effort = 'stored' | 'fast' | 'small';

/** Bytes that grow at the end. What lies behind `length` is free. */
export interface Growing {
  bytes: Uint8Array;
  length: number;
}

const HEADER_BYTES = 10;
const BLOCK_HEADER_BYTES = 5;
const TRAILER_BYTES = 8;
/** A stored deflate block counts its bytes in 16 bits. */
const BLOCK_BYTES = 0xffff;
const LEVELS = { fast: constants.Z_BEST_SPEED, small: 6 } as const;

export function growing(firstBytes = 1 << 16): Growing {
  return { bytes: new Uint8Array(firstBytes), length: 0 };
}

/** Room for `more` bytes behind `length`, doubling as needed. */
export function reserve(target: Growing, more: number): void {
  const needed = target.length + more;
  if (needed <= target.bytes.length) return;
  const larger = new Uint8Array(Math.max(needed, target.bytes.length * 2));
  larger.set(target.bytes.subarray(0, target.length));
  target.bytes = larger;
}

/** Appends `text` and then `parts` as one gzip member; returns the bytes it took. */
export function appendMember(target: Growing, text: string, parts: readonly Uint8Array[], effort: Effort): number {
  let most = text.length * 3; // a UTF-16 unit is at most three bytes of UTF-8
  for (const part of parts) most += part.length;
  return effort === 'stored' ? appendStored(target, text, parts, most) : appendDeflated(target, text, parts, most, effort);
}

/**
 * The bytes are laid down behind the room that all headers need; then every block but the last, which is in place
 * already, moves down to its own. A record below 64 kB is thus copied once and never moved.
 */
function appendStored(target: Growing, text: string, parts: readonly Uint8Array[], most: number): number {
  const mostBlocks = Math.floor(most / BLOCK_BYTES) + 1;
  reserve(target, HEADER_BYTES + mostBlocks * BLOCK_HEADER_BYTES + most + TRAILER_BYTES);
  const { bytes } = target;
  const first = target.length + HEADER_BYTES;
  let start = first + mostBlocks * BLOCK_HEADER_BYTES;
  const size = gather(bytes, start, text, parts);
  const blocks = Math.max(1, Math.ceil(size / BLOCK_BYTES));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sum = crc32(bytes.subarray(start, start + size));
  let at = first;
  for (let left = size, block = 1; block <= blocks; block++) {
    const count = Math.min(left, BLOCK_BYTES);
    bytes[at] = block === blocks ? 1 : 0; // final bit; type 00 = stored
    view.setUint16(at + 1, count, true);
    view.setUint16(at + 3, count ^ BLOCK_BYTES, true);
    at += BLOCK_HEADER_BYTES;
    if (at !== start) bytes.copyWithin(at, start, start + count);
    at += count;
    start += count;
    left -= count;
  }
  view.setUint32(at, sum, true);
  view.setUint32(at + 4, size, true);
  // Magic, deflate, no flags, no time, no hint, system unknown.
  bytes.set(MEMBER_HEADER, target.length);
  const length = at + TRAILER_BYTES - target.length;
  target.length += length;
  return length;
}

const MEMBER_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

function appendDeflated(
  target: Growing,
  text: string,
  parts: readonly Uint8Array[],
  most: number,
  effort: 'fast' | 'small',
): number {
  // Gathered in the free room of the buffer itself, then replaced by what it compresses to.
  reserve(target, most);
  const size = gather(target.bytes, target.length, text, parts);
  const member = gzipSync(target.bytes.subarray(target.length, target.length + size), { level: LEVELS[effort] });
  reserve(target, member.length);
  target.bytes.set(member, target.length);
  target.length += member.length;
  return member.length;
}

const encoder = new TextEncoder();

function gather(bytes: Uint8Array, offset: number, text: string, parts: readonly Uint8Array[]): number {
  let at = offset + encoder.encodeInto(text, bytes.subarray(offset, offset + text.length * 3)).written;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return at - offset;
}
