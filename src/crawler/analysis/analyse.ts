/**
 * What a page is: its links, its words, its facts. Takes a decoded body, finds its characters, lets the scanner read
 * it once, and turns what the scanner found into a Page. Never fetches, never compares, never keeps the body.
 *
 * Any bytes give a Page; what is no text gives one with hashes only.
 */

import { hash } from 'node:crypto';
import { lent } from '../../base/borrowed.ts';
import { normalise } from '../../base/url.ts';
import { bareFacts, packFacts, putDigests } from '../../errand/facts.ts';
import { payloadDigest } from '../../errand/warc/warc.ts';
import { forbids, robotsOf } from '../robots/page-robots.ts';
import { at, MAX_LINKS, type Mode, type ScannedPiece, Scanner } from '../scanner/scanner.ts';
import type { Page } from '../stages.ts';
import { charsetOf, toUtf8 } from './charset.ts';
import { withRefresh } from './image-links.ts';
import { collectLinks, noLinks } from './links.ts';
import { manyLinks } from './many-links.ts';

interface BodyToAnalyse {
  /** Normalised. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** With transfer and content coding removed. */
  readonly body: Uint8Array;
  /** SHA-256 of the body as it came, at least 16 bytes of it; made from `body` when absent. */
  readonly raw?: Uint8Array;
}

interface AnalyseOptions {
  /** Keywords of a focused crawl: links get a relevance. */
  readonly focus?: readonly string[];
  /** Name by which robots rules in headers may address us. */
  readonly agentToken?: string;
}

const MAX_TITLE = 300;
const MAX_IMAGES = 1024;

/** Memory of a scanner that met a huge page is given back; the next page gets a new one. */
const KEPT_MEMORY = 16 * 1024 * 1024;

let scanner: Scanner | undefined;

export function analyse(input: BodyToAnalyse, options: AnalyseOptions = {}): Page {
  const { url, headers, body } = input;
  const mediaType = mediaTypeOf(headers.get('content-type'), body);
  const raw = input.raw ?? payloadDigest(body);
  const mode = modeOf(mediaType);
  const robots = robotsOf(headers.get('x-robots-tag'), options.agentToken ?? 'skein');
  if (mode === undefined) return opaque(input, mediaType, raw, robots);
  const charset = charsetOf(body, headers.get('content-type')).name;
  const scan = scanned(body, charset, mode);
  const base = scan.get(at.base) === 0 ? undefined : scan.string(scan.get(at.base), scan.get(at.baseEnd));
  const place = base === undefined ? url : (normalise(base, url) ?? url);
  const resolve = (href: string): string | undefined => normalise(href, place);
  const focus = options.focus ?? [];
  const { links, canonical } = collectLinks(scan, { base: place, focus });
  const refresh = refreshOf(scan, resolve);
  const page: Page = {
    url,
    mediaType,
    charset,
    title: titleOf(scan),
    language: languageOf(scan, headers.get('content-language')),
    canonical,
    refresh,
    links: withRefresh(links, refresh),
    images: imagesOf(scan, resolve),
    facts: factsOf(scan, raw),
    words: scan.get(at.words),
    bytes: body.length,
    // Read again when someone asks, which is rare: keeping it would cost every page a copy.
    text: () => scanned(body, charset, mode).text(),
    ...forbids(scan.get(at.robots) | robots), // last: V8 takes a slow way for each field that follows a spread
  };
  if (scan.get(at.links) < MAX_LINKS) return page;
  return { ...page, links: manyLinks({ scan, body: toUtf8(body, charset), mode }, { base: place, focus }, page.links) };
}

/** What a page says. */
interface Wording {
  readonly mediaType: string;
  readonly charset: string;
  readonly title: string;
  /** Primary tag of BCP 47, empty = unknown. */
  readonly language: string;
  readonly text: string;
}

/** What `analyse` says of title, language and text, for who wants nothing else, in a third of the time. */
export function wordsOf({ headers, body }: BodyToAnalyse): Wording {
  const mediaType = mediaTypeOf(headers.get('content-type'), body);
  const mode = modeOf(mediaType);
  if (mode === undefined) return { mediaType, charset: '', title: '', language: '', text: '' };
  const charset = charsetOf(body, headers.get('content-type')).name;
  const scan = scanned(body, charset, mode);
  const language = languageOf(scan, headers.get('content-language'));
  return { mediaType, charset, title: titleOf(scan), language, text: scan.text() };
}

/** A page taken apart, for who compares two versions of it. */
export interface Pieces {
  /** Canonical text, block by block: volatile stamps are masked, advertising is left out. */
  readonly texts: readonly string[];
  /** What it refers to and how it is marked up, in order. */
  readonly pieces: readonly ScannedPiece[];
  /** What is masked in the texts, in their order. */
  readonly masked: readonly string[];
}

