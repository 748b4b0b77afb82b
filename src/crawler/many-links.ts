/**
 * The links of a page that has more of them than the scanner holds at once: an index of packages, of words, of all there
 * is. It is read again in pieces so short that none can have too many. Only links are taken from there: what counts as
 * the content of the page, and so as its change, stays what the first reading found.
 */
import { LONGEST_URL } from '../base/url.ts';
import type { Links } from '../errand/visit.ts';
import { collectLinks, type LinkContext, mergeFlags } from './links.ts';
import { MAX_LINKS, type Mode, type Scanner } from './scanner/scanner.ts';

/** Bytes: shorter than as many of the shortest links as the scanner holds. */
const PIECE = 65_536;
/** More are not taken: twice what a sitemap may name, and no more bytes of URLs than the first reading may find. */
const MOST_LINKS = 100_000;
const MOST_BYTES = MAX_LINKS * LONGEST_URL;

export interface Reading {
  readonly scan: Scanner;
  /** The page in UTF-8. */
  readonly body: Uint8Array;
  readonly mode: Mode;
}

/** `first` and what the rest of the page links to. The scanner holds something else afterwards. */
export function manyLinks({ scan, body, mode }: Reading, page: LinkContext, first: Links): Links {
  const all = new Gathering();
  all.add(first);
  for (const piece of pieces(Buffer.from(body.buffer, body.byteOffset, body.length))) {
    if (all.count >= MOST_LINKS || all.bytes >= MOST_BYTES) break;
    scan.scan(piece, mode);
    all.add(collectLinks(scan, page).links);
  }
  return all.packed();
}

/** Cut before a link where there is one, else before a tag. */
function* pieces(body: Buffer): Generator<Buffer> {
  for (let from = 0; from < body.length; ) {
    let to = Math.min(from + PIECE, body.length);
    if (to < body.length) {
      const cut = [body.lastIndexOf('<a ', to - 3), body.lastIndexOf('<', to - 1)].find(at => at > from);
      to = cut ?? to;
    }
    yield body.subarray(from, to);
    from = to;
  }
}

class Gathering {
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
