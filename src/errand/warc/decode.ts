/**
 * Content codings off a body: gzip, deflate in both its readings, br, zstd, stacked up to three. Output is bounded by
 * `limits` before it is made, never after: a bomb costs at most what the limit allows.
 *
 * decodeBody is synchronous, because for a page of usual size handing the work to a thread costs more than the work;
 * decodeLargeBody does the same off the thread, for bodies that would hold up every other connection meanwhile.
 */
import { Readable, type Transform } from 'node:stream';
import zlib from 'node:zlib';

interface DecodeLimits {
  /** Decoded bytes that are kept; more is cut and marked. */
  readonly bodyBytes: number;
}

export type Decoded = DecodedBody | UndecodedBody;

export interface DecodedBody {
  readonly kind: 'ok';
  readonly bytes: Uint8Array;
  /** `length`: cut at bodyBytes, or some way below it; `input`: the coded bytes end too early. Absent = whole. */
  readonly truncated?: 'length' | 'input';
  /** Its checksum says that it is not what was sent. Browsers show such pages all the same. */
  readonly doubtful?: true;
}

interface UndecodedBody {
  readonly kind: 'failed';
  readonly reason: 'bad-coding' | 'bomb';
}

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

const names: ReadonlyMap<string, Coding> = new Map([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ['zstd', 'zstd'],
]);

/** Real codings that we never accept. Any other unknown word (`utf-8`, `none`) is a misunderstanding: no coding. */
const foreign = new Set([
  'compress',
  'x-compress',
  'dcb',
  'dcz',
  'sdch',
  'exi',
  'aes128gcm',
  'pack200-gzip',
  'bzip2',
  'xz',
]);
const maxCodings = 3;
/** No text that people read shrinks more than this; what does is made to fill memory. */
const maxRatio = 200;
/** Below this many bytes the ratio does not matter: an empty table shrinks a lot. */
const harmless = 1_048_576;
/** Coded bytes from which decoding takes long enough to be worth a thread. */
export const largeBody = 1_048_576;

const { constants } = zlib;
/** Flushing at the end gives out what a cut-off input holds, instead of an error. */
const inflateEnd = { finishFlush: constants.Z_SYNC_FLUSH };
const brotliEnd = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
/** 8 MiB of window is all that RFC 9659 lets a server use. */
const zstdEnd = { finishFlush: constants.ZSTD_e_flush, params: { [constants.ZSTD_d_windowLogMax]: 23 } };

export function decodeBody(body: Uint8Array, contentEncoding: string | undefined, limits: DecodeLimits): Decoded {
  const codings = codingsOf(contentEncoding);
  if (codings === undefined) return bad;
  const allowed = allowedFor(body, limits);
  let decoded: Decoded = cutPlain(body, codings.length === 0 ? limits.bodyBytes : Infinity);
  for (const coding of codings) {
    if (decoded.kind === 'failed' || decoded.bytes.length === 0) return decoded;
    const truncated: 'length' | 'input' | undefined = decoded.truncated;
    decoded = inflateWithin(decoded.bytes, coding, allowed, limits);
    if (decoded.kind === 'ok' && truncated !== undefined) decoded = { ...decoded, truncated };
  }
  return decoded;
}

/** As decodeBody, but the work is done by the threads of zlib. */
export async function decodeLargeBody(
  body: Uint8Array,
  contentEncoding: string | undefined,
  limits: DecodeLimits,
): Promise<Decoded> {
  const codings = codingsOf(contentEncoding);
  if (codings === undefined) return bad;
  if (codings.length === 0) return cutPlain(body, limits.bodyBytes);
  const allowed = allowedFor(body, limits);
  let decoded: Decoded = { kind: 'ok', bytes: body };
  for (const coding of codings) {
    if (decoded.kind === 'failed' || decoded.bytes.length === 0) return decoded;
    const truncated: 'length' | 'input' | undefined = decoded.truncated;
    decoded = await streamWithin(decoded.bytes, coding, allowed, limits);
    if (decoded.kind === 'ok' && truncated !== undefined) decoded = { ...decoded, truncated };
  }
  return decoded;
}

const bad: UndecodedBody = { kind: 'failed', reason: 'bad-coding' };
const bomb: UndecodedBody = { kind: 'failed', reason: 'bomb' };

/** Codings in the order in which they come off; undefined = not ours to decode. */
function codingsOf(contentEncoding: string | undefined): Coding[] | undefined {
  const codings: Coding[] = [];
  if (contentEncoding === undefined || contentEncoding === '') return codings;
  for (const part of contentEncoding.toLowerCase().split(',')) {
    const word = part.trim();
    if (foreign.has(word)) return undefined;
    const coding = names.get(word);
    if (coding !== undefined) codings.unshift(coding);
  }
  return codings.length > maxCodings ? undefined : codings;
}

function allowedFor(body: Uint8Array, limits: DecodeLimits): number {
  return Math.min(limits.bodyBytes, Math.max(harmless, body.length * maxRatio));
}

function cutPlain(body: Uint8Array, limit: number): DecodedBody {
  if (body.length <= limit) return { kind: 'ok', bytes: body };
  return { kind: 'ok', bytes: body.subarray(0, limit), truncated: 'length' };
}

function inflateWithin(body: Uint8Array, coding: Coding, allowed: number, limits: DecodeLimits): Decoded {
  const result = inflate(body, coding, allowed);
  if (result !== 'large') return result;
  // The limit of the ratio was the lower one, or would have been met on the way to the other.
  if (allowed < limits.bodyBytes) return bomb;
  return inflateStart(body, coding, allowed);
}

