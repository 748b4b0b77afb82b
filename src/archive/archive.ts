/**
 * The archive: the collected pages, as WARC 1.1. Segments `segment-000001.warc.gz`, … are only ever appended to; each
 * begins with a warcinfo record and holds one gzip member per record, so a place (segment, offset, length) is all that
 * is needed to read a record back. Members arrive compressed and are written as they came.
 *
 * It never decides what is kept, never looks up a URL (the ledger does), and never compresses on the thread that calls.
 *
 * Invariant: whatever happens, each segment is a run of whole members up to the length that the ledger has committed.
 * The order that keeps it: append, then the ledger commits `ends()` together with the places. After a crash of the process
 * recover(end) cuts what the ledger never heard of. A write that fails leaves the length where it was. Home calls sync()
 * about once a second: of what came after the last one a power cut may leave the ledger's word and not the records, and
 * recover() then says so.
 */
import * as fs from 'node:fs';
import { SkeinError } from '../base/errors.ts';
import type { RecordPlace } from '../errand/visit.ts';
import { newRecordId, type Original, recordMember } from '../errand/warc/warc.ts';
import { dropParts } from './cdxj.ts';
import { readStored, type StoredPlace, type StoredReader } from './read.ts';
import { revisitOf } from './revisit.ts';
import { segmentName } from './segments.ts';
import { openDisk } from './store/disk-segments.ts';
import type { SegmentStore } from './store/segment-store.ts';

export interface ArchiveOptions {
  /** A segment that would grow beyond this is left and the next begun. Default 1 GiB. */
  readonly segmentBytes?: number;
  /** Most bytes that recover() may cut; more cannot come from a crash, and is not thrown away. Default 256 MiB. */
  readonly maxTailBytes?: number;
  /** Named in each warcinfo record. */
  readonly software?: string;
}

/** Where the archive ends. Segment 0: it is empty. */
interface ArchiveEnd {
  readonly segment: number;
  readonly length: number;
}

/** One visit's records inside a parcel's member section. */
export interface Arrival {
  readonly place: RecordPlace;
  /** Its body is in the archive already: a revisit record is kept in place of the response. */
  readonly sameAs?: Original | undefined;
}

export interface Archive extends StoredReader {
  readonly directory: string;
  /** Writes whole members in one go; returns where they begin. */
  append(members: Uint8Array): { readonly segment: number; readonly offset: number };
  /** Writes a parcel's members in one go; returns where each arrival's records now are. */
  appendParcel(members: Uint8Array, arrivals: readonly Arrival[]): StoredPlace[];
  /**
   * What the ledger commits along with the places: the new length of each segment, from `first` on, that was written to. A
   * segment that was left since the last commit has grown until then, so the one being written is not enough.
   */
  ends(first: number): ArchiveEnd[];
  /** Leaves the segment that is being written and begins the next one. */
  roll(): void;
  /**
   * Cuts everything behind `end`; the first call after opening, before any append. `elsewhere`: a segment that is not here
   * lies in a store, and the next append begins another one.
   */
  recover(end: ArchiveEnd, elsewhere?: boolean): void;
  /** Resolves when everything appended before the call would survive a power cut. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

export function openArchive(directory: string, options: ArchiveOptions = {}): Archive {
  return new Segments(directory, options);
}

class Segments implements Archive {
  readonly directory: string;
  readonly #store: SegmentStore;
  readonly #segmentBytes: number;
  readonly #maxTailBytes: number;
  readonly #software: string;
  /** Last id in use, whether or not we write to it. */
  #last: number;
  /** The segment that is being written. */
  #current: ArchiveEnd | undefined;
  /** The last segment lies elsewhere: having none to write to is no error. */
  #elsewhere = false;
  /** Ends of the segments that were left since the archive was opened. */
  readonly #sealed: ArchiveEnd[] = [];
  readonly read: StoredReader['read'];

