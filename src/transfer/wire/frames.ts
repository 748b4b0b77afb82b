/**
 * Frames: what crosses a line, whatever carries it. A frame is the length of its body (4 bytes), the CRC-32 of its body
 * (4 bytes), and the body: one byte of kind, then what the kind says. Numbers are little-endian. docs/protocol.md
 * explains the order in which they come.
 *
 * The reader trusts no length and no byte: whatever does not fit ends as one SkeinError('bad-frame'), after which the
 * line is of no use. Both directions stand side by side, so that they cannot drift apart.
 */
import { crc32 } from 'node:zlib';
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { ByteReader, ByteWriter } from '../../errand/codec/bytes.ts';
import {
  type Hello,
  LONGEST_PASS,
  readHello,
  readNews,
  readWelcome,
  type StatusNews,
  type Welcome,
} from './messages.ts';

export type Frame =
  | { readonly kind: 'hello'; readonly hello: Hello }
  | { readonly kind: 'welcome'; readonly welcome: Welcome }
  | ErrandFrame
  | ParcelFrame
  /** Everything of the errand up to this parcel is durable at home. */
  | { readonly kind: 'acknowledge'; readonly errand: string; readonly sequence: number }
  /** The errand has ended at home: the outpost forgets it and all its parcels. */
  | { readonly kind: 'forget'; readonly errand: string }
  /** End all errands early and deliver what there is. */
  | { readonly kind: 'recall' }
  /** The outpost cannot finish the errand; what it has of it was sent before. */
  | { readonly kind: 'give-up'; readonly errand: string; readonly why: string }
  /** Send everything again that was not acknowledged. */
  | { readonly kind: 'resend' }
  /** The outpost was given an errand whose code it does not have. */
  | { readonly kind: 'want-code'; readonly code: string }
  | CodeFrame
  | WantPassFrame
  | PassFrame
  | ClaimFrame
  /** What is other than the last status on this line said. */
  | { readonly kind: 'status'; readonly news: StatusNews }
  | { readonly kind: 'ping' }
  | { readonly kind: 'pong' }
  /** The end of the line, on purpose. */
  | { readonly kind: 'bye'; readonly code: ByeCode; readonly why: string };

export interface ErrandFrame {
  readonly kind: 'errand';
  readonly errand: string;
  /** Who may run it and pass it on (warrant.ts). */
  readonly warrant: Uint8Array;
  /** As packErrand wrote it; a relay does not open it. */
  readonly bytes: Uint8Array;
}

export interface ParcelFrame {
  readonly kind: 'parcel';
  readonly errand: string;
  readonly sequence: number;
  readonly done: boolean;
  readonly visits: number;
  /** Who did it, from the outpost nearest to home to the one that ran the errand: `a/b/c`. */
  readonly by: string;
  /** As packSent wrote it; a relay does not open it. */
  readonly bytes: Uint8Array;
}

export interface CodeFrame {
  readonly kind: 'code';
  /** SHA-256 of the code, hexadecimal. */
  readonly code: string;
  /** What home signed about it; empty = whoever was asked does not have it. */
  readonly terms: Uint8Array;
  readonly bytes: Uint8Array;
}

/** An outpost below another asks home for leave to deliver its parcels itself. */
export interface WantPassFrame {
  readonly kind: 'want-pass';
  /** Who asks, seen from whoever gets this: empty = the sender, `b/c` = c below b below the sender. */
  readonly by: string;
  /** Public key of who asks. */
  readonly key: string;
}

export interface PassFrame {
  readonly kind: 'pass';
  /** For whom, seen from whoever gets this; empty = the receiver. */
  readonly by: string;
  /** As issuePass wrote it; a relay does not open it. */
  readonly pass: string;
}

/** On a direct line, before anything else of an errand: proof that the errand was given to the sender. */
export interface ClaimFrame {
  readonly kind: 'claim';
  readonly errand: string;
  /** SHA-256 of the packed errand, hexadecimal. */
  readonly digest: string;
  readonly warrant: Uint8Array;
}

/** `done`: no more work; `later`: come back; the others end the attempt for good. */
export type ByeCode = 'done' | 'later' | 'refused' | 'version-mismatch' | 'bad-frame';
const byeCodes: readonly ByeCode[] = ['done', 'later', 'refused', 'version-mismatch', 'bad-frame'];

const kinds: readonly Frame['kind'][] = [
  'hello',
  'welcome',
  'errand',
  'parcel',
  'acknowledge',
  'forget',
  'recall',
  'give-up',
  'resend',
  'status',
  'ping',
  'pong',
  'bye',
  'want-code',
  'code',
  'want-pass',
  'pass',
  'claim',
];

export const LARGEST_FRAME = 64 << 20;
const HEAD = 8;
/** An errand's id is part of file names at outposts. */
const ID = /^[\w~-]{1,100}$/;

export function encodeFrame(frame: Frame): Uint8Array {
  const body = bodyOf(frame);
  if (body.length > LARGEST_FRAME) throw bad(`it would be ${body.length} bytes long`);
  const bytes = new Uint8Array(HEAD + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length, true);
  view.setUint32(4, crc32(body), true);
  bytes.set(body, HEAD);
  return bytes;
}

/** The kind of a frame that encodeFrame wrote. */
export function kindOf(encoded: Uint8Array): Frame['kind'] {
  return kinds[encoded[HEAD]!]!;
}

