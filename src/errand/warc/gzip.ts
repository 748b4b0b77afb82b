/**
 * Gzip members, written one after another into one growing buffer and read back one at a time: a file of members is
 * itself a gzip file, and any member of it can be read alone. Three efforts, because compressing is the dearest step of
 * keeping a page: bench/archive.ts prints what each costs.
 */
import { constants, crc32, gzipSync, inflateRawSync } from 'node:zlib';
import { deflateInput, inputRoom, MAX_INPUT } from '../deflate/deflate.ts';

/**
 * stored: not compressed at all; right for what came compressed, and for blocks of a few hundred bytes
 * fast:   our own encoder, a quarter of the time of small for a fifth more bytes
 * small:  zlib's level 6
 */
export type Effort = 'stored' | 'fast' | 'small';

/** Bytes that grow at the end. What lies behind `length` is free. */
export interface Growing {
  bytes: Uint8Array<ArrayBuffer>;
  length: number;
}

type GzipMember =
  | { readonly kind: 'member'; readonly data: Uint8Array /** Compressed bytes. */; readonly length: number }
  /** The member goes on behind the bytes given. */
  | { readonly kind: 'short' }
  | { readonly kind: 'problem'; readonly problem: string };

const HEADER_BYTES = 10;
const BLOCK_HEADER_BYTES = 5;
const TRAILER_BYTES = 8;
/** A stored deflate block counts its bytes in 16 bits. */
const BLOCK_BYTES = 0xffff;
const LEVEL = 6;
/** Magic, deflate, no flags, no time, no hint, system unknown. */
const MEMBER_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255);

export function growing(firstBytes = 1 << 16): Growing {
  return { bytes: new Uint8Array(firstBytes), length: 0 };
}

/** Makes room for `more` bytes behind `length`, at least doubling when it must. */
function reserve(target: Growing, more: number): void {
  const needed = target.length + more;
  if (needed <= target.bytes.length) return;
  const larger = new Uint8Array(Math.max(needed, target.bytes.length * 2));
  larger.set(target.bytes.subarray(0, target.length));
  target.bytes = larger;
}

/** Appends one member that holds the parts; returns the bytes it took. */
export function appendMember(target: Growing, parts: readonly Uint8Array[], effort: Effort): number {
  let size = 0;
  for (let i = 0; i < parts.length; i++) size += parts[i]!.length;
  if (effort === 'stored') return appendStored(target, parts, size);
  return effort === 'fast' ? appendFast(target, parts, size) : appendSmall(target, parts, size);
}

/**
 * The content is laid down behind the room that all headers need; then every block but the last, which is in place
 * already, moves down to its own. A record below 64 kB is thus copied once and never moved.
 */
function appendStored(target: Growing, parts: readonly Uint8Array[], size: number): number {
  const blocks = Math.floor(Math.max(0, size - 1) / BLOCK_BYTES) + 1;
  const length = HEADER_BYTES + blocks * BLOCK_HEADER_BYTES + size + TRAILER_BYTES;
  reserve(target, length);
  const { bytes } = target;
  let at = target.length + HEADER_BYTES;
  let start = at + blocks * BLOCK_HEADER_BYTES;
  gather(bytes, start, parts);
  const sum = crc32(bytes.subarray(start, start + size));
  let left = size;
  do {
    const count = Math.min(left, BLOCK_BYTES);
    bytes[at] = count === left ? 1 : 0; // final bit; type 00 = stored
    put32(bytes, at + 1, count | (~count << 16));
    at += BLOCK_HEADER_BYTES;
    if (at !== start) bytes.copyWithin(at, start, start + count);
    at += count;
    start += count;
    left -= count;
  } while (left > 0);
  put32(bytes, at, sum);
  put32(bytes, at + 4, size);
  bytes.set(MEMBER_HEADER, target.length);
  target.length += length;
  return length;
}

/** Little-endian, as gzip has it. Byte by byte: a DataView costs more to make than it saves. */
function put32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}

