/**
 * Reads one HTTP/1.x response from bytes as they come off a socket, and then the next. It never touches a socket, a
 * timer or a content coding. Whatever the bytes are, each is looked at once, and memory stays below the head limit
 * plus twice `maxBytes` (up to a megabyte memory comes in powers of two) plus one growth step.
 *
 * Verdicts: `more` (go on), `done` (a whole response), `cut` (the body reached maxBytes), `bad` (not HTTP; `problem`
 * says why). After any but `more` the fields hold the response until the next begin().
 */
import { Body } from './body.ts';
import type { BodyMemory } from './body-memory.ts';
import { HeadReader, type ResponseHead } from './response-head.ts';

export type ReaderVerdict = 'more' | 'done' | 'cut' | 'bad';

/** Bytes of all heads of one response, informational ones included. */
export const maxHeadBytes = 65_536;
const maxChunkLine = 4_096;
const empty = new Uint8Array(0);

type ReaderState =
  | 'head'
  | 'length'
  | 'close'
  | 'chunk-size'
  | 'chunk-rest'
  | 'chunk-data'
  | 'chunk-end'
  | 'trailer'
  | 'done';

export class Http1Reader {
  status = 0;
  headers: Map<string, string> = new Map();
  head: Uint8Array = empty;
  /** The connection may carry another response. */
  keepAlive = false;
  /** Bytes came after the end of the response: whoever sent them cannot be trusted with another request. */
  excess = false;
  problem = '';

  #state: ReaderState = 'head';
  #bodyless = false;
  /** Bytes of a head that did not come in one piece. */
  #partial: Buffer | undefined;
  #partialSize = 0;
  #headBytes = 0;
  readonly #heads = new HeadReader();
  readonly #body: Body;
  /** Bytes still due of the body or chunk. */
  #due = 0;
  /** Bytes of the chunk line or trailer section so far. */
  #line = 0;
  #digits = 0;

  constructor(memory?: BodyMemory) {
    this.#body = new Body(memory);
  }

  /** Prepares for a response. `bodyless`: the request was one whose answer has none (HEAD). */
  begin(maxBytes: number, bodyless = false, flow?: (bytes: number) => boolean): void {
    this.#state = 'head';
    this.#bodyless = bodyless;
    this.#partial = undefined;
    this.#headBytes = 0;
    this.#body.begin(maxBytes, flow);
    this.head = empty;
    this.excess = false;
    this.problem = '';
  }

  /** The head is complete. */
  get answered(): boolean {
    return this.#state !== 'head';
  }

  get bodySize(): number {
    return this.#body.size;
  }

  body(): Uint8Array {
    return this.#body.take();
  }

  /** Takes the first `end` bytes of `bytes`, which may be overwritten after the call. */
  push(bytes: Buffer, end: number): ReaderVerdict {
    let at = 0;
    while (at < end && this.#state !== 'done') {
      at = this.#step(bytes, at, end);
      if (at === refused) return 'bad';
      if (at === full) return 'cut';
    }
    if (this.#state !== 'done') return 'more';
    if (at < end) {
      this.excess = true;
      this.keepAlive = false;
    }
    return 'done';
  }

  /** The peer closed. `more` means that the response is not whole. */
  end(): ReaderVerdict {
    if (this.#state === 'close') this.#state = 'done';
    return this.#state === 'done' ? 'done' : 'more';
  }

  #step(bytes: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at, end);
      case 'length':
      case 'chunk-data':
        return this.#readDue(bytes, at, end);
      case 'close':
        return this.#body.add(bytes, at, end) ? end : full;
      case 'chunk-size':
        return this.#readChunkSize(bytes, at, end);
      case 'chunk-rest':
        return this.#readChunkRest(bytes, at, end);
      case 'chunk-end':
        return this.#readChunkEnd(bytes, at);
      default:
        return this.#readTrailer(bytes, at, end);
    }
  }

