/** Reading stored records back: one by its place, with its body as it came or decoded. */
import * as fs from 'node:fs';
import path from 'node:path';
import { SkeinError } from '../base/errors.ts';
import { decodeBody } from '../errand/warc/decode.ts';
import { readMember } from '../errand/warc/gzip.ts';
import { type HttpMessage, type Original, type ParsedRecord, parseHttp, parseRecord } from '../errand/warc/warc.ts';
import { segmentName } from './segments.ts';

/** Where a visit's records lie. The response, or the revisit, follows the request. */
export interface StoredPlace {
  readonly segment: number;
  readonly offset: number;
  /** Of request and response together. */
  readonly length: number;
  readonly requestLength: number;
}

export interface Stored {
  /** `response`, `revisit`, `request`, `warcinfo`, … */
  readonly type: string;
  readonly url: string;
  /** Milliseconds since 1970; NaN when the record does not say. */
  readonly time: number;
  /** As WARC-Payload-Digest writes it; empty when the record has none. */
  readonly digest: string;
  /** The record's own headers, names in lower case. */
  readonly record: ReadonlyMap<string, string>;
  /** HTTP status, 0 when the block is not a response. */
  readonly status: number;
  /** HTTP headers, names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly head: Uint8Array;
  /** As it came, content coding kept. Empty in a revisit. */
  readonly body: Uint8Array;
  /** What a revisit refers to. */
  readonly original: Original | undefined;
  /** The body with its content coding removed, at most `limit` bytes of it. */
  decoded(limit?: number): Plain;
}

/** A body without its content coding. What does not decode is data, not an exception. */
export interface Plain {
  readonly bytes: Uint8Array;
  /** Why `bytes` are not the whole body; absent = they are. */
  readonly problem?: 'bad-coding' | 'bomb' | 'too-large' | 'cut-short';
}

export interface StoredReader {
  /** Throws `damaged` when there is no such record there. */
  read(place: StoredPlace): Stored;
}

/** Says where the body is that a revisit refers to; the ledger knows. */
export type Resolver = (original: Original, digest: string) => StoredPlace | undefined;

const NO_BYTES = new Uint8Array(0);
const NO_HEADERS: ReadonlyMap<string, string> = new Map();
/** Bytes that one record may expand to. Bodies are cut at the crawl's own limit long before. */
export const RECORD_LIMIT = 2 ** 28;
const OPEN_FILES = 16;

export function storedOf(record: ParsedRecord): Stored {
  const { headers, block } = record;
  const type = headers.get('warc-type') ?? '';
  const isHttp = /^application\/http\b/i.test(headers.get('content-type') ?? '');
  const message: HttpMessage | undefined = isHttp ? parseHttp(block) : undefined;
  const body = message?.body ?? (isHttp ? NO_BYTES : block);
  const refersTo = headers.get('warc-refers-to-target-uri');
  const http = message?.headers ?? NO_HEADERS;
  return {
    type,
    url: headers.get('warc-target-uri') ?? '',
    time: Date.parse(headers.get('warc-date') ?? ''),
    digest: headers.get('warc-payload-digest') ?? '',
    record: headers,
    status: message?.status ?? 0,
    headers: http,
    head: message?.head ?? NO_BYTES,
    body,
    original: refersTo ? { url: refersTo, time: Date.parse(headers.get('warc-refers-to-date') ?? '') } : undefined,
    decoded: (limit = RECORD_LIMIT) => plainOf(body, http.get('content-encoding'), limit),
  };
}

/** By the same rules as when it came, so that whatever was analysed then can be read again. */
function plainOf(body: Uint8Array, encoding: string | undefined, limit: number): Plain {
  const decoded = decodeBody(body, encoding, { bodyBytes: limit });
  if (decoded.kind === 'failed') return { bytes: NO_BYTES, problem: decoded.reason };
  const { bytes, truncated } = decoded;
  if (truncated === undefined) return { bytes };
  return { bytes, problem: truncated === 'length' ? 'too-large' : 'cut-short' };
}

/** Media type without parameters, in lower case; empty when the server sent none. */
export function mediaType(headers: ReadonlyMap<string, string>): string {
  return (headers.get('content-type') ?? '').split(';')[0]!.trim().toLowerCase();
}

/** The record that holds the body: `stored` itself, or what a revisit leads to. Undefined when it leads nowhere. */
export function followRevisit(reader: StoredReader, stored: Stored, resolve: Resolver): Stored | undefined {
  let at: Stored | undefined = stored;
  // A revisit refers to a response; one that leads from revisit to revisit is wrong, and may be a circle.
  for (let hops = 0; at?.type === 'revisit' && hops < 3; hops++) {
    const place: StoredPlace | undefined = at.original && resolve(at.original, at.digest);
    at = place && reader.read(place);
  }
  return at?.type === 'revisit' ? undefined : at;
}

/** Keeps a few segments open, the ones used last. */
export function readStored(directory: string): StoredReader & { close(): void } {
  const handles = new Map<number, number>();
  const open = (segment: number): number => {
    const handle = handles.get(segment) ?? fs.openSync(path.join(directory, segmentName(segment)), 'r');
    handles.delete(segment);
    handles.set(segment, handle);
    for (const [oldest, unused] of handles) {
      if (handles.size <= OPEN_FILES) break;
      fs.closeSync(unused);
      handles.delete(oldest);
    }
    return handle;
  };
  return {
    read(place) {
      const bytes = bytesAt(open, place);
      const member = readMember(bytes, RECORD_LIMIT);
      if (member.kind !== 'member') throw damaged(place, member.kind === 'short' ? 'cut short' : member.problem);
      if (member.length !== bytes.length) throw damaged(place, 'the record is not as long as the ledger says');
      const record = parseRecord(member.data);
      if (record.kind === 'problem') throw damaged(place, record.problem);
      return storedOf(record);
    },
    close() {
      for (const handle of handles.values()) fs.closeSync(handle);
      handles.clear();
    },
  };
}

/** The bytes of the response, without the request before it. */
function bytesAt(open: (segment: number) => number, place: StoredPlace): Uint8Array {
  const { segment, offset, length, requestLength } = place;
  const bytes = Buffer.allocUnsafe(length - requestLength);
  let handle: number;
  try {
    handle = open(segment);
  } catch (error) {
    throw damaged(place, 'the segment is missing', error);
  }
  const read = fs.readSync(handle, bytes, 0, bytes.length, offset + requestLength);
  if (read < bytes.length) throw damaged(place, 'beyond the end of the segment');
  return bytes;
}

function damaged(place: StoredPlace, problem: string, cause?: unknown): SkeinError {
  return new SkeinError(
    'damaged',
    `${segmentName(place.segment)} at ${place.offset}: ${problem}`,
    'Run `skein verify` to see how much of the archive is affected.',
    { cause },
  );
}
