/**
 * Goes through a segment member by member, in bounded memory. It reads any, whole or damaged: what is wrong comes as a
 * problem in its place, and reading goes on at the next member that makes sense.
 */
import { readMember } from '../errand/warc/gzip.ts';
import { type ParsedRecord, parseRecord } from '../errand/warc/warc.ts';
import { RECORD_LIMIT } from './read.ts';
import type { SegmentInfo, SegmentSource } from './store/segment-store.ts';

interface ReaderOptions {
  /** Bytes that one record may expand to; one that is larger is a problem. Default 256 MiB. */
  readonly limit?: number;
  /** Offset of a member to begin with. Default 0. */
  readonly start?: number;
}

interface At {
  readonly offset: number;
  /** Bytes in the segment. */
  readonly length: number;
}

export type ReadEntry =
  | (At & {
      readonly kind: 'record';
      readonly record: ParsedRecord;
      /** The gzip member as it is in the segment, and what it expands to. */
      readonly member: Uint8Array;
      readonly data: Uint8Array;
    })
  | (At & { readonly kind: 'problem'; readonly problem: string });

const WINDOW_BYTES = 1 << 20;

/** `segment.bytes`: where to stop; a member that begins there is not read. */
export async function* openReader(
  source: SegmentSource,
  segment: SegmentInfo,
  { limit = RECORD_LIMIT, start = 0 }: ReaderOptions = {},
): AsyncGenerator<ReadEntry> {
  const window = new Window(source, segment, start);
  while (!window.atEnd()) {
    const { offset } = window;
    const member = readMember(window.bytes(), limit);
    if (member.kind === 'member') {
      const { data, length } = member;
      const bytes = window.bytes().subarray(0, length);
      window.skip(length);
      const record = parseRecord(data);
      if (record.kind === 'problem') yield { offset, length, ...record };
      else yield { offset, length, kind: 'record', record, member: bytes, data };
    } else if (member.kind === 'short' && window.more(limit)) {
      await window.extend();
    } else {
      const problem = member.kind === 'short' ? 'cut short' : member.problem;
      await nextMember(window, limit);
      yield { offset, length: window.offset - offset, kind: 'problem', problem };
    }
  }
}

/** Moves to the next place that holds a whole member, or to the end. */
async function nextMember(window: Window, limit: number): Promise<void> {
  if (!window.atEnd()) window.skip(1);
  while (!window.atEnd()) {
    const bytes = window.bytes();
    const found = bytes.indexOf(MAGIC);
    if (found < 0) {
      // The magic may lie across the end of the window.
      const keep = window.more(WINDOW_BYTES) ? MAGIC.length - 1 : 0;
      window.skip(Math.max(0, bytes.length - keep));
      if (keep > 0) await window.extend();
      continue;
    }
    window.skip(found);
    const { kind } = readMember(window.bytes(), limit);
    if (kind === 'member') return;
    if (kind === 'short' && window.more(Math.min(limit, SEARCH_BYTES))) await window.extend();
    else window.skip(1);
  }
}

/** Behind damage, a member that would take more than this is passed over: three bytes are a weak sign of a member. */
const SEARCH_BYTES = 1 << 25;
const MAGIC = Buffer.of(0x1f, 0x8b, 8);

/** A part of the segment in memory, which moves forward. */
class Window {
  readonly #source: SegmentSource;
  readonly #segment: number;
  #size: number;
  /** Where #held[#start] lies in the segment. */
  offset: number;
  #held: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(source: SegmentSource, { id, bytes }: SegmentInfo, offset: number) {
    this.#source = source;
    this.#segment = id;
    this.#size = bytes;
    this.offset = offset;
  }

  bytes(): Buffer {
    return this.#held.subarray(this.#start);
  }

  skip(count: number): void {
    this.#start += count;
    this.offset += count;
  }

  atEnd(): boolean {
    return this.offset >= this.#size;
  }

  /** False when the segment ends here, or more than `limit` (and what little deflate can add to it) is held already. */
  more(limit: number): boolean {
    const held = this.#held.length - this.#start;
    return this.offset + held < this.#size && held <= limit + (limit >> 8) + WINDOW_BYTES;
  }

  /** At least doubles what is held, so that a large member is tried a few times only. */
  async extend(): Promise<void> {
    const old = this.bytes();
    const room = Math.min(Math.max(WINDOW_BYTES, old.length * 2), this.#size - this.offset);
    const larger = Buffer.allocUnsafe(room);
    old.copy(larger);
    const added = larger.subarray(old.length);
    const filled = old.length + (await this.#source.read(this.#segment, this.offset + old.length, added));
    if (filled < room) this.#size = this.offset + filled; // it shrank meanwhile
    this.#held = larger.subarray(0, filled);
    this.#start = 0;
  }
}
