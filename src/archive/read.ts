/** Reading stored records back: one by its place, with its body as it came or decoded. */
import { SkeinError } from '../base/errors.ts';
import { decodeBody } from '../errand/warc/decode.ts';
import { readMember } from '../errand/warc/gzip.ts';
import {
  digestLabel,
  type HttpMessage,
  type Original,
  type ParsedRecord,
  parseHttp,
  parseRecord,
  payloadDigest,
} from '../errand/warc/warc.ts';
import { segmentName } from './segments.ts';
import { MissingSegment, type SegmentSource, type SegmentsHere } from './store/segment-store.ts';

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
  read(place: StoredPlace): Promise<Stored>;
}

/** Reads what lies on this disk, without waiting. */
interface StoredReaderHere {
  read(place: StoredPlace): Stored;
}

/** Finds the body that a revisit refers to: the ledger knows where it is. */
export type Resolver = (original: Original, digest: string) => StoredPlace | undefined;

const NO_BYTES = new Uint8Array(0);
const NO_HEADERS: ReadonlyMap<string, string> = new Map();
/** Bytes that one record may expand to. Bodies are cut at the crawl's own limit long before. */
export const RECORD_LIMIT = 2 ** 28;

export function storedOf(record: ParsedRecord): Stored {
  const { headers, block } = record;
  const type = headers.get('warc-type') ?? '';
  const isHttp = /^application\/http\b/i.test(headers.get('content-type') ?? '');
  const message = isHttp ? parseHttp(block) : type === 'resource' ? asAnswered(headers, block) : undefined;
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

/**
 * A resource record has no HTTP header: it did not come as an answer to a request for its URL. Whoever reads pages gets
 * what a server would have said of it.
 */
function asAnswered(headers: ReadonlyMap<string, string>, body: Uint8Array): HttpMessage {
  const type = headers.get('content-type') ?? 'application/octet-stream';
  const changed = headers.get('skein-last-modified');
  const lines = `Content-Type: ${type}\r\n${changed ? `Last-Modified: ${changed}\r\n` : ''}`;
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${lines}\r\n`, 'latin1');
  return { status: 200, head, headers: parseHttp(head)!.headers, body };
}

/** Decodes by the crawler's own rules, so that whatever it could analyse can be read again. */
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

/**
 * A walk from record to record, which asks for one place after the other: whoever runs it reads them, at once from this disk
 * (readHere) or as they come (readLater).
 */
export type ArchiveReading<T> = Generator<StoredPlace, T, Stored>;

/** The record that holds the body: `stored` itself, or what a revisit leads to. Undefined when it leads nowhere. */
export function* followRevisit(stored: Stored, resolve: Resolver): ArchiveReading<Stored | undefined> {
  let at: Stored | undefined = stored;
  // A revisit refers to a response; one that leads from revisit to revisit is wrong, and may be a circle.
  for (let hops = 0; at?.type === 'revisit' && hops < 3; hops++) {
    const place: StoredPlace | undefined = at.original && resolve(at.original, at.digest);
    at = place && (yield place);
  }
  return at?.type === 'revisit' ? undefined : at;
}

export async function readLater<T>(reader: StoredReader, reading: ArchiveReading<T>): Promise<T> {
  let step = reading.next();
  while (!step.done) step = reading.next(await reader.read(step.value));
  return step.value;
}

export function readHere<T>(reader: StoredReaderHere, reading: ArchiveReading<T>): T {
  let step = reading.next();
  while (!step.done) step = reading.next(reader.read(step.value));
  return step.value;
}

/** `checked`: payloads are compared with their digests, too, because the bytes may come from another machine. */
export function readStored(
  source: SegmentSource,
  { checked = false }: { readonly checked?: boolean } = {},
): StoredReader {
  return {
    async read(place) {
      const bytes = roomFor(place);
      try {
        const read = await source.read(place.segment, place.offset + place.requestLength, bytes);
        const stored = recordIn(place, bytes, read);
        if (checked && !hasItsDigest(stored)) throw damaged(place, 'the payload digest does not match');
        return stored;
      } catch (error) {
        throw missingAt(place, error);
      }
    },
  };
}

/** Reads from this disk alone, without waiting: a copy that lies elsewhere counts as damaged. */
export function readStoredHere(here: SegmentsHere): StoredReaderHere {
  return {
    read(place) {
      const bytes = roomFor(place);
      try {
        return recordIn(place, bytes, here.read(place.segment, place.offset + place.requestLength, bytes));
      } catch (error) {
        throw missingAt(place, error);
      }
    },
  };
}

function hasItsDigest({ type, digest, body }: Stored): boolean {
  return type === 'revisit' || digest === '' || digest === digestLabel(payloadDigest(body));
}

/** For the response, without the request before it. */
function roomFor({ length, requestLength }: StoredPlace): Uint8Array {
  return Buffer.allocUnsafe(length - requestLength);
}

function recordIn(place: StoredPlace, bytes: Uint8Array, read: number): Stored {
  if (read < bytes.length) throw damaged(place, 'beyond the end of the segment');
  const member = readMember(bytes, RECORD_LIMIT);
  if (member.kind !== 'member') throw damaged(place, member.kind === 'short' ? 'cut short' : member.problem);
  if (member.length !== bytes.length) throw damaged(place, 'the length of the record differs from the ledger');
  const record = parseRecord(member.data);
  if (record.kind === 'problem') throw damaged(place, record.problem);
  return storedOf(record);
}

function missingAt(place: StoredPlace, error: unknown): unknown {
  return error instanceof MissingSegment ? damaged(place, 'the segment is missing', error) : error;
}

function damaged(place: StoredPlace, problem: string, cause?: unknown): SkeinError {
  return new SkeinError(
    'damaged',
    `${segmentName(place.segment)} at ${place.offset}: ${problem}`,
    'Run `skein verify` to see how much of the archive is affected.',
    { cause },
  );
}
