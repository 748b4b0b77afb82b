/**
 * The two records of a page that is kept, request and response, as two gzip members. They are written for every page of a
 * crawl, so their heads are templates: ids and the digest are put in where they stand, and the lines that both have are
 * written once. Joined from strings line by line, heads took longer than the copy of a page and the checksum over it.
 *
 * What the records mean is said in warc.ts. Nothing is kept between pages but memory.
 */

import { randomFillSync } from 'node:crypto';
import { type Borrowed, lent } from '../../base/borrowed.ts';
import type { RecordPlace } from '../visit.ts';
import { appendMember, type Effort, type Growing } from './gzip.ts';
import { appendPart, type KeptResponse, type PartExchange } from './part-records.ts';
import { archivedHead, dateOf, digestLabel, END, line, newRecordId } from './warc.ts';

export interface KeptPage {
  readonly url: string;
  /** Milliseconds since 1970 when the answer was complete: the WARC-Date. */
  readonly time: number;
  /** SHA-256 of the body as it came, 32 bytes. */
  readonly digest: Uint8Array;
  readonly response: KeptResponse;
  /** What else was exchanged to make the page. */
  readonly parts?: readonly PartExchange[] | undefined;
}

/** Appends request and response, behind those of its parts; `effort` is for the response, a request is too small to shrink. */
export function appendPage(target: Growing, page: KeptPage, effort: Effort): RecordPlace {
  const { digest, response } = page;
  const { requestHead, body } = response;
  if (response.protocol === FROM_SITE) return appendResource(target, page, effort);
  const head = tellsTrue(response) ? response.head : archivedHead(response.head, body.length);
  const offset = target.length;
  const ids = twoIds();
  putId(REQUEST.bytes, REQUEST.id, ids);
  putId(REQUEST.bytes, REQUEST.other, ids + ID_BYTES);
  putId(RESPONSE.bytes, RESPONSE.id, ids + ID_BYTES);
  putHex(RESPONSE.bytes, RESPONSE.other, digest);
  for (const part of page.parts ?? []) appendPart(target, part, `<urn:uuid:${idIn(RESPONSE)}>`, effort);
  const common = lent(commonLines(page)); // until both members are appended
  const request = [withLength(REQUEST, requestHead.length), common, requestHead, END];
  appendMember(target, request, 'stored');
  const requestLength = target.length - offset;
  const answer = [withLength(RESPONSE, head.length + body.length), ownLines(response), common, head, body, END];
  const length = appendMember(target, answer, effort);
  return { offset, length: requestLength + length, requestLength };
}

/** What a response has in place of a protocol whose body came in bulk through the site's own face. */
const FROM_SITE = 'site';

/** One record, of the type `resource`: nobody asked for this URL, so there is no request and no HTTP header to keep. */
function appendResource(target: Growing, { url, time, digest, response }: KeptPage, effort: Effort): RecordPlace {
  const { headers, body } = response;
  const changed = headers?.get('last-modified');
  const head =
    `WARC/1.1\r\nWARC-Type: resource\r\nWARC-Record-ID: ${newRecordId()}\r\nWARC-Date: ${dateOf(time)}\r\n` +
    line('WARC-Target-URI', url) +
    `WARC-Payload-Digest: ${digestLabel(digest)}\r\nSkein-Source: site\r\n` +
    (changed ? line('Skein-Last-Modified', changed) : '') +
    line('Content-Type', headers?.get('content-type') ?? 'application/octet-stream') +
    `Content-Length: ${body.length}\r\n\r\n`;
  const offset = target.length;
  const length = appendMember(target, [Buffer.from(head), body, END], effort);
  return { offset, length, requestLength: 0 };
}

/** Nothing about the length of the body, or what is right: so with nearly every answer. Else archivedHead looks at it. */
function tellsTrue({ headers, body }: KeptResponse): boolean {
  if (headers === undefined || headers.has('transfer-encoding')) return false;
  const length = headers.get('content-length');
  return length === undefined || length === String(body.length);
}

/** The first lines of a head, in memory that the next of its kind is written to. */
interface RecordTemplate {
  readonly bytes: Uint8Array;
  /** Where the record's id stands, and the other field of a fixed width. */
  readonly id: number;
  readonly other: number;
  /** Where the length of the block goes, with which the template ends. */
  readonly length: number;
}

