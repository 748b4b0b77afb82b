/**
 * The host's side of the scanner: puts bytes into the module's memory, reads the results out of it. One module per
 * thread, used again for every page, so a Scan is valid only until the next call of scan().
 * The scanner itself is assembly/scanner.ts; it never sees a header or a file.
 */
import type { Borrowed } from '../../base/borrowed.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Fingerprint } from '../../base/url.ts';
import { compileWasm } from '../../base/wasm.ts';
import type { Links } from '../../errand/visit.ts';
import { limits, regions } from './layout.ts';

/** Longer bodies are scanned up to here. */
export const MAX_SCAN = limits.MAX_INPUT[1];

/** More links of a page are not recorded. */
export const MAX_LINKS = limits.MAX_LINKS[1];

export type Mode = 'html' | 'xml' | 'plain';
const modes = { html: 0, xml: 1, plain: 2 } as const satisfies Record<Mode, number>;

interface ScannerExports {
  readonly memory: WebAssembly.Memory;
  reserve(length: number): number;
  scan(length: number, mode: number): void;
  resolveLinks(length: number, origin: number): number;
  roomForUrl(length: number): number;
  placeUrl(link: number, length: number, high: number, low: number): void;
  packLinks(): number;
  note(on: boolean): void;
}

const RESULT = regions.RESULT.at;
const PACKED = regions.PACKED.at;
const FACTS = regions.FACTS.at;
const LINKS = regions.LINKS.at;
const IMAGES = regions.IMAGES.at;
const { at: DIRECTORY, bytes: MAX_DIRECTORY } = regions.DIRECTORY;
/** Links that the module leaves to the host; it packs them there afterwards. */
const LEFT_OVER = regions.UNIQUE.at;

/** Order of the 32-bit results behind the seven 64-bit ones; assembly/result.ts writes them. */
const names = [
  'distinctCodes',
  'text',
  'textEnd',
  'title',
  'titleEnd',
  'canon',
  'canonEnd',
  'references',
  'referencesEnd',
  'ascii',
  'anchors',
  'anchorsEnd',
  'links',
  'images',
  'blocks',
  'urls',
  'words',
  'keywords',
  'tagFirst',
  'tagLast',
  'structure',
  'imageHash',
  'robots',
  'base',
  'baseEnd',
  'refresh',
  'refreshEnd',
  'language',
  'languageEnd',
  'description',
  'descriptionEnd',
  'factsEnd',
  'journal',
  'journalEnd',
] as const;
type ResultName = (typeof names)[number];
const LONGS = 7;
/** Where each 32-bit result lies. By its name here, not by a string: V8 looks up one of so many strings in a slow way. */
export const at = Object.fromEntries(names.map((name, i) => [name, RESULT / 4 + LONGS * 2 + i])) as Record<
  ResultName,
  number
>;

/**
 * 32-bit words of one link: 0, 1 start and end of its reference; 2, 3 of its anchor; 4 flags; after resolveLinks() also
 * 8, 9 start and end of its URL, or 0; 10, 11 the halves of its fingerprint.
 */
const LINK_WORDS = limits.LINK_BYTES[1] / 4;

/** As in errand/visit.ts, and which of them is the canonical address of the page; NO_LINK = none is. */
export interface ScannedLinks extends Omit<Links, 'lastmod'> {
  readonly canonical: number;
}
export const NO_LINK = 0xffff_ffff;

/**
 * Of links and pictures: hash of the canonical form, and the value as it stands there. Of tags: their hash alone. Of what is masked in
 * the canonical text: what stands there.
 */
export interface ScannedPiece {
  readonly kind: 'link' | 'picture' | 'tags' | 'masked';
  readonly hash: number;
  readonly value: string;
}
const pieceKinds = ['link', 'picture', 'tags', 'masked'] as const;
/** Stands in canonical text for what is masked. */
export const MASK = '\u0001';
/** Bytes of the three hashes behind the canonical text. */
const SEALS = 24;

export class Scanner {
  readonly #exports: ScannerExports;
  #bytes = Buffer.alloc(0);
  /** The same; a slice of it is a copy. */
  #plain = new Uint8Array(0);
  #words = new Uint32Array(0);