function bodyOf(frame: Frame): Uint8Array {
  const out = new ByteWriter('bytes' in frame ? frame.bytes.length + 512 : 512);
  out.byte(kinds.indexOf(frame.kind));
  switch (frame.kind) {
    case 'hello':
      out.text(JSON.stringify(frame.hello));
      break;
    case 'welcome':
      out.text(JSON.stringify(frame.welcome));
      break;
    case 'status':
      out.text(JSON.stringify(frame.news));
      break;
    case 'errand':
      out.text(frame.errand);
      out.bytes(frame.warrant);
      out.bytes(frame.bytes);
      break;
    case 'parcel':
      out.text(frame.errand);
      out.varint(frame.sequence);
      out.byte(frame.done ? 1 : 0);
      out.varint(frame.visits);
      out.text(frame.by);
      out.bytes(frame.bytes);
      break;
    case 'acknowledge':
      out.text(frame.errand);
      out.varint(frame.sequence);
      break;
    case 'give-up':
      out.text(frame.errand);
      out.text(frame.why);
      break;
    case 'forget':
    case 'want-code':
      out.text(frame.kind === 'forget' ? frame.errand : frame.code);
      break;
    case 'code':
      out.text(frame.code);
      out.bytes(frame.terms);
      out.bytes(frame.bytes);
      break;
    case 'want-pass':
    case 'pass':
      out.text(frame.by);
      out.text(frame.kind === 'pass' ? frame.pass : frame.key);
      break;
    case 'claim':
      out.text(frame.errand);
      out.text(frame.digest);
      out.bytes(frame.warrant);
      break;
    case 'bye':
      out.byte(byeCodes.indexOf(frame.code));
      out.text(frame.why);
  }
  return out.finish();
}

function frameOf(body: Uint8Array): Frame {
  const from = new ByteReader(body);
  const kind = kinds[from.byte()];
  if (kind === undefined) throw bad('its type is unknown');
  const frame = readBody(kind, from);
  from.end();
  return frame;
}

function readBody(kind: Frame['kind'], from: ByteReader): Frame {
  switch (kind) {
    case 'hello':
      return { kind, hello: readHello(from.text()) };
    case 'welcome':
      return { kind, welcome: readWelcome(from.text()) };
    case 'status':
      return { kind, news: readNews(from.text()) };
    case 'errand':
      return { kind, errand: readId(from), warrant: from.bytes(), bytes: from.bytes() };
    case 'parcel':
      return {
        kind,
        errand: readId(from),
        sequence: from.varint(),
        done: from.byte() === 1,
        visits: from.varint(),
        by: readName(from),
        bytes: from.bytes(),
      };
    case 'acknowledge':
      return { kind, errand: readId(from), sequence: from.varint() };
    case 'forget':
      return { kind, errand: readId(from) };
    case 'give-up':
      return { kind, errand: readId(from), why: readName(from) };
    case 'bye': {
      const code = byeCodes[from.byte()];
      if (code === undefined) throw bad('its code of a goodbye is unknown');
      return { kind, code, why: readName(from) };
    }
    case 'want-code':
      return { kind, code: readId(from) };
    case 'code':
      return { kind, code: readId(from), terms: from.bytes(), bytes: from.bytes() };
    case 'want-pass':
      return { kind, by: readName(from), key: readId(from) };
    case 'pass':
      return { kind, by: readName(from), pass: readName(from, LONGEST_PASS) };
    case 'claim':
      return { kind, errand: readId(from), digest: readId(from), warrant: from.bytes() };
    case 'recall':
    case 'resend':
    case 'ping':
    case 'pong':
      return { kind };
  }
}

function readId(from: ByteReader): string {
  const id = from.text();
  if (!ID.test(id)) throw bad('the name of an errand is malformed');
  return id;
}

function readName(from: ByteReader, most = 1000): string {
  const text = from.text();
  if (text.length > most) throw bad('a name is too long');
  return harmless(text);
}

/** Puts frames together from pieces of any size. Memory: one frame, and what of the next has arrived. */
export class FrameReader {
  /** Largest body accepted; small until the other end has proved who it is. */
  largest: number;
  /** Bytes of the frame that came last. */
  last = 0;
  #pieces: Buffer[] = [];
  #held = 0;
  #wanted = HEAD;
  #head: { length: number; sum: number } | undefined;

  constructor(largest = LARGEST_FRAME) {
    this.largest = largest;
  }

  /** Takes the next bytes and returns the frames that they complete. Throws bad-frame, and is of no use after. */
  *push(bytes: Uint8Array): Generator<Frame> {
    this.#pieces.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    this.#held += bytes.byteLength;
    while (this.#held >= this.#wanted) {
      const piece = this.#take(this.#wanted);
      if (!this.#head) {
        const length = piece.readUInt32LE(0);
        if (length === 0 || length > this.largest) throw bad(`its length is out of range: ${length} bytes`);
        this.#head = { length, sum: piece.readUInt32LE(4) };
        this.#wanted = length;
        continue;
      }
      if (crc32(piece) !== this.#head.sum) throw bad('its checksum is wrong');
      this.#head = undefined;
      this.#wanted = HEAD;
      this.last = HEAD + piece.length;
      yield frameOf(piece);
    }
  }

  #take(length: number): Buffer {
    let bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    const rest = bytes.subarray(length);
    bytes = bytes.subarray(0, length);
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#held = rest.length;
    return bytes;
  }
}

function bad(what: string): SkeinError {
  return new SkeinError('bad-frame', `A frame does not decode: ${what}.`);
}