  constructor(directory: string, options: ArchiveOptions) {
    this.directory = directory;
    this.#store = openDisk(directory);
    this.#segmentBytes = options.segmentBytes ?? 2 ** 30;
    this.#maxTailBytes = options.maxTailBytes ?? 2 ** 28;
    this.#software = options.software ?? 'Skein';
    fs.mkdirSync(directory, { recursive: true });
    this.#last = this.#store.here.list().at(-1)?.id ?? 0;
    this.read = readStored(this.#store).read;
  }

  append(members: Uint8Array): { segment: number; offset: number } {
    const { segment } = this.#segmentFor(members.length);
    const offset = this.#store.append(segment, members);
    this.#current = { segment, length: offset + members.length };
    return { segment, offset };
  }

  appendParcel(members: Uint8Array, arrivals: readonly Arrival[]): StoredPlace[] {
    const pieces: Uint8Array[] = [];
    const places: { offset: number; length: number; requestLength: number }[] = [];
    let taken = 0; // bytes of `members` dealt with
    let shift = 0; // how much shorter what is written is by then
    for (const { place, sameAs } of arrivals) {
      const { offset, length, requestLength } = place;
      const response = offset + requestLength;
      if (response < taken || requestLength >= length || offset + length > members.length) {
        throw new SkeinError('bad-frame', 'a parcel names records outside its member section');
      }
      const revisit = sameAs && revisitOf(members.subarray(response, offset + length), sameAs);
      const newLength = revisit === undefined ? length : requestLength + revisit.length;
      places.push({ offset: offset - shift, length: newLength, requestLength });
      if (revisit === undefined) continue;
      pieces.push(members.subarray(taken, response), revisit);
      taken = offset + length;
      shift += length - newLength;
    }
    pieces.push(members.subarray(taken));
    if (members.length === 0) return [];
    const { segment, offset } = this.append(pieces.length === 1 ? members : Buffer.concat(pieces));
    return places.map(place => ({ ...place, segment, offset: offset + place.offset }));
  }

  ends(first: number): ArchiveEnd[] {
    if (this.#current) return [...this.#sealed.filter(({ segment }) => segment >= first), this.#current];
    // "Nothing" would let the next recover() cut it all.
    if (this.#last > 0 && !this.#elsewhere)
      throw new SkeinError('internal', 'ends() of an archive that was not recovered');
    return [];
  }

  roll(): void {
    this.#begin();
  }

  recover(end: ArchiveEnd, elsewhere = false): void {
    if (this.#current) throw new SkeinError('internal', 'recover() after the first append');
    const segments = this.#store.here.list();
    const known = segments.find(segment => segment.id === end.segment);
    this.#elsewhere = elsewhere && end.segment > 0 && known === undefined;
    if (end.segment > 0 && (known?.bytes ?? -1) < end.length && !this.#elsewhere) {
      const found = known ? `has ${known.bytes} bytes` : 'is missing';
      throw new SkeinError(
        'damaged',
        `${segmentName(end.segment)} ${found}, but according to the ledger it has ${end.length}.`,
        'Restore the file from a copy, or go on without what is lost: skein verify --repair.',
      );
    }
    const beyond = segments.filter(segment => segment.id > end.segment);
    const tail = (known ? known.bytes - end.length : 0) + beyond.reduce((sum, segment) => sum + segment.bytes, 0);
    if (tail > this.#maxTailBytes) {
      throw new SkeinError(
        'damaged',
        `the archive has ${tail} bytes that are not in the ledger, more than a crash can leave.`,
        `Is this the right ledger? Move the segments after ${segmentName(end.segment)} away to go on without them.`,
      );
    }
    if (tail > 0) dropParts(this.directory, end.segment);
    for (const { id } of beyond) this.#store.removeHere(id);
    this.#last = end.segment;
    if (known === undefined) return;
    if (known.bytes > end.length) this.#store.cut(end.segment, end.length);
    this.#current = end;
  }

  sync(): Promise<void> {
    return this.#store.sync();
  }

  async close(): Promise<void> {
    await this.sync();
    this.#current = undefined;
    this.#store.close();
  }

  /**
   * The current segment if `bytes` fit, else a new one. Without recover() the first append begins a new segment, so
   * that nothing is ever written behind a tail that may be torn.
   */
  #segmentFor(bytes: number): ArchiveEnd {
    const current = this.#current;
    if (current && (current.length + bytes <= this.#segmentBytes || current.length === 0)) return current;
    return this.#begin();
  }

  #begin(): ArchiveEnd {
    const current = this.#current;
    const id = this.#last + 1;
    const lines = new Map([
      ['software', this.#software],
      ['format', 'WARC File Format 1.1'],
      ['conformsTo', 'http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/'],
    ]);
    const info = { kind: 'warcinfo', id: newRecordId(), time: Date.now(), filename: segmentName(id), lines } as const;
    const first = recordMember(info, 'stored');
    this.#store.append(id, first);
    if (current) {
      this.#store.seal(current.segment);
      this.#sealed.push(current);
    }
    this.#last = id;
    this.#current = { segment: id, length: first.length };
    return this.#current;
  }
}