function inflate(body: Uint8Array, coding: Coding, allowed: number): DecodedBody | UndecodedBody | 'large' {
  try {
    return { kind: 'ok', bytes: inflateWhole(body, coding, allowed, false) };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') return 'large';
    if (code !== 'Z_BUF_ERROR') return coding === 'gzip' ? inflateMember(body, allowed) : bad;
  }
  // The input ends too early: once more, for what there is. Rare, so that the usual body is decoded strictly.
  try {
    return { kind: 'ok', bytes: inflateWhole(body, coding, allowed, true), truncated: 'input' };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'large' : bad;
  }
}

function inflateWhole(body: Uint8Array, coding: Coding, allowed: number, partial: boolean): Uint8Array {
  const maxOutputLength = Math.max(1, allowed);
  const end = partial ? inflateEnd : undefined;
  switch (coding) {
    case 'gzip':
      return zlib.gunzipSync(body, { ...end, maxOutputLength });
    case 'deflate':
      return hasZlibHeader(body)
        ? zlib.inflateSync(body, { ...end, maxOutputLength })
        : zlib.inflateRawSync(body, { ...end, maxOutputLength });
    case 'br':
      return zlib.brotliDecompressSync(body, { ...(partial && brotliEnd), maxOutputLength });
    case 'zstd':
      return zlib.zstdDecompressSync(body, { params: zstdEnd.params, ...(partial && zstdEnd), maxOutputLength });
  }
}

/**
 * The first member of a gzip body after which something else follows. zlib calls that an error; servers that append
 * a line of text to what they compressed are common enough, and browsers show such pages.
 */
function inflateMember(body: Uint8Array, allowed: number): DecodedBody | UndecodedBody | 'large' {
  const start = memberStart(body);
  if (start < 0) return bad;
  try {
    const options = { maxOutputLength: Math.max(1, allowed), info: true };
    const coded = body.subarray(start);
    const { buffer, engine } = zlib.inflateRawSync(coded, options) as unknown as {
      buffer: Buffer;
      engine: { bytesWritten: number };
    };
    const sum = Buffer.from(coded.subarray(engine.bytesWritten, engine.bytesWritten + 4));
    const right = sum.length === 4 && sum.readUInt32LE() === zlib.crc32(buffer);
    return { kind: 'ok', bytes: buffer, ...(!right && { doubtful: true }) };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'large' : bad;
  }
}

/** Where the deflate stream of a gzip member begins (RFC 1952 §2.3), -1 when it is none. */
function memberStart(body: Uint8Array): number {
  const flags = body[3] ?? 0;
  if (body[0] !== 0x1f || body[1] !== 0x8b || body[2] !== 8 || flags > 31) return -1;
  let at = 10;
  if (flags & 4) at += 2 + (body[at] ?? 0) + 256 * (body[at + 1] ?? 0);
  for (const flag of [8, 16]) if (flags & flag) at = body.indexOf(0, at) + 1 || body.length;
  if (flags & 2) at += 2;
  return at;
}

/** "deflate" is zlib by the standard and raw by the habit of old servers. */
function hasZlibHeader(body: Uint8Array): boolean {
  return body.length >= 2 && (body[0]! & 15) === 8 && ((body[0]! << 8) | body[1]!) % 31 === 0;
}

/**
 * The start of a body that is larger than allowed. zlib's synchronous calls give all or nothing, so shorter and shorter
 * starts of the input are tried; each try costs no more than `allowed`.
 */
function inflateStart(body: Uint8Array, coding: Coding, allowed: number): Decoded {
  for (let size = body.length >> 1; size > 64; size >>= 1) {
    let best = inflate(body.subarray(0, size), coding, allowed);
    if (best === 'large') continue;
    if (best.kind === 'failed') return best;
    // Output grows about as fast as input: one more try, aimed just below the limit.
    const aim = Math.min(2 * size, Math.floor(0.95 * size * (allowed / Math.max(1, best.bytes.length))));
    const better = inflate(body.subarray(0, aim), coding, allowed);
    if (better !== 'large' && better.kind === 'ok' && better.bytes.length > best.bytes.length) best = better;
    return { kind: 'ok', bytes: best.bytes, truncated: 'length' };
  }
  return bomb;
}

async function streamWithin(body: Uint8Array, coding: Coding, allowed: number, limits: DecodeLimits): Promise<Decoded> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const stream = Readable.from(slices(body)).pipe(streamFor(body, coding));
  const collected = (truncated?: 'length' | 'input'): Decoded => ({
    kind: 'ok',
    bytes: Buffer.concat(chunks, Math.min(size, allowed)),
    ...(truncated && { truncated }),
  });
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= allowed) continue;
      stream.destroy();
      return allowed < limits.bodyBytes ? bomb : collected('length');
    }
    return collected();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'Z_BUF_ERROR') return collected('input');
    if (coding !== 'gzip') return bad;
    const member = inflateMember(body, allowed);
    return member === 'large' ? bad : member;
  }
}

/** In pieces, so that a bomb is noticed before all of the input has been looked at. */
function* slices(body: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < body.length; at += 65_536) yield body.subarray(at, at + 65_536);
}

function streamFor(body: Uint8Array, coding: Coding): Transform {
  const chunkSize = 262_144;
  if (coding === 'gzip') return zlib.createGunzip({ chunkSize });
  if (coding === 'br') return zlib.createBrotliDecompress({ chunkSize });
  if (coding === 'zstd') return zlib.createZstdDecompress({ chunkSize, params: zstdEnd.params });
  return hasZlibHeader(body) ? zlib.createInflate({ chunkSize }) : zlib.createInflateRaw({ chunkSize });
}
