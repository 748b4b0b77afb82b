/**
 * What a page is: its links, its words, its facts. Takes a decoded body, finds its characters, lets the scanner read
 * it once, and turns what the scanner found into a Page. Never fetches, never compares, never keeps the body.
 *
 * Any bytes give a Page; what is no text gives one with hashes only.
 */
import { hash } from 'node:crypto';
import { normalise } from '../base/url.ts';
import { type Facts, MAX_BLOCKS, MAX_LEVEL_COUNT, MAX_LEVELS } from '../errand/facts.ts';
import { charsetOf, toUtf8 } from './charset.ts';
import { textCode2 } from './detect/text-codes.ts';
import { withRefresh } from './image-links.ts';
import { collectLinks, noLinks } from './links.ts';
import { manyLinks } from './many-links.ts';
import { forbids, robotsOf } from './page-robots.ts';
import { MAX_LINKS, type Mode, Scanner } from './scanner/scanner.ts';
import type { Page } from './stages.ts';

export interface Body {
  /** Normalised. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** With transfer and content coding removed. */
  readonly body: Uint8Array;
  /** SHA-256 of the body as it came, at least 16 bytes of it; made from `body` when absent. */
  readonly raw?: Uint8Array;
}

export interface AnalyseOptions {
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

export function analyse(input: Body, options: AnalyseOptions = {}): Page {
  const { url, headers, body } = input;
  const mediaType = mediaTypeOf(headers.get('content-type'), body);
  const raw = first16(input.raw ?? hash('sha256', body, 'buffer'));
  const mode = modeOf(mediaType);
  const robots = robotsOf(headers.get('x-robots-tag'), options.agentToken ?? 'skein');
  if (mode === undefined) return opaque(input, mediaType, raw, robots);
  const charset = charsetOf(body, headers.get('content-type')).name;
  const scan = scanned(body, charset, mode);
  const base = scan.get('base') === 0 ? undefined : scan.string(scan.get('base'), scan.get('baseEnd'));
  const place = base === undefined ? url : (normalise(base, url) ?? url);
  const resolve = (href: string): string | undefined => normalise(href, place);
  const text = scan.bytes(scan.get('text'), scan.get('textEnd'));
  const focus = options.focus ?? [];
  const { links, canonical } = collectLinks(scan, { base: place, focus, text });
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
    bytes: body.length,
    text: () => textOf(scanned(body, charset, mode)),
    ...forbids(scan.get('robots') | robots), // last: V8 takes a slow way for each field that follows a spread
  };
  if (scan.get('links') < MAX_LINKS) return page;
  return { ...page, links: manyLinks({ scan, body: toUtf8(body, charset), mode }, { base: place, focus }, page.links) };
}

/** What a page says. */
export interface Wording {
  readonly mediaType: string;
  readonly charset: string;
  readonly title: string;
  /** Primary tag of BCP 47, empty = unknown. */
  readonly language: string;
  readonly text: string;
}

/** What `analyse` says of title, language and text, for who wants nothing else, in a third of the time. */
export function wordsOf({ headers, body }: Body): Wording {
  const mediaType = mediaTypeOf(headers.get('content-type'), body);
  const mode = modeOf(mediaType);
  if (mode === undefined) return { mediaType, charset: '', title: '', language: '', text: '' };
  const charset = charsetOf(body, headers.get('content-type')).name;
  const scan = scanned(body, charset, mode);
  const language = languageOf(scan, headers.get('content-language'));
  return { mediaType, charset, title: titleOf(scan), language, text: textOf(scan) };
}

/** Reads the page; what it found is there until the next page is read. */
function scanned(body: Uint8Array, charset: string, mode: Mode): Scanner {
  const scan = scanner ?? new Scanner();
  scan.scan(toUtf8(body, charset), mode);
  scanner = scan.memory > KEPT_MEMORY ? undefined : scan;
  return scan;
}

/** Read again when someone asks, which is rare: keeping it would cost every page a copy. */
function textOf(scan: Scanner): string {
  return scan.string(scan.get('text'), scan.get('textEnd'));
}