/** zlib's fastest level takes 1.8 times as long for the same bytes (bench/deflate.ts). */
function appendFast(target: Growing, parts: readonly Uint8Array[], size: number): number {
  if (size > MAX_INPUT) return appendSmall(target, parts, size);
  const input = inputRoom(size);
  gather(input, 0, parts);
  const sum = crc32(input.subarray(0, size));
  const stream = deflateInput(size);
  if (stream.length > size) return appendStored(target, parts, size);
  reserve(target, HEADER_BYTES + stream.length + TRAILER_BYTES);
  const { bytes, length } = target;
  bytes.set(MEMBER_HEADER, length);
  bytes.set(stream, length + HEADER_BYTES);
  const end = length + HEADER_BYTES + stream.length;
  put32(bytes, end, sum);
  put32(bytes, end + 4, size);
  target.length = end + TRAILER_BYTES;
  return target.length - length;
}

/** Gathered in the free room of the buffer itself, then replaced by what it compresses to. */
function appendSmall(target: Growing, parts: readonly Uint8Array[], size: number): number {
  reserve(target, size);
  gather(target.bytes, target.length, parts);
  const member = gzipSync(target.bytes.subarray(target.length, target.length + size), { level: LEVEL });
  reserve(target, member.length);
  target.bytes.set(member, target.length);
  target.length += member.length;
  return member.length;
}

function gather(bytes: Uint8Array, offset: number, parts: readonly Uint8Array[]): void {
  let at = offset;
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i]!;
    bytes.set(part, at);
    at += part.length;
  }
}

/** The member that begins at `bytes[0]`, checked against its checksum and length. `limit`: bytes it may expand to. */
export function readMember(bytes: Uint8Array, limit: number): GzipMember {
  const start = contentStart(bytes);
  if (start === 0) return { kind: 'problem', problem: 'not a gzip member' };
  if (start > bytes.length) return { kind: 'short' };
  let data: Uint8Array;
  let used: number;
  try {
    // Raw, because gunzip would go on into the next member and not say where this one ended.
    const result = inflateRawSync(bytes.subarray(start), { info: true, maxOutputLength: limit }) as unknown as Inflated;
    data = result.buffer;
    used = start + result.engine.bytesWritten;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'Z_BUF_ERROR') return { kind: 'short' };
    if (code === 'ERR_BUFFER_TOO_LARGE') return { kind: 'problem', problem: `expands to more than ${limit} bytes` };
    return { kind: 'problem', problem: 'cannot be decompressed' };
  }
  if (used + TRAILER_BYTES > bytes.length) return { kind: 'short' };
  const view = new DataView(bytes.buffer, bytes.byteOffset + used, TRAILER_BYTES);
  if (view.getUint32(0, true) !== crc32(data)) return { kind: 'problem', problem: 'gzip checksum is wrong' };
  if (view.getUint32(4, true) !== data.length >>> 0) return { kind: 'problem', problem: 'gzip length is wrong' };
  return { kind: 'member', data, length: used + TRAILER_BYTES };
}

interface Inflated {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

/** The first bytes of a member's content, without checking it: enough for the head of a record. */
export function peekMember(bytes: Uint8Array, want: number): Uint8Array | undefined {
  const start = contentStart(bytes);
  if (start === 0 || start > bytes.length) return undefined;
  // Each input byte can expand a lot, so a slice of the input is enough, and bounds the output to a thousand times it.
  const slice = bytes.subarray(start, start + want + 64);
  try {
    return inflateRawSync(slice, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, want);
  } catch {
    return undefined; // damaged: the caller treats it as a record without a head
  }
}

/** Where the deflate stream begins: 0 = this is no gzip member, beyond the end = the header is cut. */
function contentStart(bytes: Uint8Array): number {
  if (bytes.length < HEADER_BYTES) return HEADER_BYTES + 1;
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8) return 0;
  const flags = bytes[3]!;
  if (flags > 0x1f) return 0;
  let at = HEADER_BYTES;
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  for (const flag of [8, 16]) if (flags & flag) at = afterZero(bytes, at);
  if (flags & 2) at += 2;
  return at < bytes.length ? at : bytes.length + 1;
}

function afterZero(bytes: Uint8Array, from: number): number {
  const zero = bytes.indexOf(0, from);
  return zero < 0 ? bytes.length : zero + 1;
}
