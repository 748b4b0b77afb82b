/** Segments on this disk, with copies elsewhere: written here, and read here or, if this disk lacks them, from the copies. */
import { join } from 'node:path';
import { openDisk } from '../../archive/store/disk-segments.ts';
import {
  MissingSegment,
  type SegmentInfo,
  type SegmentSource,
  type SegmentStore,
  type SegmentsHere,
} from '../../archive/store/segment-store.ts';

/** Opens the copies, when something is read that is not here: whoever has everything on this disk never loads this. */
export type OpenCopies = () => Promise<{
  readonly source: SegmentSource;
  remove(id: number): Promise<void>;
  close(): void;
}>;

interface OffsiteParts {
  /** Of the partition. */
  readonly directory: string;
  readonly open: OpenCopies;
  /** Segments that should exist: if this disk has all of them, the copies are not asked. */
  readonly named: () => readonly number[];
}

export class OffsiteSegments implements SegmentStore {
  readonly #disk: SegmentStore;
  readonly #parts: OffsiteParts;
  #opened: ReturnType<OpenCopies> | undefined;
  readonly here: SegmentsHere;

  constructor(parts: OffsiteParts) {
    this.#parts = parts;
    this.#disk = openDisk(join(parts.directory, 'archive'));
    this.here = this.#disk.here;
  }

  #copies(): ReturnType<OpenCopies> {
    this.#opened ??= this.#parts.open();
    return this.#opened;
  }

  async list(): Promise<SegmentInfo[]> {
    const here = this.here.list();
    const ids = new Set(here.map(({ id }) => id));
    if (this.#parts.named().every(id => ids.has(id))) return here;
    const elsewhere = (await (await this.#copies()).source.list()).filter(({ id }) => !ids.has(id));
    return [...here, ...elsewhere].sort((one, two) => one.id - two.id);
  }

  async read(id: number, offset: number, into: Uint8Array): Promise<number> {
    try {
      return await this.#disk.read(id, offset, into);
    } catch (error) {
      if (!(error instanceof MissingSegment)) throw error;
    }
    return await (await this.#copies()).source.read(id, offset, into);
  }

  append(id: number, members: Uint8Array): number {
    return this.#disk.append(id, members);
  }

  cut(id: number, length: number): void {
    this.#disk.cut(id, length);
  }

  seal(id: number): void {
    this.#disk.seal(id);
  }

  sync(): Promise<void> {
    return this.#disk.sync();
  }

  removeHere(id: number): void {
    this.#disk.removeHere(id);
  }

  async remove(id: number): Promise<void> {
    this.#disk.removeHere(id);
    await (await this.#copies()).remove(id);
  }

  close(): void {
    this.#disk.close();
    // One that could not be opened has nothing to close, and whoever asked has heard why.
    this.#opened?.then(
      opened => opened.close(),
      () => {},
    );
    this.#opened = undefined;
  }
}