/** A copy that holds nothing else alive. */
function first16(digest: Uint8Array): Uint8Array {
  return new Uint8Array(digest.subarray(0, 16));
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;

/** Media type in lower case without parameters; guessed from the first bytes when the server names none. */
function mediaTypeOf(contentType: string | undefined, body: Uint8Array): string {
  const named = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (named && MEDIA_TYPE.test(named)) return named;
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
function opaque({ url, body }: Body, mediaType: string, raw: Uint8Array, robots: number): Page {
  const digest = hash('sha256', body, 'buffer');
  const facts: Facts = { ...nothing, raw, content: first16(digest), mainHash: digest.readBigUInt64LE() };
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
    facts,
    bytes: body.length,
    text: () => '',
  };
}

const nothing: Omit<Facts, 'raw' | 'content' | 'mainHash'> = {
  linkHash: 0n,
  simhash: 0n,
  asciiSum: 0,
  urls: 0,
  keywords: 0,
  words: 0,
  textCode1: 0,
  textCode2: 0,
  tagFirst: 0,
  tagLast: 0,
  levels: [],
  blocks: new Uint16Array(0),
  imageHash: 0,
  structure: 0,
};

function titleOf(scan: Scanner): string {
  const start = scan.get('title');
  if (start === 0) return '';
  // An end that was never seen: the title is the first line.
  const end = scan.get('titleEnd') || scan.get('textEnd');
  const title = scan.string(start, Math.min(end, start + MAX_TITLE * 4));
  return title.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
}

function languageOf(scan: Scanner, header: string | undefined): string {
  const said = scan.string(scan.get('language'), scan.get('languageEnd')) || header?.split(',', 1)[0] || '';
  const primary = said.trim().toLowerCase().split(/[-_]/, 1)[0]!;
  return /^[a-z]{2,8}$/.test(primary) ? primary : '';
}

/** `5; url=next.html`, with or without quotes. */
function refreshOf(scan: Scanner, resolve: (href: string) => string | undefined): string | undefined {
  if (scan.get('refresh') === 0) return undefined;
  const content = scan.string(scan.get('refresh'), scan.get('refreshEnd'));
  const found = /^[\s\d.]*[;,\s]\s*(?:url\s*=\s*)?(?:"([^"]*)"?|'([^']*)'?|(.+))$/is.exec(content);
  const target = found?.[1] ?? found?.[2] ?? found?.[3];
  return target ? resolve(target.trim()) : undefined;
}

function imagesOf(scan: Scanner, resolve: (href: string) => string | undefined): readonly string[] {
  const count = Math.min(scan.get('images'), MAX_IMAGES);
  if (count === 0) return [];
  const found = new Set<string>();
  for (let i = 0; i < count; i++) {
    const url = resolve(scan.string(scan.image(i, 0), scan.image(i, 1)));
    if (url !== undefined) found.add(url);
  }
  return [...found];
}

function factsOf(scan: Scanner, raw: Uint8Array): Facts {
  const digest = hash('sha256', scan.bytes(scan.get('canon'), scan.get('canonEnd')), 'buffer');
  const distinct = scan.get('distinctCodes');
  return {
    raw,
    content: first16(digest),
    mainHash: scan.long(2),
    linkHash: scan.long(1),
    simhash: scan.long(3),
    asciiSum: scan.number(0),
    urls: scan.get('urls'),
    keywords: scan.get('keywords'),
    words: scan.get('words'),
    textCode1: distinct === 0 ? 0 : scan.number(4) / distinct,
    textCode2: textCode2(scan.number(5), scan.number(6)),
    tagFirst: scan.get('tagFirst'),
    tagLast: scan.get('tagLast'),
    levels: levelsOf(scan),
    blocks: blocksOf(scan),
    imageHash: scan.get('imageHash'),
    structure: scan.get('structure'),
  };
}

function levelsOf(scan: Scanner): readonly number[] {
  const levels: number[] = [];
  for (let i = 0; i < MAX_LEVELS; i++) {
    const count = scan.level(i);
    if (count === 0) break;
    levels.push(Math.min(count, MAX_LEVEL_COUNT));
  }
  return levels;
}

/**
 * More blocks than fit are joined in groups. A group ends at a block whose own hash says so, not at every n-th, so
 * that a block put in or taken out changes the group it is in and no other.
 */
function blocksOf(scan: Scanner): Uint16Array {
  const hashes = scan.blocks();
  const last = hashes.length - 1; // once: asking a view of growing memory for its length costs a call
  const bits = groupBits(hashes, last);
  const folded = new Uint16Array(MAX_BLOCKS);
  let group = 0;
  let sum = 0;
  for (let i = 0; i <= last; i++) {
    const hash = hashes[i]!;
    sum = (Math.imul(sum, 0x01000193) + hash) | 0;
    if (i !== last && onesOf(hash) < bits) continue;
    folded[Math.min(group, MAX_BLOCKS - 1)] = (sum ^ (sum >>> 16)) & 0xffff;
    if (group < MAX_BLOCKS - 1) sum = 0;
    group++;
  }
  return folded.slice(0, Math.min(group, MAX_BLOCKS));
}

/** How many ones the upper half of a hash ends in: they decide where a group ends, what is kept comes from the whole. */
function onesOf(hash: number): number {
  return 31 - Math.clz32(~(hash >>> 16) & ((hash >>> 16) + 1));
}

/** The fewest ones that have to be asked for so that no more groups are left than fit. */
function groupBits(hashes: Uint32Array, last: number): number {
  if (last < MAX_BLOCKS) return 0;
  const counts = new Uint32Array(17);
  for (let i = 0; i < last; i++) counts[onesOf(hashes[i]!)]!++;
  let groups = 1; // the last block ends one in any case
  for (let bits = 16; bits > 0; bits--) {
    groups += counts[bits]!;
    if (groups > MAX_BLOCKS) return Math.min(16, bits + 1);
  }
  return 1;
}
