/**
 * WARC 1.1 records, both directions: a record becomes one gzip member, and the bytes of a member become a record.
 * Crawlers write them where the pages are, home appends the members to its archive without opening them.
 *
 * What the records mean, where the standard leaves a choice:
 * - WARC-Payload-Digest is `sha256:` and 64 hexadecimal digits, over the body as it came: transfer coding removed,
 *   content coding kept.
 * - A `Transfer-Encoding` line no longer describes the block, so it is kept as `X-Archive-Orig-Transfer-Encoding`. A
 *   `Content-Length` that is not the length of the body (cut short, or a lie) is kept as
 *   `X-Archive-Orig-Content-Length` and followed by the true one. All other header bytes are as the server sent them.
 * - WARC-Date is when the answer was complete, in milliseconds; request and response share it.
 * - A request names its response in WARC-Concurrent-To and stands right before it.
 *
 * Pure: no files, no clock. Whoever calls gives the time and the record's id.
 */
import { hash, randomUUID } from 'node:crypto';
import { addHeader } from '../header-lines.ts';
import { appendMember, type Effort, growing } from './gzip.ts';

export type WarcRecord = RevisitRecord | InfoRecord | MetadataRecord;

interface CommonFields {
  /** From newRecordId(). */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly time: number;
}

interface OfUrl extends CommonFields {
  readonly url: string;
  /** IP address of the server, empty = unknown. */
  readonly address: string;
}

/** The page was looked at and nothing new came; the body is in an earlier record. */
interface RevisitRecord extends OfUrl {
  readonly kind: 'revisit';
  readonly profile: 'identical-payload-digest' | 'server-not-modified';
  /** Header of this answer, blank line included; may be empty. */
  readonly head: Uint8Array;
  /** SHA-256 of the body it refers to, 32 bytes. */
  readonly digest: Uint8Array;
  readonly refersTo: Original;
}

export interface Original {
  readonly url: string;
  /** Milliseconds since 1970, the WARC-Date of the original. */
  readonly time: number;
}

interface InfoRecord extends CommonFields {
  readonly kind: 'warcinfo';
  readonly filename: string;
  readonly lines: ReadonlyMap<string, string>;
}

interface MetadataRecord extends OfUrl {
  readonly kind: 'metadata';
  readonly concurrentTo: string;
  readonly lines: ReadonlyMap<string, string>;
}

/** What every record ends with. */
export const END = Uint8Array.of(13, 10, 13, 10);
const PROFILE = 'http://netpreserve.org/warc/1.1/revisit/';

export function newRecordId(): string {
  return `<urn:uuid:${randomUUID()}>`;
}

/**
 * SHA-256 of a body as it came, 32 bytes. By way of a string of as many characters: a Buffer costs Node more to make than
 * all else around the sum itself, and this array has its few bytes in itself.
 */
export function payloadDigest(body: Uint8Array): Uint8Array {
  const text = hash('sha256', body, 'latin1');
  const digest = new Uint8Array(32);
  for (let i = 0; i < 32; i++) digest[i] = text.charCodeAt(i);
  return digest;
}

/** As WARC-Payload-Digest and CDXJ write it. */
export function digestLabel(digest: Uint8Array): string {
  return `sha256:${Buffer.from(digest.buffer, digest.byteOffset, digest.byteLength).toString('hex')}`;
}

/** One record as a gzip member of its own. */
export function recordMember(record: WarcRecord, effort: Effort): Uint8Array<ArrayBuffer> {
  const block = blockOf(record);
  const target = growing(1 << 12);
  appendMember(target, [Buffer.from(headOf(record, block.length)), block, END], effort);
  return target.bytes.slice(0, target.length);
}

function blockOf(record: WarcRecord): Uint8Array {
  if (record.kind === 'revisit') return record.head;
  let text = '';
  for (const [name, value] of record.lines) text += line(name, value);
  return Buffer.from(text);
}

/** Dates and digests are made here; all other values go through line(). */
function headOf(record: WarcRecord, length: number): string {
  let text = `WARC/1.1\r\nWARC-Type: ${record.kind}\r\nWARC-Record-ID: ${record.id}\r\nWARC-Date: ${dateOf(record.time)}\r\n`;
  if (record.kind === 'warcinfo') text += line('WARC-Filename', record.filename);
  else {
    text += line('WARC-Target-URI', record.url);
    if (record.address !== '') text += line('WARC-IP-Address', record.address);
  }
  switch (record.kind) {
    case 'revisit':
      text += line('WARC-Profile', PROFILE + record.profile);
      text += `WARC-Payload-Digest: ${digestLabel(record.digest)}\r\n`;
      text += line('WARC-Refers-To-Target-URI', record.refersTo.url);
      text += `WARC-Refers-To-Date: ${dateOf(record.refersTo.time)}\r\n`;
      break;
    case 'metadata':
      text += line('WARC-Concurrent-To', record.concurrentTo);
      break;
    case 'warcinfo':
      break;
  }
  return `${text}Content-Type: ${CONTENT_TYPES[record.kind]}\r\nContent-Length: ${length}\r\n\r\n`;
}

/** A second, and its date up to the point; what comes in one second differs only behind that. */
let dated = { second: -1, text: '' };

