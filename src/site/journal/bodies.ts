/**
 * Versions of pages, by the hash of their bodies, so that a reader that holds an older one gets the difference. One file,
 * written at its end; each version is its SHA-256, its length, and the body in zstd. A version that is lost costs a reader
 * a whole page instead of a difference and nothing else, so nothing here waits for the disk.
 */
import { hash } from 'node:crypto';
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { PRIVATE } from '../../base/file.ts';
import { siteLimits } from '../../notices/site/discovery.ts';

const HEAD = 36;
const LEVEL = 3;

interface BodyPlace {
  readonly sha256: string;
  readonly at: number;
  readonly length: number;
}

export class Bodies {
  readonly #file: string;
  readonly #most: number;
  #descriptor: number;
  #length = 0;
  /** By the first 16 digits of the hash, oldest first: what readers name versions by. */
  readonly #places = new Map<string, BodyPlace>();

  /** `most`: bytes of the file; beyond, the older half of what is no longer current goes. */
  constructor(directory: string, most: number) {
    this.#file = join(directory, 'bodies');
    this.#most = most;
    closeSync(openSync(this.#file, 'a', PRIVATE));
    this.#descriptor = openSync(this.#file, 'r+');
    this.#find();
  }

  get bytes(): number {
    return this.#length;
  }

  get count(): number {
    return this.#places.size;
  }

  has(sha256: string): boolean {
    return this.#places.get(sha256.slice(0, 16))?.sha256 === sha256;
  }

  put(sha256: string, body: Uint8Array): void {
    if (this.has(sha256) || body.length > siteLimits.pageBytes) return;
    const packed = zstdCompressSync(body, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } });
    this.#append(sha256, packed);
  }

  /** By the whole hash, or as much of it as a reader names (16 digits); undefined = not kept. */
  get(sha256: string): Uint8Array | undefined {
    const place = this.#places.get(sha256.slice(0, 16));
    if (place === undefined || !place.sha256.startsWith(sha256)) return undefined;
    try {
      const body = zstdDecompressSync(this.#packed(place), { maxOutputLength: siteLimits.pageBytes });
      return hash('sha256', body, 'hex') === place.sha256 ? body : undefined;
    } catch {
      return undefined; // a version that a crash tore: the reader gets the whole page
    }
  }

  /** Makes room when the file has grown too large; versions that are current stay. */
  tidy(currentOnes: () => ReadonlySet<string>): void {
    if (this.#length <= this.#most) return;
    const current = currentOnes();
    const places = [...this.#places.values()];
    const kept = new Set<BodyPlace>();
    let room = this.#most / 2;
    for (const place of places.toReversed()) {
      const isCurrent = current.has(place.sha256);
      if (!isCurrent && place.length > room) continue;
      if (!isCurrent) room -= place.length;
      kept.add(place);
    }
    const old = this.#descriptor;
    const fresh = openSync(`${this.#file}.new`, 'w+', PRIVATE);
    const packed = places.filter(place => kept.has(place)).map(place => ({ place, bytes: this.#packed(place) }));
    this.#descriptor = fresh;
    this.#length = 0;
    this.#places.clear();
    for (const { place, bytes } of packed) this.#append(place.sha256, bytes);
    renameSync(`${this.#file}.new`, this.#file);
    closeSync(old);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #append(sha256: string, packed: Uint8Array): void {
    const record = Buffer.alloc(HEAD + packed.length);
    record.write(sha256, 0, 'hex');
    record.writeUInt32LE(packed.length, 32);
    record.set(packed, HEAD);
    writeSync(this.#descriptor, record, 0, record.length, this.#length);
    this.#places.set(sha256.slice(0, 16), { sha256, at: this.#length + HEAD, length: packed.length });
    this.#length += record.length;
  }

  #packed({ at, length }: BodyPlace): Uint8Array {
    const packed = Buffer.alloc(length);
    readSync(this.#descriptor, packed, 0, length, at);
    return packed;
  }

  #find(): void {
    const { size } = fstatSync(this.#descriptor);
    const head = Buffer.alloc(HEAD);
    let at = 0;
    while (at + HEAD <= size && readSync(this.#descriptor, head, 0, HEAD, at) === HEAD) {
      const length = head.readUInt32LE(32);
      if (at + HEAD + length > size) break;
      const sha256 = head.toString('hex', 0, 32);
      this.#places.set(sha256.slice(0, 16), { sha256, at: at + HEAD, length });
      at += HEAD + length;
    }
    this.#length = at;
    if (at < size) ftruncateSync(this.#descriptor, at);
  }
}
