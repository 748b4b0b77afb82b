/**
 * Pages in bulk. The reader names pages and which version of each it holds; the answer is one zstd frame over all of
 * them, with the versions that the reader holds as its dictionary: an edit that is in a thousand pages travels once.
 * Both ends build the dictionary from the versions that the answer says were used, in the order of the request.
 */
import { hash } from 'node:crypto';
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { bad, siteLimits } from './discovery.ts';
import { type DocumentKind, HASH_BYTES, kindNumber, kindOf, PathReader, PathWriter, pathOf, timeOf } from './paths.ts';

export interface WantedPages {
  readonly url: string;
  /** `bodyHash` of the version that the reader holds, decoded; absent = none. */
  readonly have?: Uint8Array;
}

export type SitePage =
  /** `body` without content coding; it was checked against its hash. */
  | {
      readonly state: 'page';
      readonly kind: DocumentKind;
      /** Content-Type, for HTML with its charset where the site knows it. */
      readonly type: string;
      /** Milliseconds since 1970, whole seconds: when the content last changed. */
      readonly time: number;
      readonly title: string;
      readonly body: Uint8Array;
    }
  /** The version that the reader holds is the newest. */
  | { readonly state: 'same' }
  | { readonly state: 'gone' }
  /** It did not fit into this answer: ask for it again. */
  | { readonly state: 'later' }
  /** Larger than bulk answers carry, or for the moment unreadable: fetch it the usual way. */
  | { readonly state: 'elsewhere' };

const states = ['page', 'same', 'gone', 'later', 'elsewhere'] as const;

/** SHA-256 of a body without content coding, first 8 bytes: how versions are named. */
export function bodyHash(body: Uint8Array): Uint8Array {
  return new Uint8Array(hash('sha256', body, 'buffer').subarray(0, HASH_BYTES));
}

const NONE = new Uint8Array(0);

export function encodeWanted(wanted: readonly WantedPages[]): Uint8Array {
  const out = new ByteWriter(16 + wanted.length * 40);
  out.varint(wanted.length);
  const paths = new PathWriter(out);
  for (const { url, have } of wanted) {
    paths.write(pathOf(url));
    out.bytes(have?.subarray(0, HASH_BYTES) ?? NONE);
  }
  return out.finish();
}

export function decodeWanted(bytes: Uint8Array, site: string): readonly WantedPages[] {
  const from = new ByteReader(bytes);
  const count = from.count(3);
  if (count > siteLimits.wanted) throw bad('more pages are wanted than one request may name');
  const paths = new PathReader(from, site);
  const wanted: WantedPages[] = [];
  for (let i = 0; i < count; i++) {
    const url = paths.read();
    const have = from.bytes();
    if (have.length !== 0 && have.length !== HASH_BYTES) throw bad('a hash has the wrong length');
    wanted.push({ url, ...(have.length > 0 && { have }) });
  }
  from.end();
  return wanted;
}

/** A page of an answer, and the version that it may be held against. */
export interface Outgoing {
  readonly page: SitePage;
  readonly base?: Uint8Array | undefined;
}

const LEVEL = 9;

/** One for each that was wanted, in that order. */
export async function encodePages(outgoing: readonly Outgoing[]): Promise<Uint8Array> {
  const head = new ByteWriter(16 + outgoing.length);
  const text = new ByteWriter(1 << 16);
  const bases: Uint8Array[] = [];
  head.varint(outgoing.length);
  for (const { page, base } of outgoing) {
    const based = page.state === 'page' && base !== undefined;
    head.byte(states.indexOf(page.state) | (based ? 8 : 0));
    if (page.state !== 'page') continue;
    if (based) bases.push(base);
    text.byte(kindNumber(page.kind));
    text.text(page.type);
    text.varint(Math.max(0, Math.floor(page.time / 1000)));
    text.text(page.title);
    text.bytes(page.body);
    text.bytes(bodyHash(page.body));
  }
  head.varint(text.length);
  return Buffer.concat([head.finish(), await compress(text.finish(), Buffer.concat(bases))]);
}

function compress(payload: Uint8Array, dictionary: Buffer): Promise<Uint8Array> {
  const windowLog = Math.min(26, Math.max(17, Math.ceil(Math.log2(payload.length + dictionary.length + 1))));
  const params = { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_windowLog]: windowLog };
  const options = { params, ...(dictionary.length > 0 && { dictionary }) };
  return new Promise((resolve, reject) =>
    zstdCompress(payload, options, (error, bytes) => (error ? reject(error) : resolve(bytes))),
  );
}

/** `held(url)`: the body that the reader named in `have`, without content coding. */
export function decodePages(
  bytes: Uint8Array,
  wanted: readonly WantedPages[],
  held: (url: string) => Uint8Array | undefined,
): readonly SitePage[] {
  const from = new ByteReader(bytes);
  if (from.count(1) !== wanted.length) throw bad('the answer is not for this question');
  const heads = wanted.map(() => from.byte());
  const length = from.varint();
  if (length > siteLimits.pagesBytes * 2) throw bad('the pages are too large for one answer');
  const bases = wanted.filter((_, i) => (heads[i]! & 8) !== 0).map(({ url }) => baseOf(held(url)));
  const text = decompress(bytes.subarray(bytes.length - from.left), length, Buffer.concat(bases));
  const reader = new ByteReader(text);
  const pages = heads.map((head): SitePage => {
    const state = states[head & 7];
    if (state === undefined) throw bad('an unknown state');
    return state === 'page' ? readPage(reader) : { state };
  });
  reader.end();
  return pages;
}

function readPage(from: ByteReader): SitePage {
  const kind = kindOf(from.byte());
  const type = plain(from.text(), 200);
  const time = timeOf(from.varint());
  const title = plain(from.text(), 500);
  const body = from.bytes();
  if (body.length > siteLimits.pageBytes) throw bad('a page is too large');
  if (Buffer.compare(bodyHash(body), from.bytes()) !== 0) throw bad('a page does not match its hash');
  return { state: 'page', kind, type, time, title, body };
}

function plain(text: string, most: number): string {
  return text.replace(/[\x00-\x1f\x7f]/g, ' ').slice(0, most);
}

function baseOf(body: Uint8Array | undefined): Uint8Array {
  if (body === undefined) throw bad('its delta is against a version that is not stored here');
  return body;
}

function decompress(frame: Uint8Array, length: number, dictionary: Buffer): Uint8Array {
  if (length === 0) return NONE;
  try {
    const text = zstdDecompressSync(frame, {
      maxOutputLength: length,
      params: { [constants.ZSTD_d_windowLogMax]: 27 },
      ...(dictionary.length > 0 && { dictionary }),
    });
    if (text.length === length) return text;
  } catch {
    throw bad('its pages cannot be decompressed'); // what zlib says of it helps nobody
  }
  throw bad('the length of its pages is wrong');
}
