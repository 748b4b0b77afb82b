/**
 * How errands and parcels are packed for the way: one function each, both directions side by side. What comes out is
 * opaque to relays and to the spool. Limits on size and ratio keep a hostile end from filling the memory of the other.
 *
 * A parcel is one zstd frame with a dictionary of what both ends hold: the versions of its pages that home has stored,
 * the pages that went home before it in the same errand, and what the errand says of its pages. A changed page thus
 * costs about its difference, a change of a template on a hundred pages costs it once, and a new page only what no page
 * of the server had before. A digest of the dictionary travels along, so that a wrong one is an error and never a wrong
 * page. bench/migration.ts prints what it saves; 256 kB of earlier pages are where more stops paying.
 */
import { hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { decodeErrand, encodeErrand } from '../../errand/codec/errand-codec.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Known } from '../../errand/known.ts';
import { type PageTable, unknownPages, withoutPages } from './page-table.ts';
import { indexOf, type Sent, type SentPage, unchanged } from './wire-visit.ts';
import { decodeSent, encodeSent } from './wire-visit-codec.ts';

const LARGEST = 256 << 20;
const LARGEST_RATIO = 200;
/** Below this the ratio says nothing: a few hundred equal bytes shrink to almost none. */
const SMALL = 1 << 20;
/** A first crawl brings many megabytes a second; of what is looked at again little is left to pack, with more effort. */
const LEVEL = 9;
const REFRESH_LEVEL = 17;
/** Bytes of dictionary: zstd finds little in more than this. */
const MOST_DICTIONARY = 3 << 20;
/** Characters of robots.txt that help to say that it is as it was. */
const MOST_ROBOTS = 1 << 16;
const DIGEST_BYTES = 8;
/** A message begins with its form: an errand is whole, or refers to what both ends remember; a parcel always refers. */
const WHOLE = 0;
const RECODED = 1;

/** With a table, what the other end remembers is only referred to; see page-table.ts. */
export function packErrand(errand: Errand, table?: PageTable): Uint8Array {
  if (!table) return Buffer.concat([Uint8Array.of(WHOLE), zstdCompressSync(encodeErrand(errand))]);
  const out = new ByteWriter(1 << 12);
  out.bytes(encodeErrand(withoutPages(errand)));
  table.write(out, errand.pages);
  out.bytes(errand.seen ?? new Uint8Array());
  const head = new ByteWriter(256);
  head.byte(RECODED);
  head.text(errand.server.origin);
  head.bytes(table.root);
  const { terms } = table;
  const frame = zstdCompressSync(out.finish(), {
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_contentSizeFlag]: 0 },
    ...(terms.length > 0 && { dictionary: terms }),
  });
  return Buffer.concat([head.finish(), frame]);
}

interface Tables {
  of(origin: string): PageTable;
  reset(origin: string): void;
}

/** Throws 'not-found' when the errand refers to another table than the one here. */
export function unpackErrand(bytes: Uint8Array, tables?: Tables): Errand {
  if (bytes[0] === WHOLE) return decodeErrand(expand(bytes.subarray(1)));
  const from = new ByteReader(bytes);
  if (from.byte() !== RECODED || !tables) throw bad('its format is unknown');
  const origin = from.text();
  const root = Buffer.from(from.bytes());
  if (root.every(byte => byte === 0)) tables.reset(origin); // home starts anew
  const table = tables.of(origin);
  if (!root.equals(table.root)) throw unknownPages();
  const frame = bytes.subarray(bytes.length - from.left);
  const most = Math.min(LARGEST, Math.max(SMALL, frame.length * LARGEST_RATIO));
  const inner = new ByteReader(inflate(frame, most, table.terms));
  const errand = decodeErrand(inner.bytes());
  if (errand.server.origin !== origin) throw bad('it is about two servers');
  const pages = table.read(inner);
  const seen = inner.bytes();
  inner.end();
  return { ...errand, pages, ...(seen.length > 0 && { seen }) };
}

export function isRecoded(bytes: Uint8Array): boolean {
  return bytes[0] === RECODED;
}

/** The pages of an errand that went home last, at both ends the same. */
export class Recent {
  static readonly BYTES = 256 << 10;
  readonly #blocks = new Map<string, Uint8Array>();
  #bytes = 0;

