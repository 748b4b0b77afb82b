/**
 * Versions of pages that went home, on the outpost's disk, by the digest of their bytes. A parcel may be held against a
 * version only when an errand names its digest: then home has it, and needs no acknowledgement to say so.
 *
 * All threads of an outpost share the folder. Files appear by renaming and are never changed, so they need no lock. Those
 * used longest ago go first when the folder grows over its limit; each thread looks after that, so that the limit may be
 * passed by a sixteenth for each of them. They take at most half of what the disk has left besides: parcels need it more. A
 * version that is missing costs a page sent whole, never more.
 */
import * as fs from 'node:fs';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const NAME = /^[0-9a-f]{32}$/;
const LARGEST = 64 << 20;

export class VersionCache {
  readonly #directory: string;
  readonly #most: number;
  /** Bytes that may be written before the folder is looked through again. */
  #allowance = 0;
  #temporary = 0;

  /** `most`: bytes on the disk. */
  constructor(directory: string, most: number) {
    this.#directory = directory;
    this.#most = most;
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#sweep();
  }

  /** `raw`: 16 bytes. Undefined = not here, or damaged. */
  get(raw: Uint8Array): Uint8Array | undefined {
    const file = this.#file(raw);
    try {
      const block = zstdDecompressSync(fs.readFileSync(file), { maxOutputLength: LARGEST });
      const now = Date.now() / 1000;
      fs.utimesSync(file, now, now);
      return block;
    } catch {
      return undefined; // swept by another thread, cut by a full disk: the page travels whole
    }
  }

  put(raw: Uint8Array, block: Uint8Array): void {
    if (block.length > LARGEST) return;
    this.#write(raw, file => {
      const bytes = zstdCompressSync(block);
      fs.writeFileSync(file, bytes, { mode: 0o600 });
      return bytes.length;
    });
  }

  /** The page is the same to a reader and has other bytes now: home keeps the version it has, and names the new digest. */
  alias(raw: Uint8Array, stored: Uint8Array): void {
    this.#write(raw, file => {
      fs.linkSync(this.#file(stored), file);
      return 0;
    });
  }

  #write(raw: Uint8Array, write: (file: string) => number): void {
    const temporary = join(this.#directory, `${process.pid}-${threadId}-${this.#temporary++}`);
    try {
      this.#allowance -= write(temporary);
      fs.renameSync(temporary, this.#file(raw));
    } catch {
      fs.rmSync(temporary, { force: true }); // a full disk, or nothing to link to: the page travels whole next time
    }
    if (this.#allowance < 0) this.#sweep();
  }

  #sweep(): void {
    const files: { name: string; used: number; bytes: number }[] = [];
    for (const name of fs.readdirSync(this.#directory)) {
      const stat = fs.statSync(join(this.#directory, name), { throwIfNoEntry: false });
      if (!stat) continue;
      // What another thread is writing now is young; what a crash left is not.
      if (NAME.test(name)) files.push({ name, used: stat.mtimeMs, bytes: stat.size / stat.nlink });
      else if (Date.now() - stat.mtimeMs > 60_000) fs.rmSync(join(this.#directory, name), { force: true });
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const most = Math.min(this.#most, (bytes + freeBytes(this.#directory)) / 2);
    const goal = bytes > most ? most * 0.9 : most;
    for (const file of files.sort((a, b) => a.used - b.used)) {
      if (bytes <= goal) break;
      fs.rmSync(join(this.#directory, file.name), { force: true });
      bytes -= file.bytes;
    }
    this.#allowance = most / 16;
  }

  #file(raw: Uint8Array): string {
    return join(this.#directory, Buffer.from(raw).toString('hex'));
  }
}

function freeBytes(directory: string): number {
  const { bavail, bsize } = fs.statfsSync(directory);
  return bavail * bsize;
}