export function dateOf(time: number): string {
  const second = Math.floor(time / 1000);
  if (second !== dated.second) dated = { second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  return `${dated.text}${String(Math.floor(time - second * 1000)).padStart(3, '0')}Z`;
}

const CONTENT_TYPES = {
  revisit: 'application/http; msgtype=response',
  warcinfo: 'application/warc-fields',
  metadata: 'application/warc-fields',
} as const;

/** A value that held a line break would end the header or forge another line. */
export function line(name: string, value: string): string {
  return `${name}: ${/[\0-\x1f\x7f]/.test(value) ? value.replace(/[\0-\x1f\x7f]+/g, ' ') : value}\r\n`;
}

/** The header as the archive keeps it: the file's opening comment says what is renamed. */
export function archivedHead(head: Uint8Array, bodyLength: number): Uint8Array {
  const text = latin1(head);
  if (tellsTrue(text, String(bodyLength))) return head;
  let changed = text.replace(/\ntransfer-encoding(?=[ \t]*:)/gi, '\nX-Archive-Orig-Transfer-Encoding');
  const lengths = [...changed.matchAll(/\ncontent-length[ \t]*:[ \t]*([^\r\n]*)/gi)].map(match => match[1]!.trim());
  // A 304 names the length of a body that it does not send.
  const bodiless = /^HTTP\/[\d.]+ (?:1\d\d|204|304)/.test(text);
  if (!bodiless && lengths.some(value => value !== String(bodyLength))) {
    changed = changed.replace(/\ncontent-length(?=[ \t]*:)/gi, '\nX-Archive-Orig-Content-Length');
    changed = changed.replace(/\r?\n\r?\n$/, `\r\nContent-Length: ${bodyLength}\r\n\r\n`);
  }
  return changed === text ? head : Buffer.from(changed, 'latin1');
}

/** No line about the length of the body, or one that is right: nearly every answer, found in one look. */
function tellsTrue(text: string, length: string): boolean {
  const found = LENGTH_LINE.exec(text);
  if (found === null) return true;
  const after = found.index + found[0].length;
  return found[1]!.length === 14 && found[2] === length && !LENGTH_LINE.test(text.slice(after));
}

/** The name in the first group is 14 characters long for Content-Length, 17 for the other. */
const LENGTH_LINE = /\n(transfer-encoding|content-length)[ \t]*:[ \t]*([^\r\n]*)/i;

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** A record as read back; names of headers in lower case, repeated ones joined by ", ". */
export interface ParsedRecord {
  readonly kind: 'record';
  /** `1.1` */
  readonly version: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly block: Uint8Array;
}

interface RecordProblem {
  readonly kind: 'problem';
  readonly problem: string;
}

/** The block of a request, response or revisit. */
export interface HttpMessage {
  /** 0 for a request. */
  readonly status: number;
  readonly head: Uint8Array;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

/** Longest header that is looked at, of a record or of HTTP; ours are below 2 kB, servers send up to 64 kB. */
const HEAD_LIMIT = 1 << 20;

/** The content of a member as a record; it must hold exactly one, with the length that it says. */
export function parseRecord(data: Uint8Array): ParsedRecord | RecordProblem {
  const head = parseRecordHead(data);
  if (head.kind === 'problem') return head;
  const { version, headers, start, length } = head;
  if (start + length > data.length) return problem('record is shorter than its Content-Length');
  const rest = data.subarray(start + length);
  if (rest.length !== END.length || rest.some((byte, i) => byte !== END[i])) {
    return problem('record does not end where its Content-Length says');
  }
  return { kind: 'record', version, headers, block: data.subarray(start, start + length) };
}

interface RecordHead {
  readonly kind: 'head';
  readonly version: string;
  readonly headers: ReadonlyMap<string, string>;
  /** Where the block begins, and its length. */
  readonly start: number;
  readonly length: number;
}

/** The header alone: all that is needed of a record whose block is not wanted. */
export function parseRecordHead(data: Uint8Array): RecordHead | RecordProblem {
  const start = headEnd(data);
  if (start === 0) return problem('record header does not end');
  const text = Buffer.from(data.buffer, data.byteOffset, start).toString('utf8');
  const version = /^WARC\/(\d\.\d+)\r?\n/.exec(text)?.[1];
  if (version === undefined) return problem('not a WARC record');
  const headers = headerLines(text);
  const digits = headers.get('content-length') ?? '';
  if (!/^\d{1,15}$/.test(digits)) return problem('record has no Content-Length');
  return { kind: 'head', version, headers, start, length: Number(digits) };
}

/** Undefined when the block does not begin like HTTP. */
export function parseHttp(block: Uint8Array): HttpMessage | undefined {
  const end = headEnd(block);
  if (end === 0) return undefined;
  const head = block.subarray(0, end);
  const text = latin1(head);
  const status = /^HTTP\/\d(?:\.\d)? +(\d{3})(?:[ \r\n])/.exec(text)?.[1];
  if (status === undefined && !/^[A-Z]+ \S+ HTTP\/\d/.test(text)) return undefined;
  return { status: Number(status ?? 0), head, headers: headerLines(text), body: block.subarray(end) };
}

/** Offset behind the first blank line, 0 when there is none within the limit. */
function headEnd(bytes: Uint8Array): number {
  const limit = Math.min(bytes.length, HEAD_LIMIT);
  for (let at = bytes.indexOf(10); at >= 0 && at < limit; at = bytes.indexOf(10, at + 1)) {
    if (bytes[at + 1] === 10) return at + 2;
    if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3;
  }
  return 0;
}

function headerLines(text: string): Map<string, string> {
  const headers = new Map<string, string>();
  for (const match of text.matchAll(/\n([^\s:]+)[ \t]*:[ \t]*((?:[^\r\n]|\r?\n[ \t])*)/g)) {
    const name = match[1]!.toLowerCase();
    const value = match[2]!.replace(/\s*\n\s*/g, ' ').trimEnd();
    addHeader(headers, name, value);
  }
  return headers;
}

function problem(text: string): RecordProblem {
  return { kind: 'problem', problem: text };
}