  add(url: string, block: Uint8Array): void {
    if (block.length > Recent.BYTES / 2) return;
    this.#drop(url);
    this.#blocks.set(url, block);
    this.#bytes += block.length;
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= Recent.BYTES) break;
      this.#drop(oldest);
    }
  }

  get(url: string): Uint8Array | undefined {
    return this.#blocks.get(url);
  }

  urls(): string[] {
    return [...this.#blocks.keys()];
  }

  #drop(url: string): void {
    this.#bytes -= this.#blocks.get(url)?.length ?? 0;
    this.#blocks.delete(url);
  }
}

/** Header and body of a page as the archive keeps them: what a later version is held against. */
export function blockOf(page: SentPage): Uint8Array {
  return Buffer.concat([page.head, page.body]);
}

/** What a parcel may be held against, at one end. */
export interface Shelf {
  readonly errand: Errand;
  readonly recent: Recent;
  /** The version of a page that home has stored; undefined = not at hand. */
  stored(known: Known): Uint8Array | undefined;
}

/** A page that the dictionary holds: of the errand by its place, else by its URL; with its block or only what is known of it. */
type Reference = { readonly place: number; readonly block: boolean } | { readonly url: string };

export function packSent(sent: Sent, shelf: Shelf): Uint8Array {
  const { references, dictionary } = chosen(sent, shelf);
  const head = new ByteWriter(1 << 12);
  head.byte(RECODED);
  writeReferences(head, references);
  const payload = encodeSent(sent, shelf.errand);
  const windowLog = Math.min(26, Math.max(17, Math.ceil(Math.log2(payload.length + dictionary.length + 1))));
  const frame = zstdCompressSync(payload, {
    dictionary,
    params: {
      [constants.ZSTD_c_compressionLevel]: shelf.errand.kind === 'refresh' ? REFRESH_LEVEL : LEVEL,
      [constants.ZSTD_c_windowLog]: windowLog,
      [constants.ZSTD_c_contentSizeFlag]: 0,
      [constants.ZSTD_c_checksumFlag]: 1,
    },
  });
  remember(sent, shelf.recent);
  return Buffer.concat([head.finish(), digestOf(dictionary), frame]);
}

export function unpackSent(bytes: Uint8Array, shelf: Shelf): Sent {
  const from = new ByteReader(bytes);
  if (from.byte() !== RECODED) throw bad('its format is unknown');
  const dictionary = Buffer.concat(piecesOf(readReferences(from), shelf, true));
  const rest = bytes.subarray(bytes.length - from.left);
  if (!digestOf(dictionary).equals(rest.subarray(0, DIGEST_BYTES))) throw missing('differs from the copy here');
  const frame = rest.subarray(DIGEST_BYTES);
  const most = Math.min(LARGEST, Math.max(SMALL, frame.length * LARGEST_RATIO) + 4 * dictionary.length);
  const sent = decodeSent(inflate(frame, most, dictionary), shelf.errand);
  remember(sent, shelf.recent);
  return sent;
}

function remember(sent: Sent, recent: Recent): void {
  for (const { visit, page } of sent.visits) if (page) recent.add(visit.url, blockOf(page));
}

/** What zstd is to look into for this parcel. What is likeliest to be found again stands last, where it is cheapest. */
function chosen(sent: Sent, shelf: Shelf): { references: readonly Reference[]; dictionary: Uint8Array } {
  const places = indexOf(shelf.errand);
  const own: Reference[] = [];
  let room = MOST_DICTIONARY - Recent.BYTES;
  let strange = false;
  for (const { visit, page } of sent.visits) {
    const place = places.get(visit.url);
    if (place === undefined) strange ||= page !== undefined;
    if (place === undefined || (!page && !unchanged(visit, shelf.errand.pages[place]!)?.facts)) continue;
    const block = page && shelf.stored(shelf.errand.pages[place]!);
    const fits = block !== undefined && block.length <= room;
    if (fits) room -= block.length;
    strange ||= page !== undefined && !fits;
    if (fits || shelf.errand.pages[place]!.facts) own.push({ place, block: fits });
  }
  // Other pages of the server only help those that have no version of their own.
  const recent = strange ? shelf.recent.urls().map(url => ({ url })) : [];
  const references = [...recent, ...own];
  return { references, dictionary: Buffer.concat(piecesOf(references, shelf, false)) };
}

