/**
 * The host's side of the scanner: puts bytes into the module's memory, reads the results out of it. One module per
 * thread, used again for every page, so a Scan is valid only until the next call of scan().
 * The scanner itself is assembly/scanner.ts; it never sees a URL, a header or a file.
 */
import { readFileSync } from 'node:fs';
import { SkeinError } from '../../base/errors.ts';

/** Longer bodies are scanned up to here. Equals MAX_INPUT of assembly/memory.ts. */
export const MAX_SCAN = 16 * 1024 * 1024;

/** More links of a page are not recorded. Equals MAX_LINKS of assembly/memory.ts. */
export const MAX_LINKS = 10_000;

export type Mode = 'html' | 'xml' | 'plain';
const modes = { html: 0, xml: 1, plain: 2 } as const satisfies Record<Mode, number>;

interface Exports {
  readonly memory: WebAssembly.Memory;
  reserve(length: number): number;
  scan(length: number, mode: number): void;
  resolveLinks(length: number, origin: number): number;
}

/** Addresses of tables that the host reads; assembly/memory.ts has them too. */
const RESULT = 0x400;
const LEVELS = 0x1200;
const LINKS = 0x30000;
const IMAGES = 0xa8000;
const BLOCKS = 0xb0000;
const DIRECTORY = 0xe0000;
const MAX_DIRECTORY = 8192;

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
] as const;
type Name = (typeof names)[number];
const LONGS = 7;
/** Where each 32-bit result lies, as an index of 32-bit words. */
const at = Object.fromEntries(names.map((name, i) => [name, RESULT / 4 + LONGS * 2 + i])) as Record<Name, number>;

/**
 * 32-bit words of one link: 0, 1 start and end of its reference; 2, 3 of its anchor; 4 flags; after resolveLinks() also
 * 8, 9 start and end of its URL, or 0; 10, 11 the halves of its fingerprint.
 */
export const LINK_WORDS = 12;

export class Scanner {
  readonly #exports: Exports;
  #bytes = Buffer.alloc(0);
  #words = new Uint32Array(0);

  constructor(module: WebAssembly.Module = loadModule()) {
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
  }

  /** Reads a page of UTF-8. Any bytes will do; throws only when the machine has no memory left. */
  scan(body: Uint8Array, mode: Mode): void {
    const length = Math.min(body.length, MAX_SCAN);
    const input = this.#exports.reserve(length);
    if (input === 0) throw new SkeinError('internal', `no memory to scan ${length} bytes`);
    // Growing the memory detaches its old buffer.
    if (this.#bytes.buffer !== this.#exports.memory.buffer) {
      this.#bytes = Buffer.from(this.#exports.memory.buffer);
      this.#words = new Uint32Array(this.#exports.memory.buffer);
    }
    this.#bytes.set(length === body.length ? body : body.subarray(0, length), input);
    this.#exports.scan(length, modes[mode]);
  }

  /** Size of the module's memory. */
  get memory(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  get(name: Name): number {
    return this.#words[at[name]]!;
  }

  /** 0 sum of bytes, 1 links, 2 main part, 3 simhash, 4 sum of codes, 5 of their squares, 6 number of characters. */
  long(index: number): bigint {
    return BigInt(this.#words[RESULT / 4 + index * 2]!) | (BigInt(this.#words[RESULT / 4 + index * 2 + 1]!) << 32n);
  }

  /** The same where 53 bits are enough. */
  number(index: number): number {
    return this.#words[RESULT / 4 + index * 2]! + this.#words[RESULT / 4 + index * 2 + 1]! * 2 ** 32;
  }

  /** A view of the module's memory; copy what is to live longer than the scan. */
  bytes(start: number, end: number): Buffer {
    return this.#bytes.subarray(start, end);
  }

  string(start: number, end: number): string {
    return start === end ? '' : this.#bytes.toString('utf8', start, end);
  }

  /** A reference or another value of an attribute. ASCII, mostly: latin1 is the faster way to the same string. */
  reference(start: number, end: number): string {
    return this.#bytes.toString(this.#words[at.ascii] === 1 ? 'latin1' : 'utf8', start, end);
  }

  /** The links, LINK_WORDS words each. */
  links(): Uint32Array {
    return this.#words.subarray(LINKS / 4, LINKS / 4 + this.get('links') * LINK_WORDS);
  }

  /**
   * Resolves the links that are plain paths against `http://host/folder/`, in which everything is plain too; `origin`
   * is where its path begins. What cannot be resolved so has no URL after it.
   */
  resolveLinks(directory: string, origin: number): void {
    const length = directory.length > MAX_DIRECTORY ? 0 : directory.length;
    this.#bytes.write(directory.slice(0, length), DIRECTORY, 'latin1');
    this.#exports.resolveLinks(length, origin);
  }

  image(index: number, word: number): number {
    return this.#words[IMAGES / 4 + index * 2 + word]!;
  }

  level(index: number): number {
    return this.#words[LEVELS / 4 + index]!;
  }

  /** Hashes of the blocks of text, in order; a view. */
  blocks(): Uint32Array {
    return this.#words.subarray(BLOCKS / 4, BLOCKS / 4 + this.get('blocks'));
  }
}

let loaded: WebAssembly.Module | undefined;

/** Compiled once per thread, for all scanners. */
function loadModule(): WebAssembly.Module {
  loaded ??= new WebAssembly.Module(readFileSync(new URL('./scanner.wasm', import.meta.url)));
  return loaded;
}
