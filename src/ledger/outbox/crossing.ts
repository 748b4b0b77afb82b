/**
 * What one partition tells another of its pages: a link that was found or is gone, a nearer way, a redirect, a line of a
 * sitemap. A page is named by its fingerprint, and by its URL when it is named for the first time. The bytes may come
 * from another machine: whatever is not what it should be ends as one SkeinError('bad-frame').
 */
import { SkeinError } from '../../base/errors.ts';
import { fingerprint, LONGEST_URL, normalise } from '../../base/url.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';

/**
 * link, unlink: a page links to it, or does not any more; both count
 * reach: a link that counts already leads there from nearer, or may be followed now
 * listed, unlisted: a sitemap names it, or does not any more
 * target: a redirect leads there, robots.txt names it as a sitemap, or it is a seed
 */
const kinds = ['link', 'unlink', 'reach', 'listed', 'unlisted', 'target'] as const;

export interface Crossing {
  readonly kind: (typeof kinds)[number];
  /** Of the page that it is about. */
  readonly high: number;
  readonly low: number;
  /** Its URL; empty = it was said before. */
  readonly url: string;
  /** URL of the page that leads there; empty where that does not matter, or it is a seed. */
  readonly source: string;
  /** The seed whose redirects lead there; empty = links do. */
  readonly seed: string;
  /** The LINK_ bits, with nofollow where the whole page says so. */
  readonly flags: number;
  /** 0 to 255. */
  readonly relevance: number;
  readonly depth: number;
  readonly hops: number;
  /** By a sitemap; milliseconds since 1970, 0 = none. */
  readonly lastmod: number;
  /** When it was found. */
  readonly time: number;
}

/** Of one crossing. */
const LEAST_BYTES = 16;
const FORMAT = 1;
/** Marks what is said of a crossing besides its page. */
const HAS_URL = 1;
const HAS_SOURCE = 2;
const HAS_SEED = 4;
const HAS_LASTMOD = 8;

/** A source is written once for all of its links that follow one another. */
export function encodeCrossings(crossings: readonly Crossing[]): Uint8Array {
  const out = new ByteWriter(64 * crossings.length + 16);
  out.byte(FORMAT);
  out.varint(crossings.length);
  let source = '';
  for (const each of crossings) {
    const said = each.source !== source ? HAS_SOURCE : 0;
    const named = (each.url === '' ? 0 : HAS_URL) | (each.seed === '' ? 0 : HAS_SEED);
    const has = named | said | (each.lastmod > 0 ? HAS_LASTMOD : 0);
    out.byte(kinds.indexOf(each.kind));
    out.byte(has);
    out.varint(each.high);
    out.varint(each.low);
    out.byte(each.flags);
    out.byte(each.relevance);
    out.varint(each.depth);
    out.varint(each.hops);
    out.double(each.time);
    if (has & HAS_URL) out.text(each.url);
    if (has & HAS_SOURCE) out.text(each.source);
    if (has & HAS_SEED) out.text(each.seed);
    if (has & HAS_LASTMOD) out.double(each.lastmod);
    source = each.source;
  }
  return out.finish();
}

export function decodeCrossings(bytes: Uint8Array): Crossing[] {
  const from = new ByteReader(bytes);
  if (from.byte() !== FORMAT) throw bad('of another format');
  const crossings: Crossing[] = [];
  let source = '';
  for (let left = from.count(LEAST_BYTES); left > 0; left--) {
    const crossing = decodeOne(from, source);
    source = crossing.source;
    crossings.push(crossing);
  }
  from.end();
  return crossings;
}

function decodeOne(from: ByteReader, source: string): Crossing {
  const kind = kinds[from.byte()];
  if (!kind) throw bad('of an unknown kind');
  const has = from.byte();
  const page = { high: word(from), low: word(from) };
  const step = { flags: from.byte(), relevance: from.byte(), depth: small(from), hops: small(from) };
  const time = moment(from);
  const url = has & HAS_URL ? urlFrom(from) : '';
  if (url !== '' && !isPrint(url, page)) throw bad('about a page with another fingerprint');
  const said = has & HAS_SOURCE ? urlFrom(from, true) : source;
  const seed = has & HAS_SEED ? urlFrom(from) : '';
  const lastmod = has & HAS_LASTMOD ? moment(from) : 0;
  return { kind, ...page, url, source: said, seed, ...step, lastmod, time };
}

const print = { high: 0, low: 0 };

function isPrint(url: string, { high, low }: { high: number; low: number }): boolean {
  fingerprint(url, print);
  return print.high === high && print.low === low;
}

function word(from: ByteReader): number {
  const value = from.varint();
  if (value > 0xffffffff) throw bad('without a fingerprint');
  return value;
}

/** Levels and hops. */
function small(from: ByteReader): number {
  const value = from.varint();
  if (value > 1_000_000) throw bad('about a page too far from its seed');
  return value;
}

function moment(from: ByteReader): number {
  const value = from.double();
  if (!(value >= 0 && value < 8.64e15)) throw bad('without a valid time');
  return value;
}

function urlFrom(from: ByteReader, empty = false): string {
  const url = from.text();
  if (empty && url === '') return url;
  if (url.length > LONGEST_URL || normalise(url) !== url) throw bad('about something that is not a URL');
  return url;
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A message from another partition is ${what}.`);
}
