/**
 * The links of a page that has more of them than the scanner holds at once: an index of packages, of words, of all there
 * is. It is read again in pieces so short that none can have too many. Only links are taken from there: what counts as
 * the content of the page, and so as its change, stays what the first reading found.
 */
import { LONGEST_URL } from '../../base/url.ts';
import type { Links } from '../../errand/visit.ts';
import { MAX_LINKS, type Mode, type Scanner } from '../scanner/scanner.ts';
import { collectLinks, type LinkContext, mergeFlags } from './links.ts';

/** Bytes: shorter than as many of the shortest links as the scanner holds. */
const PIECE = 65_536;
/** More are not taken: twice what a sitemap may name, and no more bytes of URLs than the first reading may find. */
const MOST_LINKS = 100_000;
const MOST_BYTES = MAX_LINKS * LONGEST_URL;

interface LinkReading {
  readonly scan: Scanner;
  /** The page in UTF-8. */
  readonly body: Uint8Array;
  readonly mode: Mode;
}

/** `first` and what the rest of the page links to. The scanner holds something else afterwards. */
export function manyLinks({ scan, body, mode }: LinkReading, page: LinkContext, first: Links): Links {
  const all = new LinkGathering();
  all.add(first);
  for (const piece of pieces(Buffer.from(body.buffer, body.byteOffset, body.length))) {
    if (all.count >= MOST_LINKS || all.bytes >= MOST_BYTES) break;
    scan.scan(piece, mode);
    all.add(collectLinks(scan, page).links);
  }
  return all.packed();
}

/** What is between these tags is no markup, whatever it looks like. */
const RAW = /(?:script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>])/y;
/** Ends a tag, or begins a value in which a `>` ends nothing. */
const TAG_SIGN = /[>"']/g;

/** Cut before a link where there is one, else before a tag; never within a comment or a script. */
function* pieces(body: Buffer): Generator<Buffer> {
  const text = body.toString('latin1').toLowerCase(); // a character for each byte
  let from = 0;
  let tag = 0;
  let link = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    if (at - from > PIECE) {
      const cut = link > from ? link : tag > from ? tag : at;
      yield body.subarray(from, cut);
      from = cut;
    }
    const { end, raw } = behind(text, at);
    if (raw && end - from > PIECE) {
      // Too long to be kept whole, and nobody looks for links in there.
      if (at > from) yield body.subarray(from, at);
      from = end;
    } else {
      tag = at;
      if (text.startsWith('<a', at) && !(text.charCodeAt(at + 2) > 32)) link = at;
    }
    at = end;
  }
  if (from < body.length) yield body.subarray(from);
}

/** Where the tag at `at` ends; with what belongs to it where that is raw. One that never ends is a sign by itself. */
function behind(text: string, at: number): { readonly end: number; readonly raw: boolean } {
  if (text.startsWith('<!--', at)) {
    const end = text.indexOf('-->', at + 2);
    return end < 0 ? { end: at + 4, raw: false } : { end: end + 3, raw: true };
  }
  RAW.lastIndex = at + 1;
  const name = RAW.exec(text)?.[0];
  const end = tagEnd(text, at);
  if (name === undefined) return { end, raw: false };
  const close = text.indexOf(`</${name}`, end);
  return close < 0 ? { end, raw: false } : { end: close, raw: true };
}

function tagEnd(text: string, at: number): number {
  TAG_SIGN.lastIndex = at + 1;
  for (let sign = TAG_SIGN.exec(text); sign; sign = TAG_SIGN.exec(text)) {
    if (sign[0] === '>') return sign.index + 1;
    const close = text.indexOf(sign[0], sign.index + 1);
    // A quote that never ends, or ends far away, is a sign in the text.
    if (close >= 0 && close - at < PIECE) TAG_SIGN.lastIndex = close + 1;
  }
  return at + 1;
}

class LinkGathering {
  readonly #places = new Map<string, number>();
  readonly #anchors: string[] = [];
  readonly #flags: number[] = [];
  readonly #relevance: number[] = [];
  readonly #prints: number[] = [];

  /** Of all URLs. */
  bytes = 0;

  get count(): number {
    return this.#places.size;
  }

  add({ count, urls, anchors, flags, relevance, fingerprints }: Links): void {
    const urlOf = Buffer.from(urls).toString('latin1').split('\n');
    const anchorOf = Buffer.from(anchors).toString().split('\n');
    for (let i = 0; i < count; i++) {
      const place = this.#places.get(urlOf[i]!);
      if (place !== undefined) {
        this.#flags[place] = mergeFlags(this.#flags[place]!, flags[i]!);
        continue;
      }
      this.#places.set(urlOf[i]!, this.count);
      this.bytes += urlOf[i]!.length;
      this.#anchors.push(anchorOf[i] ?? '');
      this.#flags.push(flags[i]!);
      this.#relevance.push(relevance[i]!);
      this.#prints.push(fingerprints[i * 2]!, fingerprints[i * 2 + 1]!);
    }
  }

  packed(): Links {
    return {
      count: this.count,
      fingerprints: Uint32Array.from(this.#prints),
      flags: Uint8Array.from(this.#flags),
      relevance: Uint8Array.from(this.#relevance),
      urls: Buffer.from([...this.#places.keys()].join('\n'), 'latin1'),
      anchors: Buffer.from(this.#anchors.join('\n')),
      lastmod: new Float64Array(0),
    };
  }
}
