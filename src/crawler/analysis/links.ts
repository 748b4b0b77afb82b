/**
 * The links of a scanned page, resolved, unique by URL, packed as the contract says, with their relevance. Most are
 * resolved by the scanner and never become strings here; the rest go through the resolver of base/url.ts.
 */
import { type Fingerprint, fingerprint, normalise, resolver } from '../../base/url.ts';
import { LINK_NOFOLLOW, type Links } from '../../errand/visit.ts';
import { at, NO_LINK, type ScannedLinks, type Scanner } from '../scanner/scanner.ts';
import { relevanceOf } from './relevance.ts';

export const noLinks: Links = {
  count: 0,
  fingerprints: new Uint32Array(0),
  flags: new Uint8Array(0),
  relevance: new Uint8Array(0),
  urls: new Uint8Array(0),
  anchors: new Uint8Array(0),
  lastmod: new Float64Array(0),
};

/** The page that links stand on. */
export interface LinkContext {
  /** What they are relative to. */
  readonly base: string;
  /** Keywords of a focused crawl; empty = none has a relevance. */
  readonly focus: readonly string[];
}

interface Collected {
  readonly links: Links;
  readonly canonical: string | undefined;
}

const none: Collected = { links: noLinks, canonical: undefined };

/** A directory in which every character stands for itself, so that the scanner may resolve against it. */
const plainDirectory = /^https?:\/\/[^/?#%;@]+\/(?:[\w\-~!$&()*+,=@./]*\/)?$/;

/** Reads the links of the page that was scanned last. */
export function collectLinks(scan: Scanner, { base, focus }: LinkContext): Collected {
  if (scan.get(at.links) === 0) return none;
  const directory = directoryOf(base);
  const left = scan.resolveLinks(directory, directory === '' ? 0 : directory.indexOf('/', 8));
  if (left > 0) resolveRest(scan, left, resolver(base));
  const packed = scan.packLinks();
  if (packed === undefined) return none;
  const { count, fingerprints, flags, urls, anchors } = packed;
  const relevance =
    focus.length === 0 ? packed.relevance : relevanceOf({ focus, text: scan.text() }, urlsOf(packed), anchors);
  const links = { count, fingerprints, flags, relevance, urls, anchors, lastmod: noLinks.lastmod };
  return { links, canonical: packed.canonical === NO_LINK ? undefined : urlsOf(packed)[packed.canonical] };
}

function urlsOf({ urls }: ScannedLinks): string[] {
  return Buffer.from(urls.buffer, urls.byteOffset, urls.length).toString('latin1').split('\n');
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

const print: Fingerprint = { high: 0, low: 0 };

function resolveRest(scan: Scanner, left: number, resolve: (href: string) => string | undefined): void {
  for (let i = 0; i < left; i++) {
    const link = scan.leftOver(i);
    const url = locate(scan.linkReference(link), resolve);
    if (url !== undefined) scan.placeUrl(link, url, print);
  }
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

/** A link is nofollow only if every mention of it is; the other flags add up. */
export function mergeFlags(a: number, b: number): number {
  return ((a | b) & ~LINK_NOFOLLOW) | (a & b & LINK_NOFOLLOW);
}
