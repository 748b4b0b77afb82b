/** Segments on this disk, a file each. */
import * as fs from 'node:fs';
import path from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, syncDirectory } from '../../base/file.ts';
import { listSegments, segmentName } from '../segments.ts';
import { MissingSegment, type SegmentInfo, type SegmentStore, type SegmentsHere } from './segment-store.ts';

/** Files that are kept open for reading. */
const OPEN_FILES = 16;
/**
 * Bytes from which on a read leaves this thread. A record of 10 kB in the page cache takes 4 µs in place, and 20 µs of
 * processor or more by way of Node's thread pool; a window of a megabyte is worth the way.
 */
const LARGE = 1 << 18;
const DISK_FULL = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

interface OpenSegment {
  readonly id: number;
  readonly handle: number;
  length: number;
}

export function openDisk(directory: string): SegmentStore {
  return new DiskSegments(directory);
}

class DiskSegments implements SegmentStore {
  readonly #directory: string;
  readonly #read = new Map<number, number>();
  readonly #written = new Map<number, OpenSegment>();
  /** Sealed, still to be synced and closed. */
  #sealed: OpenSegment[] = [];
  /** A file was created since the directory itself was last synced. */
  #created = false;
  /** Bytes were written since the last sync began. */
  #dirty = false;
  /** The last sync, which the next one waits for: two at once could close a file below each other. */
  #syncing: Promise<void> = Promise.resolve();
  readonly here: SegmentsHere;

  constructor(directory: string) {
    this.#directory = directory;
    this.here = {
      list: () => listSegments(directory).map(({ id, bytes }) => ({ id, bytes })),
      read: (id, offset, into) => this.#readHere(id, offset, into),
    };
  }

  async list(): Promise<SegmentInfo[]> {
    return this.here.list();
  }

  async read(id: number, offset: number, into: Uint8Array): Promise<number> {
    if (into.length < LARGE) return this.#readHere(id, offset, into);
    // Opened anew: the handle that is kept may be closed by another read meanwhile.
    const handle = await fs.promises.open(this.#file(id), 'r').catch(error => {
      throw missing(id, error);
    });
    try {
      let filled = 0;
      while (filled < into.length) {
        const { bytesRead } = await handle.read(into, filled, into.length - filled, offset + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return filled;
    } finally {
      await handle.close();
    }
  }

  append(id: number, members: Uint8Array): number {
    const segment = this.#written.get(id) ?? this.#open(id);
    const offset = segment.length;
    this.#dirty = true;
    try {
      writeAll(segment, members);
    } catch (error) {
      if (offset === 0) this.removeHere(id);
      throw error;
    }
    return offset;
  }

  cut(id: number, length: number): void {
    const written = this.#written.get(id);
    if (written) fs.closeSync(written.handle);
    this.#written.delete(id);
    fs.truncateSync(this.#file(id), length);
  }

  seal(id: number): void {
    const written = this.#written.get(id);
    if (!written) return;
    this.#written.delete(id);
    this.#sealed.push(written);
    this.#dirty = true;
  }

  sync(): Promise<void> {
    const after = this.#syncing.then(() => this.#syncNow());
    this.#syncing = after.catch(() => {}); // whoever asked for it hears of it
    return after;
  }

  removeHere(id: number): void {
    for (const handle of [this.#read.get(id), this.#written.get(id)?.handle])
      if (handle !== undefined) fs.closeSync(handle);
    this.#read.delete(id);
    this.#written.delete(id);
    fs.rmSync(this.#file(id), { force: true });
  }

  async remove(id: number): Promise<void> {
    this.removeHere(id);
  }

  close(): void {
    for (const handle of this.#read.values()) fs.closeSync(handle);
    for (const { handle } of [...this.#written.values(), ...this.#sealed]) fs.closeSync(handle);
    this.#read.clear();
    this.#written.clear();
    this.#sealed = [];
  }

  #file(id: number): string {
    return path.join(this.#directory, segmentName(id));
  }

  #open(id: number): OpenSegment {
    const file = this.#file(id);
    const bytes = fs.statSync(file, { throwIfNoEntry: false })?.size;
    if (bytes === undefined) fs.mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    const segment = { id, handle: openForWriting(file, bytes === undefined), length: bytes ?? 0 };
    this.#created ||= bytes === undefined;
    this.#written.set(id, segment);
    return segment;
  }

  async #syncNow(): Promise<void> {
    if (!this.#dirty) return;
    this.#dirty = false;
    const sealed = this.#sealed;
    this.#sealed = [];
    if (this.#created) {
      this.#created = false;
      await syncDirectory(this.#directory);
    }
    for (const { handle } of sealed) await syncHandle(handle).finally(() => fs.closeSync(handle));
    for (const { handle } of [...this.#written.values()]) await syncHandle(handle);
  }

  /** Reads on this thread, through handles that stay open for the segments that were used last. */
  #readHere(id: number, offset: number, into: Uint8Array): number {
    const handle = this.#handle(id);
    let filled = 0;
    while (filled < into.length) {
      const read = fs.readSync(handle, into, filled, into.length - filled, offset + filled);
      if (read === 0) break;
      filled += read;
    }
    return filled;
  }

  #handle(id: number): number {
    let handle = this.#read.get(id);
    try {
      handle ??= fs.openSync(this.#file(id), 'r');
    } catch (error) {
      throw missing(id, error);
    }
    this.#read.delete(id);
    this.#read.set(id, handle);
    for (const [oldest, unused] of this.#read) {
      if (this.#read.size <= OPEN_FILES) break;
      fs.closeSync(unused);
      this.#read.delete(oldest);
    }
    return handle;
  }
}

function missing(id: number, error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code === 'ENOENT' ? new MissingSegment(id, { cause: error }) : error;
}

function openForWriting(file: string, isNew: boolean): number {
  try {
    return fs.openSync(file, isNew ? 'wx+' : 'r+', PRIVATE);
  } catch (error) {
    throw asDiskFull(error, path.basename(file));
  }
}

/** All or nothing: on failure the file is cut back, and `length` stays, so that a later try overwrites the rest. */
function writeAll(segment: OpenSegment, bytes: Uint8Array): void {
  let written = 0;
  try {
    while (written < bytes.length) {
      written += fs.writeSync(segment.handle, bytes, written, bytes.length - written, segment.length + written);
    }
  } catch (error) {
    fs.ftruncateSync(segment.handle, segment.length);
    throw asDiskFull(error, segmentName(segment.id));
  }
  segment.length += bytes.length;
}

function asDiskFull(error: unknown, name: string): unknown {
  if (!DISK_FULL.has((error as NodeJS.ErrnoException).code ?? '')) return error;
  return new SkeinError(
    'disk-full',
    `The disk is full: no room to write ${name}.`,
    'Everything reported so far is safe. Make room, then run the same command again.',
    { cause: error },
  );
}

function syncHandle(handle: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(handle, error => (error ? reject(asDiskFull(error, 'the archive')) : resolve()));
  });
}
