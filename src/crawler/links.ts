/**
 * The links of a scanned page, resolved, unique by URL, packed as the contract says, with their relevance. Most are
 * resolved by the scanner and never become strings here; the rest go through the resolver of base/url.ts.
 */
import { type Fingerprint, fingerprint, LONGEST_URL, normalise, resolver } from '../base/url.ts';
import { LINK_CANONICAL, LINK_NOFOLLOW, type Links } from '../errand/visit.ts';
import { type PageContext, relevanceOf } from './relevance.ts';
import { LINK_WORDS, MAX_LINKS, type Scanner } from './scanner/scanner.ts';

export const noLinks: Links = {
  count: 0,
  fingerprints: new Uint32Array(0),
  flags: new Uint8Array(0),
  relevance: new Uint8Array(0),
  urls: new Uint8Array(0),
  anchors: new Uint8Array(0),
  lastmod: new Float64Array(0),
};

export interface Collected {
  readonly links: Links;
  readonly canonical: string | undefined;
}

/** What is gathered while the links of one page are read. */
interface Gathered {
  readonly table: Uint32Array;
  /** Number of the scanner's link that has the URL, and of the one that has the anchor. */
  readonly sources: Uint16Array;
  readonly anchors: Uint16Array;
  readonly flags: Uint8Array;
  readonly prints: Uint32Array;
  readonly slots: Uint16Array;
  /** URLs that the scanner did not resolve. */
  readonly urls: Map<number, string>;
  count: number;
  canonical: number;
}

const print: Fingerprint = { high: 0, low: 0 };
/** Numbers of links + 1 by fingerprint; emptied after every page. */
const SLOTS = 32_768;
const slots = new Uint16Array(SLOTS);
/** Room for all that the scanner finds on one page, used again for the next: five arrays a page kept the collector busy. */
const room = {
  sources: new Uint16Array(MAX_LINKS),
  anchors: new Uint16Array(MAX_LINKS),
  flags: new Uint8Array(MAX_LINKS),
  prints: new Uint32Array(MAX_LINKS * 2),
  slots: new Uint16Array(MAX_LINKS),
};