const BLANK_ID = '00000000-0000-0000-0000-000000000000';
/** Digits of a length, and the end of its line. */
const LENGTH_BYTES = 18;

const REQUEST = template('request', 'WARC-Concurrent-To: <urn:uuid:', `${BLANK_ID}>`);
const RESPONSE = template('response', 'WARC-Payload-Digest: sha256:', '0'.repeat(64));

function template(kind: 'request' | 'response', name: string, blank: string): RecordTemplate {
  const first = `WARC/1.1\r\nWARC-Type: ${kind}\r\nWARC-Record-ID: <urn:uuid:`;
  const second = `${first}${BLANK_ID}>\r\n${name}`;
  const text = `${second}${blank}\r\nContent-Type: application/http; msgtype=${kind}\r\nContent-Length: `;
  const bytes = new Uint8Array(text.length + LENGTH_BYTES);
  Buffer.from(bytes.buffer).write(text, 'latin1');
  return { bytes, id: first.length, other: second.length, length: text.length };
}

const HTTP1 = Buffer.from(line('WARC-Protocol', 'http/1.1'));

/** Lines that only the response has. */
function ownLines({ protocol, truncated }: KeptResponse): Uint8Array {
  if (protocol === 'http/1.1' && truncated === undefined) return HTTP1;
  const first = protocol === '' ? '' : line('WARC-Protocol', protocol);
  return Buffer.from(truncated === undefined ? first : first + line('WARC-Truncated', truncated));
}

function withLength({ bytes, length }: RecordTemplate, blockLength: number): Uint8Array {
  let end = length + 1;
  for (let left = blockLength; left > 9; left = Math.floor(left / 10)) end++;
  let left = blockLength;
  for (let at = end - 1; at >= length; at--) {
    bytes[at] = 48 + (left % 10);
    left = Math.floor(left / 10);
  }
  bytes[end] = 13;
  bytes[end + 1] = 10;
  return bytes.subarray(0, end + 2);
}

let lines = Buffer.alloc(4096);

/** The last lines, which request and response have in common, with the blank one. */
function commonLines({ url, time, response }: KeptPage): Borrowed<Uint8Array> {
  let text = `WARC-Date: ${dateOf(time)}\r\n${line('WARC-Target-URI', url)}`;
  if (response.address !== '') text += line('WARC-IP-Address', response.address);
  text += '\r\n';
  const most = text.length * 3; // a UTF-16 unit is at most three bytes of UTF-8
  if (most > lines.length) lines = Buffer.alloc(most);
  return lines.subarray(0, lines.write(text));
}

/** Random bytes for many ids at once: asking for them takes longer than they do. */
const RANDOM = new Uint8Array(4096);
const ID_BYTES = 16;
let used = RANDOM.length;

/** Where in RANDOM two new ids begin: UUIDs of version 4. */
function twoIds(): number {
  if (used === RANDOM.length) {
    randomFillSync(RANDOM);
    used = 0;
  }
  const start = used;
  used += 2 * ID_BYTES;
  for (let at = start; at < used; at += ID_BYTES) {
    RANDOM[at + 6] = (RANDOM[at + 6]! & 0x0f) | 0x40;
    RANDOM[at + 8] = (RANDOM[at + 8]! & 0x3f) | 0x80;
  }
  return start;
}

function putId(out: Uint8Array, at: number, id: number): void {
  let to = at;
  for (let i = 0; i < ID_BYTES; i++, to += 2) {
    if (i === 4 || i === 6 || i === 8 || i === 10) to++; // the hyphen stands there already
    putByte(out, to, RANDOM[id + i]!);
  }
}

function idIn({ bytes, id }: RecordTemplate): string {
  return Buffer.from(bytes.buffer, id, BLANK_ID.length).toString('latin1');
}

function putHex(out: Uint8Array, at: number, bytes: Uint8Array): void {
  for (let i = 0; i < bytes.length; i++) putByte(out, at + 2 * i, bytes[i]!);
}

const DIGITS = Buffer.from('0123456789abcdef');

function putByte(out: Uint8Array, at: number, byte: number): void {
  out[at] = DIGITS[byte >> 4]!;
  out[at + 1] = DIGITS[byte & 15]!;
}