  constructor(module: WebAssembly.Module = loadModule()) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as ScannerExports;
  }

  /** Reads a page of UTF-8. Any bytes will do; throws only when the machine has no memory left. `pieces`: these are wanted, links are not. */
  scan(body: Uint8Array, mode: Mode, pieces = false): void {
    const length = Math.min(body.length, MAX_SCAN);
    const input = this.#exports.reserve(length);
    if (input === 0) throw new SkeinError('internal', `no memory to scan ${length} bytes`);
    this.#look();
    this.#bytes.set(length === body.length ? body : body.subarray(0, length), input);
    this.#exports.note(pieces);
    this.#exports.scan(length, modes[mode]);
    if (pieces) this.#look();
  }

  /** Growing the memory detaches its old buffer. */
  #look(): void {
    const { buffer } = this.#exports.memory;
    if (this.#bytes.buffer === buffer) return;
    this.#bytes = Buffer.from(buffer);
    this.#plain = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
  }

  /** Size of the module's memory. */
  get memory(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  /** Pieces of the page in the order in which they stand: what it refers to, and the tags of each block of its text. */
  pieces(): ScannedPiece[] {
    const bytes = this.#bytes;
    const end = this.get(at.journalEnd);
    const found: ScannedPiece[] = [];
    for (let from = this.get(at.journal); from < end; ) {
      const head = bytes.readUInt32LE(from + 8);
      const start = from + 12;
      from = start + (head >>> 8);
      // 53 bits: as many as a number holds.
      const hash = bytes.readUInt32LE(start - 12) + (bytes.readUInt32LE(start - 8) & 0x1fffff) * 2 ** 32;
      found.push({ kind: pieceKinds[(head & 255) - 1]!, hash, value: bytes.toString('utf8', start, from) });
    }
    return found;
  }

  /** Canonical text, a line a block. */
  canonical(): string {
    return this.string(this.get(at.canon), this.get(at.canonEnd) - SEALS);
  }

  /** A result; `place` is one of `at`. */
  get(place: number): number {
    return this.#words[place]!;
  }

  /** A view of the module's memory. */
  bytes(start: number, end: number): Borrowed<Buffer> {
    return this.#bytes.subarray(start, end);
  }

  string(start: number, end: number): string {
    return start === end ? '' : this.#bytes.toString('utf8', start, end);
  }

  /** What is visible of the page. */
  text(): string {
    return this.string(this.get(at.text), this.get(at.textEnd));
  }

  /**
   * Resolves the links that are plain paths against `http://host/folder/`, in which everything is plain too; `origin`
   * is where its path begins. Returns how many cannot be resolved so: leftOver() names them.
   */
  resolveLinks(directory: string, origin: number): number {
    const length = directory.length > MAX_DIRECTORY ? 0 : directory.length;
    if (length > 0) this.#bytes.write(directory, DIRECTORY, 'latin1');
    const left = this.#exports.resolveLinks(length, origin);
    this.#look();
    return enough(left);
  }

  /** Number of a link that was not resolved. */
  leftOver(index: number): number {
    const pair = this.#words[LEFT_OVER / 4 + (index >> 1)]!;
    return (index & 1) === 0 ? pair & 0xffff : pair >>> 16;
  }

  /** The reference of a link, without its fragment. ASCII, mostly: latin1 is the faster way to the same string. */
  linkReference(link: number): string {
    const place = LINKS / 4 + link * LINK_WORDS;
    const coding = this.get(at.ascii) === 1 ? 'latin1' : 'utf8';
    return this.#bytes.toString(coding, this.#words[place]!, this.#words[place + 1]!);
  }

  /** A link that was not resolved leads to this URL, which is ASCII. */
  placeUrl(link: number, url: string, { high, low }: Readonly<Fingerprint>): void {
    const to = this.#exports.roomForUrl(url.length);
    if (to === 0) throw noMemory();
    this.#look();
    this.#bytes.write(url, to, 'latin1');
    this.#exports.placeUrl(link, url.length, high, low);
  }

  /** The links that have a URL, each once, as they travel; undefined = there are none. A copy. */
  packLinks(): ScannedLinks | undefined {
    const count = enough(this.#exports.packLinks());
    if (count === 0) return undefined;
    this.#look();
    const place = PACKED / 4;
    const start = this.#words[place]!;
    const { buffer } = this.#plain.slice(start, this.#words[place + 3]!);
    const urls = this.#words[place + 1]! - start;
    const anchors = this.#words[place + 2]! - start;
    return {
      count,
      fingerprints: new Uint32Array(buffer, 0, count * 2),
      flags: new Uint8Array(buffer, count * 8, count),
      relevance: new Uint8Array(buffer, count * 9, count),
      urls: new Uint8Array(buffer, urls, anchors - urls),
      anchors: new Uint8Array(buffer, anchors),
      canonical: this.#words[place + 4]!,
    };
  }

  /** As packFacts of errand/facts.ts would give them, without the digests. A copy. */
  facts(): Uint8Array {
    return this.#plain.slice(FACTS, this.get(at.factsEnd));
  }

  image(index: number, word: number): number {
    return this.#words[IMAGES / 4 + index * 2 + word]!;
  }
}

/** What the module returns is all ones when it has no memory left. */
function enough(value: number): number {
  if (value === -1) throw noMemory();
  return value;
}

function noMemory(): SkeinError {
  return new SkeinError('internal', 'no memory for the links of a page');
}

let loaded: WebAssembly.Module | undefined;

/** Compiled once per thread, for all scanners. */
function loadModule(): WebAssembly.Module {
  loaded ??= compileWasm(new URL('./scanner.wasm', import.meta.url));
  return loaded;
}
