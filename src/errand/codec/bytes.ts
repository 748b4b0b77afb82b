/**
 * The smallest things that are written and read: varints, texts, byte runs. A reader never trusts a length: whatever
 * does not fit ends as one SkeinError('bad-frame').
 */
import { SkeinError } from '../../base/errors.ts';

const encoder = new TextEncoder();
/** Texts up to this length are written character by character: the encoder takes longer to be called. */
const SHORT = 100;
const LARGEST = 2 ** 53;

export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  /** Bytes that there is room for. A number: to ask the array for it takes a call at each write. */
  #capacity: number;
  #at = 0;

  /** `memory`: written into before any other is asked for. */
  constructor(capacity = 4096, memory?: Uint8Array) {
    this.#bytes = memory ?? unfilled(capacity);
    this.#capacity = this.#bytes.length;
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
  }

  get length(): number {
    return this.#at;
  }

  /** Unsigned, up to 2^53. */
  varint(value: number): void {
    // What never gets smaller would be written without end.
    if (value > LARGEST) throw new SkeinError('internal', `${value} cannot be encoded as a number.`);
    this.#room(8);
    while (value > 127) {
      this.#bytes[this.#at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#at++] = value;
  }

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#at++] = value;
  }

  double(value: number): void {
    this.#room(8);
    this.#view.setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  text(value: string): void {
    // Three bytes per UTF-16 unit is the most that UTF-8 needs; the length is written before, so it is moved in place.
    const { length } = value;
    this.#room(length * 3 + 8);
    if (length <= SHORT && this.#ascii(value, length)) {
      this.#view.setUint32(this.#at, length, true);
      this.#at += 4 + length;
      return;
    }
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(this.#at + 4));
    this.#view.setUint32(this.#at, written, true);
    this.#at += 4 + written;
  }

  /** Writes a text behind the place of its length; false when it is no ASCII, and has to be written otherwise. */
  #ascii(value: string, length: number): boolean {
    const bytes = this.#bytes;
    const at = this.#at + 4;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) return false;
      bytes[at + i] = code;
    }
    return true;
  }

  bytes(value: Uint8Array): void {
    const { length } = value;
    this.varint(length);
    this.#room(length);
    this.#bytes.set(value, this.#at);
    this.#at += length;
  }

  /** Numbers, at a multiple of four so that they can be read where they lie: their length gets the empty groups it takes. */
  words(value: Uint32Array): void {
    const { byteLength } = value;
    this.#room(8 + byteLength);
    let left = byteLength;
    let more: boolean;
    do {
      more = left > 127 || (this.#at + 1) % 4 !== 0;
      this.#bytes[this.#at++] = (left % 128) | (more ? 128 : 0);
      left = Math.floor(left / 128);
    } while (more);
    this.#bytes.set(new Uint8Array(value.buffer, value.byteOffset, byteLength), this.#at);
    this.#at += byteLength;
  }

  /** The bytes so far, as a view of the writer's own memory; the writer must not be used after. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #room(more: number): void {
    if (this.#at + more <= this.#capacity) return;
    const grown = unfilled(Math.max(this.#capacity * 2, this.#at + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#capacity = grown.length;
    this.#view = new DataView(grown.buffer);
  }
}

/** Memory of its own that may be handed to another thread; a parcel of megabytes need not be cleared before it is filled. */
function unfilled(length: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  /** The same bytes, as what makes texts of them. */
  readonly #texts: Buffer;
  readonly #end: number;
  #at = 0;

  constructor(bytes: Uint8Array) {
    const { buffer, byteOffset, byteLength } = bytes;
    this.#bytes = new Uint8Array(buffer, byteOffset, byteLength);
    this.#view = new DataView(buffer, byteOffset, byteLength);
    this.#texts = Buffer.from(buffer, byteOffset, byteLength);
    this.#end = byteLength;
  }

  get left(): number {
    return this.#end - this.#at;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 8; i++) {
      const byte = this.byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw bad('a number is too long');
  }

  byte(): number {
    if (this.#at >= this.#end) throw bad('it is truncated');
    return this.#bytes[this.#at++]!;
  }

  double(): number {
    this.#need(8);
    const value = this.#view.getFloat64(this.#at, true);
    this.#at += 8;
    return value;
  }

  text(): string {
    this.#need(4);
    const length = this.#view.getUint32(this.#at, true);
    this.#at += 4;
    if (length === 0) return '';
    this.#need(length);
    const start = this.#at;
    this.#at += length;
    return length <= WORD_BYTES ? this.#known(start, length) : this.#texts.toString('utf8', start, start + length);
  }

  /** Most short texts are one of a few words: what was read before is compared, which is quicker than to make it again. */
  #known(start: number, length: number): string {
    const bytes = this.#bytes;
    const slot = (length * 37 + bytes[start]! * 5 + bytes[start + length - 1]!) & (REMEMBERED - 1);
    const before = remembered[slot]!;
    if (before.length === length && spells(before, bytes, start)) return before;
    const made = this.#texts.toString('utf8', start, start + length);
    remembered[slot] = made;
    return made;
  }

  /** A view of the reader's bytes, not a copy. */
  bytes(): Uint8Array {
    const length = this.varint();
    this.#need(length);
    const value = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  /** Numbers of 32 bits: a view where they lie at a multiple of four, as the writer puts them, else a copy. */
  words(): Uint32Array {
    const bytes = this.bytes();
    if (bytes.length % 4 !== 0) throw bad('it is truncated within a number');
    const { buffer, byteOffset } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
    return new Uint32Array(buffer, byteOffset, bytes.length / 4);
  }

  /** A count of things that take at least `size` bytes each, so that a lie cannot make us allocate. */
  count(size: number): number {
    const count = this.varint();
    if (count * size > this.left) throw bad('a count exceeds its size');
    return count;
  }

  end(): void {
    if (this.left !== 0) throw bad('it has bytes behind its end');
  }

  #need(length: number): void {
    if (length > this.#end - this.#at) throw bad('it is truncated');
  }
}

/** Texts up to this many bytes are remembered, so many of them. */
const WORD_BYTES = 16;
const REMEMBERED = 256;
const remembered: string[] = new Array(REMEMBERED).fill('');

/** True for ASCII alone: in any other text there are fewer characters than bytes. */
function spells(text: string, bytes: Uint8Array, start: number): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== bytes[start + i]) return false;
  return true;
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A message does not decode: ${what}.`);
}