/** A directory in which every character stands for itself, so that the scanner may resolve against it. */
const plainDirectory = /^https?:\/\/[^/?#%;@]+\/(?:[\w\-~!$&()*+,=@./]*\/)?$/;

/** Reads the links of the page that was scanned last. */
export function collectLinks(scan: Scanner, page: PageContext): Collected {
  const found = scan.get('links');
  if (found === 0) return { links: noLinks, canonical: undefined };
  const directory = directoryOf(page.base);
  scan.resolveLinks(directory, directory === '' ? 0 : directory.indexOf('/', 8));
  const gathered = gather(scan, found, resolver(page.base));
  for (let i = 0; i < gathered.count; i++) slots[gathered.slots[i]!] = 0;
  if (gathered.count === 0) return { links: noLinks, canonical: undefined };
  const links = pack(scan, gathered, page);
  return { links, canonical: gathered.canonical < 0 ? undefined : urlAt(scan, gathered, gathered.canonical) };
}

/** The last directory looked at, and whether it is plain: pages of one folder come one after another. */
let looked = { directory: '', plain: false };

/** `http://host/folder/` of a base, empty when it is not plain. */
function directoryOf(base: string): string {
  const question = base.indexOf('?');
  const directory = base.slice(0, base.lastIndexOf('/', question < 0 ? base.length : question) + 1);
  if (directory !== looked.directory) {
    looked = { directory, plain: plainDirectory.test(directory) && !directory.includes('/.') };
  }
  return looked.plain ? directory : '';
}

function gather(scan: Scanner, found: number, resolve: (href: string) => string | undefined): Gathered {
  const table = scan.links();
  const gathered: Gathered = { ...room, table, urls: new Map(), count: 0, canonical: -1 };
  for (let i = 0; i < found; i++) {
    const at = i * LINK_WORDS;
    let url: string | undefined;
    if (table[at + 9] === 0) {
      url = locate(scan.reference(table[at]!, table[at + 1]!), resolve);
      if (url === undefined) continue;
    } else {
      if (table[at + 9]! - table[at + 8]! > LONGEST_URL) continue;
      print.high = table[at + 10]!;
      print.low = table[at + 11]!;
    }
    add(gathered, i, url);
  }
  return gathered;
}

/**
 * What links that name their server mean, on whichever page they stand. The same few are on every page of a site: they
 * are nearly all that the scanner leaves over, and this spares most pages the taking apart of their own address.
 */
const absolutes = new Map<string, Absolute>();
const ABSOLUTES = 4096;
const LONGEST_ABSOLUTE = 500;
const namesServer = /^https?:\/\//;

interface Absolute extends Readonly<Fingerprint> {
  readonly url: string | undefined;
}

/** The URL of a link that the scanner did not resolve; its fingerprint goes to `print`. */
function locate(href: string, resolve: (href: string) => string | undefined): string | undefined {
  if (!namesServer.test(href)) {
    const url = resolve(href);
    if (url !== undefined) fingerprint(url, print);
    return url;
  }
  const { url, high, low } = absolutes.get(href) ?? absolute(href);
  print.high = high;
  print.low = low;
  return url;
}

function absolute(href: string): Absolute {
  const url = normalise(href);
  const { high, low } = fingerprint(url ?? '', print);
  const found = { url, high, low };
  if (absolutes.size === ABSOLUTES) absolutes.clear();
  if (href.length <= LONGEST_ABSOLUTE) absolutes.set(href, found);
  return found;
}

/** Adds the scanner's link `index`, whose fingerprint is in `print`; `url` where the scanner has none. */
function add(to: Gathered, index: number, url: string | undefined): void {
  const flag = to.table[index * LINK_WORDS + 4]!;
  const count = to.count;
  const slot = slotOf(to.prints, count);
  const before = slots[slot]! - 1;
  if ((flag & LINK_CANONICAL) !== 0 && to.canonical < 0) to.canonical = before < 0 ? count : before;
  if (before >= 0) {
    to.flags[before] = mergeFlags(to.flags[before]!, flag);
    if (to.table[to.anchors[before]! * LINK_WORDS + 3] === 0) to.anchors[before] = index;
    return;
  }
  slots[slot] = count + 1;
  to.slots[count] = slot;
  to.prints[count * 2] = print.high;
  to.prints[count * 2 + 1] = print.low;
  to.sources[count] = index;
  to.anchors[count] = index;
  to.flags[count] = flag;
  if (url !== undefined) to.urls.set(count, url);
  to.count++;
}

/** Slot of the fingerprint in `print`: of its link when the page has it already, else a free one. */
function slotOf(prints: Uint32Array, count: number): number {
  let slot = print.low & (SLOTS - 1);
  for (;;) {
    const link = slots[slot]! - 1;
    if (link < 0 || (link < count && prints[link * 2] === print.high && prints[link * 2 + 1] === print.low))
      return slot;
    slot = (slot + 1) & (SLOTS - 1);
  }
}

/** A link is nofollow only if every mention of it is; the other flags add up. */
export function mergeFlags(a: number, b: number): number {
  return ((a | b) & ~LINK_NOFOLLOW) | (a & b & LINK_NOFOLLOW);
}

function urlAt(scan: Scanner, from: Gathered, index: number): string {
  const at = from.sources[index]! * LINK_WORDS;
  return from.urls.get(index) ?? scan.bytes(from.table[at + 8]!, from.table[at + 9]!).toString('latin1');
}

function pack(scan: Scanner, from: Gathered, page: PageContext): Links {
  const { count } = from;
  const anchors = packAnchors(scan, from);
  const urls = packUrls(scan, from);
  const relevance =
    page.focus.length === 0
      ? new Uint8Array(count)
      : relevanceOf(page, Buffer.from(urls).toString('latin1').split('\n'), anchors);
  return {
    count,
    fingerprints: from.prints.slice(0, count * 2),
    flags: from.flags.slice(0, count),
    relevance,
    urls,
    anchors,
    lastmod: noLinks.lastmod,
  };
}

/** A normalised URL is ASCII. Those that lie together in the scanner's memory, as most do, are copied together. */
function packUrls(scan: Scanner, from: Gathered): Uint8Array {
  const { table, urls, count } = from;
  let length = count - 1;
  for (let i = 0; i < count; i++) {
    const at = from.sources[i]! * LINK_WORDS;
    length += table[at + 9] === 0 ? urls.get(i)!.length : table[at + 9]! - table[at + 8]!;
  }
  const bytes = Buffer.from(new ArrayBuffer(length));
  let to = 0;
  for (let i = 0; i < count; ) {
    if (i > 0) bytes[to++] = 10;
    const at = from.sources[i]! * LINK_WORDS;
    if (table[at + 9] === 0) {
      to += bytes.write(urls.get(i++)!, to, 'latin1');
      continue;
    }
    const start = table[at + 8]!;
    let end = table[at + 9]!;
    for (i++; i < count && table[from.sources[i]! * LINK_WORDS + 8] === end + 1; i++) {
      end = table[from.sources[i]! * LINK_WORDS + 9]!;
    }
    bytes.set(scan.bytes(start, end), to);
    to += end - start;
  }
  return new Uint8Array(bytes.buffer, 0, length);
}

function packAnchors(scan: Scanner, { table, anchors, count }: Gathered): Uint8Array {
  let length = count - 1;
  for (let i = 0; i < count; i++) {
    const at = anchors[i]! * LINK_WORDS;
    length += table[at + 3]! - table[at + 2]!;
  }
  const bytes = new Uint8Array(length);
  const base = scan.get('anchors');
  const from = scan.bytes(base, scan.get('anchorsEnd'));
  let to = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0) bytes[to++] = 10;
    const at = anchors[i]! * LINK_WORDS;
    const end = table[at + 3]! - base;
    // Byte by byte: anchors are short, and a call costs more than they do.
    for (let p = table[at + 2]! - base; p < end; p++) bytes[to++] = from[p]!;
  }
  return bytes;
}