  #refuse(problem: string): number {
    this.problem = problem;
    return refused;
  }

  #readHead(bytes: Buffer, from: number, end: number): number {
    let at = from;
    if (this.#partial !== undefined) return this.#growHead(bytes, at, end);
    // Empty lines before a status line are left over from a miscounted body; browsers pass over them too.
    while (at < end && (bytes[at] === 0x0d || bytes[at] === 0x0a)) {
      at++;
      if (++this.#headBytes > 16) return this.#refuse('the status line is not HTTP');
    }
    if (at === end) return at;
    const stop = endOfHead(bytes, at, end);
    if (stop < 0) {
      this.#partial = Buffer.allocUnsafe(Math.max(1024, 2 * (end - at)));
      this.#partialSize = 0;
      return this.#growHead(bytes, at, end);
    }
    return this.#takeHead(bytes, at, stop) ? stop : refused;
  }

  /** The slow path: a head in pieces. Each piece is scanned once, with the three bytes before it. */
  #growHead(bytes: Buffer, at: number, end: number): number {
    let partial = this.#partial!;
    const known = this.#partialSize;
    // One byte beyond the limit is enough to see that it is passed.
    const take = Math.min(end - at, maxHeadBytes + 1 - known);
    if (known + take > partial.length) {
      const larger = Buffer.allocUnsafe(2 * (known + take));
      partial.copy(larger, 0, 0, known);
      this.#partial = partial = larger;
    }
    bytes.copy(partial, known, at, at + take);
    this.#partialSize = known + take;
    const stop = endOfHead(partial, Math.max(0, known - 3), known + take);
    if (stop < 0) {
      if (this.#headBytes + known + take > maxHeadBytes) return this.#refuse('the head is larger than 64 KiB');
      if (!couldBeHttp(partial, known + take)) return this.#refuse('the status line is not HTTP');
      return at + take;
    }
    this.#partial = undefined;
    return this.#takeHead(partial, 0, stop) ? at + stop - known : refused;
  }

  #takeHead(bytes: Buffer, from: number, to: number): boolean {
    this.#headBytes += to - from;
    if (this.#headBytes > maxHeadBytes) {
      this.problem = 'the head is larger than 64 KiB';
      return false;
    }
    const parsed = this.#heads.read(bytes.toString('latin1', from, to));
    if (typeof parsed === 'string') {
      this.problem = parsed;
      return false;
    }
    if (parsed.status < 200) {
      if (parsed.status !== 101) return true; // informational: the real head follows
      this.problem = 'an unrequested protocol switch';
      return false;
    }
    this.head = Buffer.allocUnsafe(to - from);
    this.head.set(new Uint8Array(bytes.buffer, bytes.byteOffset + from, to - from));
    this.status = parsed.status;
    this.headers = parsed.headers;
    return this.#frame(parsed);
  }

  /** Finds where the body ends (RFC 9112 §6.3); contradictions are refused, since any guess loses or adds bytes. */
  #frame(head: ResponseHead): boolean {
    const { headers, status } = head;
    const connection = headers.get('connection')?.toLowerCase();
    this.keepAlive = head.modern ? connection?.includes('close') !== true : connection?.includes('keep-alive') === true;
    const coding = headers.get('transfer-encoding')?.toLowerCase();
    const length = headers.get('content-length');
    if (this.#bodyless || status === 204 || status === 304) {
      this.#state = 'done';
    } else if (coding !== undefined && coding !== 'identity') {
      if (coding !== 'chunked') {
        this.problem = `unrequested transfer coding ${coding.slice(0, 40)}`;
        return false;
      }
      if (length !== undefined) this.keepAlive = false;
      this.#startChunk();
    } else if (length !== undefined) {
      this.#due = lengthOf(length);
      if (this.#due < 0) {
        this.problem = `Content-Length ${length.slice(0, 40)} is malformed`;
        return false;
      }
      this.#body.expect(this.#due);
      this.#state = this.#due === 0 ? 'done' : 'length';
    } else {
      this.keepAlive = false;
      this.#state = 'close';
    }
    return true;
  }

  #readDue(bytes: Buffer, at: number, end: number): number {
    const stop = Math.min(end, at + this.#due);
    if (!this.#body.add(bytes, at, stop)) return full;
    this.#due -= stop - at;
    if (this.#due === 0) this.#state = this.#state === 'length' ? 'done' : 'chunk-end';
    else if (this.#body.full) return full;
    return stop;
  }

  #startChunk(): void {
    this.#state = 'chunk-size';
    this.#due = 0;
    this.#digits = 0;
    this.#line = 0;
  }

  #readChunkSize(bytes: Buffer, from: number, end: number): number {
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!;
      const digit = hexOf(byte);
      if (digit < 0) {
        const ends = byte === 0x0d || byte === 0x0a || byte === 0x3b || byte === 0x20 || byte === 0x09;
        if (!ends || this.#digits === 0) return this.#refuse('a chunk without a size');
        this.#state = 'chunk-rest';
        return at;
      }
      this.#due = this.#due * 16 + digit;
      if (++this.#digits > 16 || this.#due > Number.MAX_SAFE_INTEGER) return this.#refuse('a chunk size too large');
    }
    return end;
  }

  /** What follows the size: an extension, which means nothing to us, up to the end of the line. */
  #readChunkRest(bytes: Buffer, at: number, end: number): number {
    const newline = bytes.indexOf(0x0a, at);
    const stop = newline < 0 || newline >= end ? end : newline + 1;
    this.#line += stop - at;
    if (this.#line > maxChunkLine) return this.#refuse('a chunk extension too long');
    if (newline < 0 || newline >= end) return end;
    this.#line = 0;
    this.#state = this.#due > 0 ? 'chunk-data' : 'trailer';
    return stop;
  }

  #readChunkEnd(bytes: Buffer, at: number): number {
    const byte = bytes[at];
    if (byte === 0x0a) this.#startChunk();
    else if (byte === 0x0d && this.#line === 0) this.#line = 1;
    else return this.#refuse('a chunk longer than its size');
    return at + 1;
  }

  /** Trailers are dropped: nothing that a crawler keeps may stand in them. `#digits` counts the current line. */
  #readTrailer(bytes: Buffer, from: number, end: number): number {
    if (this.#line === 0) this.#digits = 0;
    for (let at = from; at < end; at++) {
      if (++this.#line > maxHeadBytes) return this.#refuse('trailers too long');
      const byte = bytes[at]!;
      if (byte === 0x0a) {
        if (this.#digits === 0) {
          this.#state = 'done';
          return at + 1;
        }
        this.#digits = 0;
      } else if (byte !== 0x0d) this.#digits++;
    }
    return end;
  }
}

/** Answers of the steps that are no positions. */
const refused = -1;
const full = -2;

/** Position after the blank line, -1 when it has not come. Lines may end in CRLF or LF, also mixed. */
function endOfHead(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== 0x0a) continue;
    if (at + 1 < end && bytes[at + 1] === 0x0a) return at + 2;
    if (at + 2 < end && bytes[at + 1] === 0x0d && bytes[at + 2] === 0x0a) return at + 3;
  }
  return -1;
}

/** An endless stream of something else is refused at its first bytes, not at the limit. */
function couldBeHttp(bytes: Buffer, size: number): boolean {
  return 'HTTP/1.'.startsWith(bytes.toString('latin1', 0, Math.min(7, size)));
}

/** -1 for anything that is no single length. */
function lengthOf(text: string): number {
  let length = text === '' ? -1 : 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return repeatedLength(text);
    length = length * 10 + digit;
  }
  return Math.min(length, Number.MAX_SAFE_INTEGER);
}

/** Repeated equal values are one. */
function repeatedLength(text: string): number {
  let length = -1;
  for (const part of text.split(',')) {
    const value = part.trim();
    if (!/^\d+$/.test(value)) return -1;
    const number = Math.min(Number(value), Number.MAX_SAFE_INTEGER);
    if (length >= 0 && number !== length) return -1;
    length = number;
  }
  return length;
}

function hexOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
