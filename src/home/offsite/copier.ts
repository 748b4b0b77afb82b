/**
 * Copies the segments of a partition to an object store: only what the ledger has committed, so that nothing has to be deleted
 * there except after a power cut or a takeover. It keeps no records of its own that could be wrong: at its first turn it lists
 * what is there, and compares the pieces of the segment that is being written with this disk. A kill at any moment leaves
 * pieces that the next run finds.
 */
import { join } from 'node:path';
import { openDisk } from '../../archive/store/disk-segments.ts';
import type { NotedSegment, SegmentStore } from '../../archive/store/segment-store.ts';
import type { ObjectStore } from './objects.ts';
import { BLOCK, chainOf, digestOf, type Piece, pieceOf, piecesIn } from './pieces.ts';

export class Copier {
  readonly #objects: ObjectStore;
  readonly #disk: SegmentStore;
  /** The pieces in the store; undefined = not listed yet. */
  #pieces: Map<number, Piece[]> | undefined;

  /** `directory`: of the partition. */
  constructor(directory: string, objects: ObjectStore) {
    this.#objects = objects;
    this.#disk = openDisk(join(directory, 'archive'));
  }

  /** Bytes of each segment that are copied. */
  copied(): Map<number, number> {
    return new Map([...(this.#pieces ?? [])].map(([id, pieces]) => [id, chainOf(pieces).end]));
  }

  /** Copies what the ledger names and the store lacks. Throws when the store refuses; the next turn goes on. */
  async turn(noted: readonly NotedSegment[], goesOn: () => boolean = () => true): Promise<void> {
    const pieces = (this.#pieces ??= await this.#begin(noted));
    const named = new Set(noted.map(({ id }) => id));
    for (const id of [...pieces.keys()].filter(each => !named.has(each))) await this.#remove(id, pieces.get(id)!);
    const here = new Set(this.#disk.here.list().map(({ id }) => id));
    for (const { id, length } of noted) if (here.has(id)) await this.#copy(id, length, goesOn);
  }

  async #begin(noted: readonly NotedSegment[]): Promise<Map<number, Piece[]>> {
    this.#pieces = await piecesIn(this.#objects);
    const here = new Set(this.#disk.here.list().map(({ id }) => id));
    const last = noted.at(-1)?.id;
    for (const { id, length } of noted) {
      const pieces = this.#pieces.get(id);
      if (pieces && !here.has(id)) await this.#trim(id, length);
      if (!pieces || !here.has(id)) continue;
      const wrong = pieces.filter(({ to }) => to > length);
      if (id === last)
        for (const piece of pieces) if (piece.to <= length && !(await this.#isRight(piece))) wrong.push(piece);
      if (wrong.length > 0) await this.#remove(id, wrong);
    }
    return this.#pieces;
  }

  /** Shortens a segment of which the store has more than the ledger names, because a machine died in between. */
  async #trim(id: number, length: number): Promise<void> {
    const pieces = this.#pieces!.get(id)!.filter(({ to }) => to > length);
    for (const { name, from } of chainOf(this.#pieces!.get(id)!).chain.filter(({ to }) => to > length)) {
      if (from >= length) continue;
      const bytes = Buffer.alloc(length - from);
      if ((await this.#objects.get(name, 0, bytes)) !== bytes.length) return;
      await this.#keep(id, from, bytes);
    }
    await this.#remove(id, pieces);
  }

  /** This disk has the same bytes there. */
  async #isRight({ segment, from, to, digest }: Piece): Promise<boolean> {
    return digestOf(await this.#bytes(segment, from, to)) === digest;
  }

  async #bytes(id: number, from: number, to: number): Promise<Uint8Array> {
    const bytes = Buffer.alloc(to - from);
    return bytes.subarray(0, await this.#disk.read(id, from, bytes));
  }

  async #copy(id: number, length: number, goesOn: () => boolean): Promise<void> {
    let { end } = chainOf(this.#pieces!.get(id) ?? []);
    while (end < length && goesOn()) {
      const before = end;
      const start = Math.floor(end / BLOCK) * BLOCK;
      const to = Math.min(length, start + BLOCK);
      await this.#put(id, end, to);
      // The block is full: one piece instead of many.
      if (to === start + BLOCK && end > start) await this.#merge(id, start, to);
      ({ end } = chainOf(this.#pieces!.get(id) ?? []));
      if (end === before) return;
    }
  }

  async #merge(id: number, from: number, to: number): Promise<void> {
    const small = this.#pieces!.get(id)!.filter(piece => piece.from >= from && piece.to <= to);
    await this.#put(id, from, to);
    await this.#remove(id, small);
  }

  async #put(id: number, from: number, to: number): Promise<void> {
    const bytes = await this.#bytes(id, from, to);
    if (bytes.length < to - from) return; // the disk has lost it: verify tells
    await this.#keep(id, from, bytes);
  }

  async #keep(id: number, from: number, bytes: Uint8Array): Promise<void> {
    const piece = pieceOf(id, from, bytes);
    await this.#objects.put(piece.name, bytes);
    this.#pieces!.set(id, [...(this.#pieces!.get(id) ?? []), piece]);
  }

  async #remove(id: number, pieces: readonly Piece[]): Promise<void> {
    for (const piece of pieces) {
      await this.#objects.remove(piece.name);
      const left = this.#pieces!.get(id)!.filter(each => each !== piece);
      if (left.length > 0) this.#pieces!.set(id, left);
      else this.#pieces!.delete(id);
    }
  }

  close(): void {
    this.#disk.close();
  }
}