/** Undefined for a body that is no text. */
export function piecesOf({ headers, body }: Pick<BodyToAnalyse, 'headers' | 'body'>): Pieces | undefined {
  const mode = modeOf(mediaTypeOf(headers.get('content-type'), body));
  if (mode === undefined) return undefined;
  const scan = scanned(body, charsetOf(body, headers.get('content-type')).name, mode, true);
  const all = scan.pieces();
  return {
    texts: scan
      .canonical()
      .split('\n')
      .filter(line => line !== ''),
    pieces: all.filter(({ kind }) => kind !== 'masked'),
    masked: all.filter(({ kind }) => kind === 'masked').map(({ value }) => value),
  };
}

/** Reads the page; what it found is there until the next page is read. */
function scanned(body: Uint8Array, charset: string, mode: Mode, pieces = false): Scanner {
  const scan = scanner ?? new Scanner();
  scan.scan(toUtf8(body, charset), mode, pieces);
  scanner = scan.memory > KEPT_MEMORY ? undefined : scan;
  return scan;
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** What was computed last is kept: a server says the same of nearly all its pages. */
function keepingLast(compute: (text: string) => string): (text: string) => string {
  let last = '';
  let result = compute(last);
  return text => {
    if (text !== last) {
      result = compute(text);
      last = text;
    }
    return result;
  };
}

/** Media type in lower case without parameters, empty when it is none. */
const namedType = keepingLast(contentType => {
  const named = contentType.split(';', 1)[0]!.trim().toLowerCase();
  return MEDIA_TYPE.test(named) ? named : '';
});

/** Guessed from the first bytes when the server names none. */
function mediaTypeOf(contentType: string | undefined, body: Uint8Array): string {
  const named = namedType(contentType ?? '');
  if (named !== '') return named;
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, 512)).toString('latin1');
  if (/^(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|!--|h1|div|p|a|table|title)\b/i.test(start)) return 'text/html';
  if (/^(?:\xef\xbb\xbf)?\s*<\?xml/.test(start)) return 'application/xml';
  return start.includes('\0') ? 'application/octet-stream' : 'text/plain';
}

/** How the scanner reads a type; undefined = not at all. */
function modeOf(mediaType: string): Mode | undefined {
  if (mediaType === 'text/html') return 'html';
  if (mediaType.endsWith('+xml') && mediaType !== 'image/svg+xml') return 'xml';
  if (mediaType === 'text/xml' || mediaType === 'application/xml') return 'xml';
  return mediaType.startsWith('text/') || mediaType === 'application/json' ? 'plain' : undefined;
}

/** A page of which only the bytes are known. */
function opaque({ url, body }: BodyToAnalyse, mediaType: string, raw: Uint8Array, robots: number): Page {
  const digest = hash('sha256', body, 'buffer');
  const facts = { ...bareFacts(raw, digest.subarray(0, 16)), mainHash: digest.readBigUInt64LE() };
  return {
    url,
    mediaType,
    charset: '',
    title: '',
    language: '',
    canonical: undefined,
    ...forbids(robots),
    refresh: undefined,
    links: noLinks,
    images: [],
    facts: packFacts(facts),
    words: 0,
    bytes: body.length,
    text: () => '',
  };
}

function titleOf(scan: Scanner): string {
  const start = scan.get(at.title);
  if (start === 0) return '';
  // An end that was never seen: the title is the first line.
  const end = scan.get(at.titleEnd) || scan.get(at.textEnd);
  const title = scan.string(start, Math.min(end, start + MAX_TITLE * 4));
  // The scanner has left single blanks but for those of other scripts.
  return (/\s\s|[^\S ]/.test(title) ? title.replace(/\s+/g, ' ') : title).trim().slice(0, MAX_TITLE);
}

function languageOf(scan: Scanner, header: string | undefined): string {
  const said = scan.string(scan.get(at.language), scan.get(at.languageEnd)) || header?.split(',', 1)[0] || '';
  return primaryTag(said);
}

const primaryTag = keepingLast(said => {
  const primary = said.trim().toLowerCase().split(/[-_]/, 1)[0]!;
  return /^[a-z]{2,8}$/.test(primary) ? primary : '';
});

/** `5; url=next.html`, with or without quotes. */
function refreshOf(scan: Scanner, resolve: (href: string) => string | undefined): string | undefined {
  if (scan.get(at.refresh) === 0) return undefined;
  const content = scan.string(scan.get(at.refresh), scan.get(at.refreshEnd));
  const found = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(.+))$/is.exec(content);
  const target = found?.[1] ?? found?.[2] ?? found?.[3];
  return target ? resolve(target.trim()) : undefined;
}

function imagesOf(scan: Scanner, resolve: (href: string) => string | undefined): readonly string[] {
  const count = Math.min(scan.get(at.images), MAX_IMAGES);
  if (count === 0) return [];
  const found = new Set<string>();
  for (let i = 0; i < count; i++) {
    const url = resolve(scan.string(scan.image(i, 0), scan.image(i, 1)));
    if (url !== undefined) found.add(url);
  }
  return [...found];
}

function factsOf(scan: Scanner, raw: Uint8Array): Uint8Array {
  const facts = scan.facts();
  putDigests(facts, raw, payloadDigest(lent(scan.bytes(scan.get(at.canon), scan.get(at.canonEnd)))));
  return facts;
}
