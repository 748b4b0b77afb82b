/**
 * The port under the archive: where its segments lie. Segments are written on this machine's disk, always; reading goes
 * through the port, because a segment may lie elsewhere by then, in a bucket or with another peer.
 *
 * Every implementation passes test/contracts/segment-store.ts. One is this disk alone (disk-segments.ts).
 */
import { SkeinError } from '../../base/errors.ts';
import { segmentName } from '../segments.ts';

export interface SegmentInfo {
  /** Segments count from 1. */
  readonly id: number;
  readonly bytes: number;
}

/** Reads that may wait: the bytes may lie anywhere. */
export interface SegmentSource {
  /** All that there are, by id. */
  list(): Promise<SegmentInfo[]>;
  /**
   * Fills `into` with the bytes from `offset` on; returns how many there were, fewer only where the segment ends. Throws
   * MissingSegment where there is no such segment.
   */
  read(id: number, offset: number, into: Uint8Array): Promise<number>;
}

/** The segments on this disk, without waiting: for the writer, and for reads inside a transaction. */
export interface SegmentsHere {
  list(): SegmentInfo[];
  /** As SegmentSource reads. Throws MissingSegment for one that lies elsewhere, too. */
  read(id: number, offset: number, into: Uint8Array): number;
}

export interface SegmentStore extends SegmentSource {
  readonly here: SegmentsHere;
  /**
   * Writes whole members at the end of a segment here, or begins it with them; returns where they begin. All or nothing: a
   * write that fails leaves the length where it was.
   */
  append(id: number, members: Uint8Array): number;
  /** Cuts a segment here to a length that it has. */
  cut(id: number, length: number): void;
  /** Nothing more will be appended to it. */
  seal(id: number): void;
  /** Resolves when everything appended before the call would survive a power cut. */
  sync(): Promise<void>;
  /** Removes it from this disk, if it is there. */
  removeHere(id: number): void;
  /** Removes it from this disk, and from wherever it was copied to. */
  remove(id: number): Promise<void>;
  close(): void;
}

/** There is no such segment, or not where it was looked for. */
export class MissingSegment extends SkeinError {
  readonly segment: number;

  constructor(segment: number, options?: ErrorOptions) {
    super('damaged', `${segmentName(segment)} is missing.`, 'Run "skein verify" to see what is affected.', options);
    this.segment = segment;
  }
}

/**
 * The committed length of each segment that the ledger names. Only the last may have a tail that the ledger has not committed;
 * all before it were sealed, so they are whole whatever length the ledger noted.
 */
export function committedEnds(found: readonly SegmentInfo[], noted: readonly NotedSegment[]): Map<number, number> {
  const bytes = new Map(found.map(segment => [segment.id, segment.bytes]));
  const last = noted.at(-1)?.id;
  return new Map(noted.map(({ id, length }) => [id, id === last ? length : Math.max(length, bytes.get(id) ?? 0)]));
}

/** A segment as the ledger notes it. */
export interface NotedSegment {
  readonly id: number;
  readonly length: number;
}
