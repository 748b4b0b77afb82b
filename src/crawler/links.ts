/** The links of a scanned page, resolved, unique by URL, packed as the contract says, with their relevance. */
import { type Fingerprint, fingerprint } from '../base/url.ts';
import { LINK_CANONICAL, LINK_NOFOLLOW, type Links } from '../errand/visit.ts';
import { type PageContext, relevanceOf } from './relevance.ts';
import type { Scanner } from './scanner/scanner.ts';

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

/** Reads the links of the page that was scanned last. */
export function collectLinks(
  scan: Scanner,
  resolve: (href: string) => string | undefined,
  page: PageContext,
): Collected {
  const found = scan.get('links');
  if (found === 0) return { links: noLinks, canonical: undefined };
  const urls: string[] = [];
  /** Number of the scanner's link behind each of ours. */
  const sources = new Uint16Array(found);
  const flags = new Uint8Array(found);
  const seen = new Map<string, number>();
  const hrefAt = hrefReader(scan);
  let canonical: string | undefined;
  for (let i = 0; i < found; i++) {
    const url = resolve(hrefAt(i));
    if (url === undefined) continue;
    const flag = scan.link(i, 4);
    if ((flag & LINK_CANONICAL) !== 0) canonical ??= url;
    const before = seen.get(url);
    if (before !== undefined) {
      flags[before] = mergeFlags(flags[before]!, flag);
      if (scan.link(sources[before]!, 3) === 0) sources[before] = i;
      continue;
    }
    seen.set(url, urls.length);
    sources[urls.length] = i;
    flags[urls.length] = flag;
    urls.push(url);
  }
  return { links: pack(scan, urls, sources, { flags, page }), canonical };
}

/** A link is nofollow only if every mention of it is; the other flags add up. */
function mergeFlags(a: number, b: number): number {
  return ((a | b) & ~LINK_NOFOLLOW) | (a & b & LINK_NOFOLLOW);
}

/** One string for all references costs less than one call per reference, where bytes and characters are the same. */
function hrefReader(scan: Scanner): (index: number) => string {
  if (scan.get('ascii') === 0) return index => scan.string(scan.link(index, 0), scan.link(index, 1));
  const all = scan.references();
  const start = scan.get('references');
  return index => all.slice(scan.link(index, 0) - start, scan.link(index, 1) - start);
}

interface Rest {
  readonly flags: Uint8Array;
  readonly page: PageContext;
}

function pack(scan: Scanner, urls: readonly string[], sources: Uint16Array, { flags, page }: Rest): Links {
  const count = urls.length;
  if (count === 0) return noLinks;
  const fingerprints = new Uint32Array(count * 2);
  for (let i = 0; i < count; i++) {
    fingerprint(urls[i]!, print);
    fingerprints[i * 2] = print.high;
    fingerprints[i * 2 + 1] = print.low;
  }
  const anchors = packAnchors(scan, sources, count);
  return {
    count,
    fingerprints,
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
  let length = count - 1;
  for (let i = 0; i < count; i++) length += scan.link(sources[i]!, 3) - scan.link(sources[i]!, 2);
  const bytes = new Uint8Array(length);
  const base = scan.get('anchors');
  const from = scan.bytes(base, scan.get('anchorsEnd'));
  let at = 0;
  for (let i = 0; i < count; i++) {
    if (i > 0) bytes[at++] = 10;
    const end = scan.link(sources[i]!, 3) - base;
    // Byte by byte: anchors are short, and a call costs more than they do.
    for (let p = scan.link(sources[i]!, 2) - base; p < end; p++) bytes[at++] = from[p]!;
  }
  return bytes;
}
