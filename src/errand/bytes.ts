/**
 * The smallest things that are written and read: varints, texts, byte runs. A reader never trusts a length: whatever
 * does not fit ends as one SkeinError('bad-frame').
 */
import { SkeinError } from '../base/errors.ts';

const encoder = new TextEncoder();
/** Texts up to this length are written character by character: the encoder takes longer to be called. */
const SHORT = 100;

export class ByteWriter {
  #bytes: Uint8Array;
  #view: DataView;
  #at = 0;

  /** `memory`: written into before any other is asked for. */
  constructor(capacity = 4096, memory?: Uint8Array) {
    this.#bytes = memory ?? unfilled(capacity);
    this.#view = new DataView(this.#bytes.buffer, this.#bytes.byteOffset);
  }

  get length(): number {
    return this.#at;
  }

  /** Unsigned, up to 2^53. */
  varint(value: number): void {
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
    if (length <= SHORT && this.#ascii(value)) {
      this.#view.setUint32(this.#at, length, true);
      this.#at += 4 + length;
      return;
    }
    const { written } = encoder.encodeInto(value, this.#bytes.subarray(this.#at + 4));
    this.#view.setUint32(this.#at, written, true);
    this.#at += 4 + written;
  }

  /** Writes a text behind the place of its length; false when it is no ASCII, and has to be written otherwise. */
  #ascii(value: string): boolean {
    const bytes = this.#bytes;
    const at = this.#at + 4;
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i);
      if (code > 127) return false;
      bytes[at + i] = code;
    }
    return true;
  }

  bytes(value: Uint8Array): void {
    this.varint(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** The bytes so far, as a view of the writer's own memory; the writer must not be used after. */
  finish(): Uint8Array {
    return this.#bytes.subarray(0, this.#at);
  }

  #room(more: number): void {
    if (this.#at + more <= this.#bytes.length) return;
    const grown = unfilled(Math.max(this.#bytes.length * 2, this.#at + more));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer, grown.byteOffset);
  }
}

/** Memory of its own that may be handed to another thread; a parcel of megabytes need not be cleared before it is filled. */
function unfilled(length: number): Uint8Array {
  return Buffer.allocUnsafeSlow(length);
}

export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
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
    throw bad('a number does not end');
  }

  byte(): number {
    const value = this.#bytes[this.#at];
    if (value === undefined) throw bad('it ends too early');
    this.#at++;
    return value;
  }

  double(): number {
    this.#need(8);
    const value = this.#bytes.readDoubleLE(this.#at);
    this.#at += 8;
    return value;
  }

  text(): string {
    this.#need(4);
    const length = this.#bytes.readUInt32LE(this.#at);
    this.#at += 4;
    if (length === 0) return '';
    this.#need(length);
    const value = this.#bytes.toString('utf8', this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  /** A view of the reader's bytes, not a copy. */
  bytes(): Uint8Array {
    const length = this.varint();
    this.#need(length);
    const value = this.#bytes.subarray(this.#at, this.#at + length);
    this.#at += length;
    return value;
  }

  /** A count of things that take at least `size` bytes each, so that a lie cannot make us allocate. */
  count(size: number): number {
    const count = this.varint();
    if (count * size > this.left) throw bad('it promises more than it holds');
    return count;
  }

  end(): void {
    if (this.left !== 0) throw bad('it is longer than it says');
  }

  #need(length: number): void {
    if (length > this.left) throw bad('it ends too early');
  }
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A message does not decode: ${what}.`);
}
