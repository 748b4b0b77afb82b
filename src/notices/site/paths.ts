/**
 * Parts that the codecs share: cursors, hashes, and lists of pages. A page of a site is named by its path with the
 * query, in normal form, and each by what it shares with the one before, because neighbours have long beginnings in common.
 * An unlisted page is named by the hash of its path: whoever has it knows which is meant, and nobody learns of it here.
 */
import { hash } from 'node:crypto';
import { LONGEST_URL, normalise, originOf } from '../../base/url.ts';
import type { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import { bad, siteLimits } from './discovery.ts';

/** Bytes of the hashes that travel. */
export const HASH_BYTES = 8;

/** Where a reader stands in a journal: the number of the last change that it has, and the journal's chain there. */
export interface Cursor {
  readonly sequence: number;
  /** 16 hex digits: which history led to that number. */
  readonly chain: string;
}

export function encodeCursor({ sequence, chain }: Cursor): string {
  return `${sequence}-${chain}`;
}

/** Undefined for what is no cursor. */
export function decodeCursor(text: string): Cursor | undefined {
  if (text.length > siteLimits.cursor) return undefined;
  const found = /^(\d{1,15})-([0-9a-f]{16})$/.exec(text);
  return found ? { sequence: Number(found[1]), chain: found[2]! } : undefined;
}

const documentKinds = ['page', 'record', 'media'] as const;
const toldKinds = [...documentKinds, 'unlisted'] as const;
/** `record` and `media` are documents to which no link leads; they come through the site alone. */
export type DocumentKind = (typeof documentKinds)[number];
/** What is told of: also pages that no list is to name. */
export type ToldKind = (typeof toldKinds)[number];

/** Gives the URL of a page that the reader holds by the hash of its path, in hexadecimal. */
export type HeldByHash = (pathHash: string) => string | undefined;

export function kindNumber(kind: ToldKind): number {
  return toldKinds.indexOf(kind);
}

export function kindOf(number: number): DocumentKind {
  return known(documentKinds[number]);
}

export function toldKindOf(number: number): ToldKind {
  return known(toldKinds[number]);
}

function known<T>(kind: T | undefined): T {
  if (kind === undefined) throw bad('an unknown kind of document');
  return kind;
}

/** For looking up which of these pages a hash means; `urls` is asked when there is one. */
export function byPathHash(urls: () => Iterable<string>): HeldByHash {
  let held: Map<string, string> | undefined;
  return pathHash => {
    held ??= new Map(Array.from(urls(), url => [Buffer.from(pathHashOf(url)).toString('hex'), url]));
    return held.get(pathHash);
  };
}

function pathHashOf(url: string): Uint8Array {
  return hash('sha256', pathOf(url), 'buffer').subarray(0, HASH_BYTES);
}

/** Writes paths one after another; a reader of the same list reads them back. */
export class PathWriter {
  #before = '';
  readonly #out: ByteWriter;

  constructor(out: ByteWriter) {
    this.#out = out;
  }

  /** What names a page of this kind. */
  name(url: string, kind: ToldKind): void {
    if (kind === 'unlisted') writeHash(this.#out, pathHashOf(url));
    else this.write(pathOf(url));
  }

  write(path: string): void {
    const before = this.#before;
    let shared = 0;
    while (shared < before.length && before.charCodeAt(shared) === path.charCodeAt(shared)) shared++;
    this.#out.varint(shared);
    this.#out.bytes(Buffer.from(path.slice(shared), 'latin1'));
    this.#before = path;
  }
}

export class PathReader {
  #before = '';
  readonly #from: ByteReader;
  readonly #origin: string;
  readonly #held: HeldByHash;

  /** `site`: the public URL; every page read is on its server. */
  constructor(from: ByteReader, site: string, held: HeldByHash = () => undefined) {
    this.#from = from;
    this.#origin = originOf(site);
    this.#held = held;
  }

  /** Undefined: an unlisted page that the reader does not hold. */
  named(kind: ToldKind): string | undefined {
    if (kind !== 'unlisted') return this.read();
    const url = this.#held(Buffer.from(readHash(this.#from)).toString('hex'));
    return url !== undefined && originOf(url) === this.#origin ? url : undefined;
  }

  /** The page's URL; a path that is not in normal form, or of another server, is a `bad-frame`. */
  read(): string {
    const shared = this.#from.varint();
    const rest = this.#from.bytes();
    if (shared > this.#before.length || shared + rest.length > LONGEST_URL) throw bad('a path is too long');
    const path =
      this.#before.slice(0, shared) + Buffer.from(rest.buffer, rest.byteOffset, rest.length).toString('latin1');
    const url = this.#origin + path;
    if (!path.startsWith('/') || normalise(url) !== url) throw bad('a path is not in normal form');
    this.#before = path;
    return url;
  }
}

/** Path and query of a normalised URL. */
export function pathOf(url: string): string {
  return url.slice(originOf(url).length);
}

export function writeHash(out: ByteWriter, hash: Uint8Array): void {
  for (let i = 0; i < HASH_BYTES; i++) out.byte(hash[i] ?? 0);
}

export function readHash(from: ByteReader): Uint8Array {
  const hash = new Uint8Array(HASH_BYTES);
  for (let i = 0; i < HASH_BYTES; i++) hash[i] = from.byte();
  return hash;
}

/** Milliseconds since 1970 of seconds that a site wrote. */
export function timeOf(seconds: number): number {
  if (!(seconds >= 0 && seconds <= 8.64e12)) throw bad('a time out of range');
  return seconds * 1000;
}
