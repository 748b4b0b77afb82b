/** The links of a scanned page, resolved, unique by URL, packed as the contract says, with their relevance. */
import { type Fingerprint, fingerprint } from '../base/url.ts';
import { LINK_CANONICAL, LINK_NOFOLLOW, type Links } from '../errand/visit.ts';
import { type PageContext, relevanceOf } from './relevance.ts';
import { LINK_WORDS, type Scanner } from './scanner/scanner.ts';

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

const print: Fingerprint = { high: 0, low: 0 };
/** Numbers of links + 1 by fingerprint; a slot is valid when its link is of the page at hand. */
const SLOTS = 32_768;
const slots = new Uint16Array(SLOTS);

/** Reads the links of the page that was scanned last. */
export function collectLinks(
  scan: Scanner,
  resolve: (href: string) => string | undefined,
  page: PageContext,
): Collected {
  const found = scan.get('links');
  if (found === 0) return { links: noLinks, canonical: undefined };
  const table = scan.links();
  const urls: string[] = [];
  /** Number of the scanner's link behind each of ours. */
  const sources = new Uint16Array(found);
  const flags = new Uint8Array(found);
  const prints = new Uint32Array(found * 2);
  const used = new Uint16Array(found);
  let canonical: string | undefined;
  for (let i = 0; i < found; i++) {
    const url = resolve(scan.reference(table[i * LINK_WORDS]!, table[i * LINK_WORDS + 1]!));
    if (url === undefined) continue;
    const flag = table[i * LINK_WORDS + 4]!;
    if ((flag & LINK_CANONICAL) !== 0) canonical ??= url;
    fingerprint(url, print);
    const count = urls.length;
    const slot = slotOf(prints, count);
    const before = slots[slot]! - 1;
    if (before >= 0) {
      flags[before] = mergeFlags(flags[before]!, flag);
      if (table[sources[before]! * LINK_WORDS + 3] === 0) sources[before] = i;
      continue;
    }
    slots[slot] = count + 1;
    used[count] = slot;
    prints[count * 2] = print.high;
    prints[count * 2 + 1] = print.low;
    sources[count] = i;
    flags[count] = flag;
    urls.push(url);
  }
  for (let i = 0; i < urls.length; i++) slots[used[i]!] = 0;
  return { links: pack(scan, urls, sources, { flags, prints, page }), canonical };
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
function mergeFlags(a: number, b: number): number {
  return ((a | b) & ~LINK_NOFOLLOW) | (a & b & LINK_NOFOLLOW);
}

interface Rest {
  readonly flags: Uint8Array;
  readonly prints: Uint32Array;
  readonly page: PageContext;
}

function pack(scan: Scanner, urls: readonly string[], sources: Uint16Array, { flags, prints, page }: Rest): Links {
  const count = urls.length;
  if (count === 0) return noLinks;
  const anchors = packAnchors(scan, sources, count);
  return {
    count,
    fingerprints: prints.slice(0, count * 2),
    flags: flags.slice(0, count),
    relevance: relevanceOf(page, urls, anchors),
    urls: packUrls(urls),
    anchors,
    lastmod: noLinks.lastmod,
  };
}

/** A normalised URL is ASCII. */
function packUrls(urls: readonly string[]): Uint8Array {
  const text = urls.join('\n');
  const bytes = new Uint8Array(text.length);
  Buffer.from(bytes.buffer).write(text, 'latin1');
  return bytes;
}

function packAnchors(scan: Scanner, sources: Uint16Array, count: number): Uint8Array {
  const table = scan.links();
  let length = count - 1;
  for (let i = 0; i < count; i++) {
    const at = sources[i]! * LINK_WORDS;
    length += table[at + 3]! - table[at + 2]!;
  }
  const bytes = new Uint8Array(length);
  const base = scan.get('anchors');
  const from = scan.bytes(base, scan.get('anchorsEnd'));
  let to = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0) bytes[to++] = 10;
    const at = sources[i]! * LINK_WORDS;
    const end = table[at + 3]! - base;
    // Byte by byte: anchors are short, and a call costs more than they do.
    for (let p = table[at + 2]! - base; p < end; p++) bytes[to++] = from[p]!;
  }
  return bytes;
}