/** In a first crawl of small pages their URLs would be as long as the pages: they are compressed, where there are any. */
function writeReferences(out: ByteWriter, references: readonly Reference[]): void {
  const list = new ByteWriter(1 << 12);
  list.varint(references.length);
  for (const reference of references) {
    if ('url' in reference) {
      list.varint(0);
      list.text(reference.url);
    } else list.varint(1 + reference.place * 2 + (reference.block ? 1 : 0));
  }
  const compressed = references.some(reference => 'url' in reference);
  out.byte(compressed ? 1 : 0);
  out.bytes(compressed ? zstdCompressSync(list.finish()) : list.finish());
}

function readReferences(source: ByteReader): Reference[] {
  const compressed = source.byte() === 1;
  const list = source.bytes();
  const from = new ByteReader(compressed ? expand(list) : list);
  const references: Reference[] = [];
  for (let left = from.count(1); left > 0; left--) {
    const value = from.varint();
    if (value === 0) references.push({ url: from.text() });
    else references.push({ place: (value - 1) >> 1, block: ((value - 1) & 1) === 1 });
  }
  return references;
}

function piecesOf(references: readonly Reference[], shelf: Shelf, limited: boolean): Uint8Array[] {
  const { origin, robots } = shelf.errand.server;
  const pieces: Uint8Array[] = [SAMPLE, Buffer.from(origin + (robots?.body ?? '').slice(0, MOST_ROBOTS))];
  let bytes = 0;
  for (const reference of references) {
    const known = 'url' in reference ? strangerOf(reference.url) : shelf.errand.pages[reference.place];
    if (!known) throw bad('it refers to a page that is not in its errand');
    if (known.facts) pieces.push(known.facts);
    if ('place' in reference && !reference.block) continue;
    const block = 'url' in reference ? (shelf.recent.get(reference.url) ?? shelf.stored(known)) : shelf.stored(known);
    if (!block) throw missing('is not stored here');
    bytes += block.length;
    if (limited && bytes > MOST_DICTIONARY) throw bad('it refers to too many bytes of older versions');
    pieces.push(block);
  }
  return pieces;
}

/** A page that went home in the errand without being named by it. */
function strangerOf(url: string): Known {
  return { url, role: 'page', depth: 0, hops: 0, tries: 0 };
}

/** What every parcel says in some way: the first page then costs no more than the second. */
const SAMPLE = Buffer.from(
  'not-modifiedunchangedtextcontentvalidatorGET / HTTP/1.1\r\nHost: www.\r\nUser-Agent: Skein/ (+https://)\r\n' +
    'Accept-Encoding: gzip, deflate, br, zstd\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n' +
    'If-None-Match: "\r\nIf-Modified-Since: Mon, 06 Jan 2025 00:00:00 GMT\r\nConnection: keep-alive\r\n\r\n' +
    'http/1.1HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Tue, 07 Jan 2025 00:00:00 GMT\r\n' +
    'Content-Type: text/html; charset=utf-8\r\nX-Archive-Orig-Content-Length: \r\nX-Archive-Orig-Transfer-Encoding: chunked\r\n' +
    'Connection: keep-alive\r\nVary: Accept-Encoding\r\nLast-Modified: Mon, 06 Jan 2025 00:00:00 GMT\r\nETag: W/"\r\n' +
    'Cache-Control: max-age=600\r\nX-Archive-Orig-Content-Encoding: gzip\r\nContent-Length: ',
);

function digestOf(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer').subarray(0, DIGEST_BYTES);
}

function expand(bytes: Uint8Array): Uint8Array {
  return inflate(bytes, Math.min(LARGEST, Math.max(SMALL, bytes.length * LARGEST_RATIO)));
}

function inflate(bytes: Uint8Array, most: number, dictionary?: Uint8Array): Uint8Array {
  try {
    return zstdDecompressSync(bytes, {
      maxOutputLength: most,
      params: { [constants.ZSTD_d_windowLogMax]: 27 },
      ...(dictionary && dictionary.length > 0 && { dictionary }),
    });
  } catch (error) {
    const why = (error as Error).message;
    throw new SkeinError('bad-frame', `A packed message does not unpack: ${why}.`, undefined, { cause: error });
  }
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A packed message does not unpack: ${what}.`);
}

/** Not the sender's fault: the pages have to come whole. */
function missing(what: string): SkeinError {
  return new SkeinError('not-found', `An older version that a parcel refers to ${what}.`);
}
