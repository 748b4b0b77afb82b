/**
 * Segments in an object store consist of pieces, because nothing can be appended to an object. The name of a piece says which
 * bytes it holds, and their digest. The pieces of a segment, in the order of their names, are the segment.
 *
 *   segment-000001.warc.gz/0000000000000-0000016777216-5f2a…
 *
 * A block of 16 MiB consists of small pieces while it grows, and of one piece when it is full.
 */
import { hash } from 'node:crypto';
import { segmentIn, segmentName } from '../../archive/segments.ts';
import { MissingSegment, type SegmentInfo, type SegmentSource } from '../../archive/store/segment-store.ts';
import { SkeinError } from '../../base/errors.ts';
import type { ObjectInfo, ObjectStore } from './objects.ts';

/** Bytes of a full block. */
export const BLOCK = 1 << 24;

export interface Piece {
  readonly name: string;
  readonly segment: number;
  readonly from: number;
  readonly to: number;
  readonly digest: string;
}

const DIGITS = 13;

export function digestOf(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex').slice(0, 32);
}

export function pieceOf(segment: number, from: number, bytes: Uint8Array): Piece {
  const [to, digest] = [from + bytes.length, digestOf(bytes)];
  const range = [from, to].map(place => String(place).padStart(DIGITS, '0')).join('-');
  return { name: `${segmentName(segment)}/${range}-${digest}`, segment, from, to, digest };
}

/** Undefined = it is no piece of a segment, is too long, or is not as long as its name says. */
function pieceIn({ name, bytes }: ObjectInfo): Piece | undefined {
  const [, file, first, last, digest] = /^([^/]{1,40})\/(\d{13})-(\d{13})-([0-9a-f]{32})$/.exec(name) ?? [];
  const segment = segmentIn(file ?? '');
  const [from, to] = [Number(first), Number(last)];
  return segment === undefined || to - from !== bytes || bytes <= 0 || bytes > BLOCK
    ? undefined
    : { name, segment, from, to, digest: digest! };
}

/** The pieces that form the beginning of a segment, the longest if several start at one place; the others are not needed. */
export function chainOf(pieces: readonly Piece[]): { chain: Piece[]; end: number } {
  const byStart = new Map<number, Piece>();
  for (const piece of pieces) if (piece.to > (byStart.get(piece.from)?.to ?? 0)) byStart.set(piece.from, piece);
  const chain: Piece[] = [];
  let end = 0;
  for (let next = byStart.get(0); next; next = byStart.get(end)) {
    chain.push(next);
    end = next.to;
  }
  return { chain, end };
}

export async function piecesIn(objects: ObjectStore, segment?: number): Promise<Map<number, Piece[]>> {
  const found = new Map<number, Piece[]>();
  for (const object of await objects.list(segment === undefined ? 'segment-' : `${segmentName(segment)}/`)) {
    const piece = pieceIn(object);
    if (!piece) continue;
    const others = found.get(piece.segment) ?? [];
    found.set(piece.segment, others);
    others.push(piece);
  }
  return found;
}

/** The segments of an object store. Whoever reads records checks what is read by ranges. */
export class CopiedSource implements SegmentSource {
  readonly #objects: ObjectStore;
  readonly #chains = new Map<number, Piece[]>();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  async list(): Promise<SegmentInfo[]> {
    const found = [...(await piecesIn(this.#objects))].map(([id, pieces]) => ({ id, ...chainOf(pieces) }));
    for (const { id, chain } of found) this.#chains.set(id, chain);
    return found.map(({ id, end }) => ({ id, bytes: end })).sort((one, two) => one.id - two.id);
  }

  async read(id: number, offset: number, into: Uint8Array): Promise<number> {
    let chain = this.#chains.get(id) ?? (await this.#find(id));
    for (let attempt = 0; ; attempt++) {
      const read = await this.#readFrom(chain, offset, into);
      // Small pieces may have become one meanwhile.
      if (read !== undefined) return read;
      if (attempt > 0)
        throw new SkeinError('damaged', `A piece of ${segmentName(id)} is missing in ${this.#objects.address}.`);
      chain = await this.#find(id);
    }
  }

  /** A whole segment, piece by piece; each piece is checked against its digest. */
  async *whole(id: number): AsyncGenerator<Uint8Array> {
    for (const { name, from, to, digest } of await this.#find(id)) {
      const bytes = Buffer.alloc(to - from);
      const read = await this.#objects.get(name, 0, bytes);
      if (read !== bytes.length || digestOf(bytes) !== digest)
        throw new SkeinError('damaged', `A copy of ${segmentName(id)} in ${this.#objects.address} is damaged.`);
      yield bytes;
    }
  }

  async #find(id: number): Promise<Piece[]> {
    const { chain } = chainOf((await piecesIn(this.#objects, id)).get(id) ?? []);
    if (chain.length === 0) throw new MissingSegment(id);
    this.#chains.set(id, chain);
    return chain;
  }

  async #readFrom(chain: readonly Piece[], offset: number, into: Uint8Array): Promise<number | undefined> {
    let filled = 0;
    for (const { name, from, to } of chain) {
      const at = offset + filled;
      if (at < from || at >= to || filled === into.length) continue;
      const room = into.subarray(filled, filled + Math.min(into.length - filled, to - at));
      if ((await this.#objects.get(name, at - from, room)) !== room.length) return undefined;
      filled += room.length;
    }
    return filled;
  }
}
