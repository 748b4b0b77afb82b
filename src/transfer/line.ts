/**
 * A line: frames over any stream of bytes, with an eye on the other end. Who hears nothing for 20 seconds takes the
 * other end for dead, whatever the operating system still believes; who hears nothing for a quarter of that sends a
 * ping. While nothing is under way both wait longer: a ping every few seconds costs more in a day than the pages do.
 *
 * Small frames leave together, because each write costs 100 bytes of headers and its answer 66: those of one turn of the
 * event loop always, those that may wait when something else leaves or the time is up that their sender gave them.
 *
 * A line carries and never interprets. It ends once, for one reason, and says so once.
 */
import { channel } from 'node:diagnostics_channel';
import type { Duplex } from 'node:stream';
import { SkeinError } from '../base/errors.ts';
import { type ByeCode, encodeFrame, type Frame, FrameReader, kindOf } from './wire/frames.ts';

interface LineEvents {
  frame(frame: Frame, line: Line): void;
  /** `said`: the other end's goodbye, if it took leave. */
  ended(line: Line, why: string, said?: ByeCode): void;
}

export interface LineOptions {
  /** Milliseconds of silence after which the other end counts as dead. */
  readonly silence?: number;
  /** Largest frame that is read. */
  readonly largest?: number;
}

const SILENCE = 20_000;
/** How much longer a line may be silent while nothing is under way: ten minutes, with a ping before routers forget it. */
const CALM = 30;
/** How long a goodbye may take to leave. */
const LINGER = 2000;
/** Bytes of small frames that leave at once. */
const FULL = 16 << 10;

/** Every frame that crosses, for whoever keeps an account of bytes. */
export interface LineCrossing {
  readonly kind: Frame['kind'];
  readonly way: 'in' | 'out';
  /** With the frame's own head. */
  readonly bytes: number;
}

export const crossings = channel('skein.frame');

export class Line {
  readonly #stream: Duplex;
  #events: LineEvents | undefined;
  readonly #reader: FrameReader;
  readonly #watch: NodeJS.Timeout;
  #heard = performance.now();
  /** Small frames that have not left yet. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #soon: NodeJS.Immediate | undefined;
  #later: NodeJS.Timeout | undefined;
  /** When it fires, by performance.now(). */
  #latest = Number.POSITIVE_INFINITY;
  #calm = false;
  #over = false;
  #closed = false;
  #unread: Frame[] = [];
  /** How it ended, for whoever listens later. */
  #ending: { why: string; code: ByeCode | undefined } | undefined;
  #said: { code: ByeCode; why: string } | undefined;

  constructor(stream: Duplex, options: LineOptions = {}) {
    this.#stream = stream;
    this.#reader = new FrameReader(options.largest);
    const silence = options.silence ?? SILENCE;
    this.#watch = setInterval(() => this.#look(silence), silence / 4);
    stream.on('error', error => this.#close(error.message));
    stream.on('end', () => this.#close('the other end closed it'));
    stream.on('close', () => this.#close('it was closed'));
  }

  /** Names who is told of frames and of the end; the first call starts the reading. */
  listen(events: LineEvents): void {
    const first = this.#events === undefined;
    this.#events = events;
    if (first) this.#stream.on('data', (bytes: Uint8Array) => this.#read(bytes));
    for (let frame = this.#unread.shift(); frame; frame = this.#unread.shift()) events.frame(frame, this);
    if (this.#ending) events.ended(this, this.#ending.why, this.#ending.code);
  }

  /** A frame that came too early for whoever listens now; the next one to listen gets it. */
  keep(frame: Frame): void {
    this.#unread.push(frame);
  }

  get over(): boolean {
    return this.#over;
  }

  /** It ended because the stream did: neither this end nor silence ended it. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Milliseconds since the other end was heard. */
  get silent(): number {
    return performance.now() - this.#heard;
  }

  /** Nothing is under way at this end: the other one need not show every few seconds that it lives. */
  calm(calm: boolean): void {
    if (this.#calm && !calm) this.#heard = performance.now(); // the silence so far was as agreed
    this.#calm = calm;
  }

  /** From now on frames of any size are read. */
  trust(largest: number): void {
    this.#reader.largest = largest;
  }

  /** `patience`: milliseconds that it may wait for company. False: the stream is full; drained() tells when it is not. */
  send(frame: Frame, patience = 0): boolean {
    return this.write(encodeFrame(frame), patience);
  }

  /** Sends a frame that is already encoded. */
  write(bytes: Uint8Array, patience = 0): boolean {
    if (this.#over) return true;
    if (crossings.hasSubscribers) {
      crossings.publish({ kind: kindOf(bytes), way: 'out', bytes: bytes.length } satisfies LineCrossing);
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > FULL) this.#flush();
    else if (patience === 0) this.#soon ??= setImmediate(() => this.#flush());
    else this.#flushWithin(patience);
    return !this.#stream.writableNeedDrain;
  }

  #flushWithin(patience: number): void {
    const latest = performance.now() + patience;
    if (latest >= this.#latest) return;
    clearTimeout(this.#later);
    this.#latest = latest;
    this.#later = setTimeout(() => this.#flush(), patience);
  }

  #flush(): void {
    clearImmediate(this.#soon);
    clearTimeout(this.#later);
    this.#soon = this.#later = undefined;
    this.#latest = Number.POSITIVE_INFINITY;
    const [first, ...others] = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    if (first && !this.#over) this.#stream.write(others.length === 0 ? first : Buffer.concat([first, ...others]));
  }

  /** Resolves when more may be written, or when the line is over. */
  drained(): Promise<void> {
    if (this.#over || !this.#stream.writableNeedDrain) return Promise.resolve();
    return new Promise(resolve => {
      const go = () => {
        this.#stream.off('drain', go);
        this.#stream.off('close', go);
        resolve();
      };
      this.#stream.once('drain', go);
      this.#stream.once('close', go);
    });
  }

  /** Stops and starts reading: back-pressure for a relay. */
  hold(): void {
    this.#stream.pause();
  }

  go(): void {
    // What is held back is no silence.
    this.#heard = performance.now();
    this.#stream.resume();
  }

  /** Takes leave: the reason is sent, what is queued leaves, then the line closes. */
  bye(code: ByeCode, why: string): void {
    if (this.#over) return;
    this.send({ kind: 'bye', code, why });
    this.#flush();
    this.#stream.end();
    setTimeout(() => this.destroy(why), LINGER).unref();
  }

  /** Ends the line at once. */
  destroy(why: string): void {
    if (this.#over) return;
    this.#over = true;
    this.#flush(); // drops what waits
    clearInterval(this.#watch);
    this.#stream.destroy();
    this.#ending = { why: this.#said?.why || why, code: this.#said?.code };
    this.#events?.ended(this, this.#ending.why, this.#ending.code);
  }

  #close(why: string): void {
    if (this.#over) return;
    this.#closed = true;
    this.destroy(why);
  }

  #read(bytes: Uint8Array): void {
    this.#heard = performance.now();
    try {
      for (const frame of this.#reader.push(bytes)) {
        if (this.#over) return;
        if (crossings.hasSubscribers) {
          crossings.publish({ kind: frame.kind, way: 'in', bytes: this.#reader.last } satisfies LineCrossing);
        }
        this.#take(frame);
      }
    } catch (error) {
      const code = error instanceof SkeinError && error.code === 'bad-frame' ? 'bad-frame' : 'later';
      this.send({ kind: 'bye', code, why: (error as Error).message.slice(0, 300) });
      this.#flush();
      this.destroy((error as Error).message);
    }
  }

  #take(frame: Frame): void {
    if (frame.kind === 'ping') this.send({ kind: 'pong' });
    else if (frame.kind === 'bye') {
      this.#said = { code: frame.code, why: frame.why };
      this.destroy(frame.why);
    } else if (frame.kind !== 'pong') this.#events?.frame(frame, this);
  }

  #look(silence: number): void {
    const most = this.#calm ? silence * CALM : silence;
    const { silent } = this;
    if (!this.#stream.isPaused() && silent > most) {
      this.destroy(`it sent nothing for ${Math.round(most / 1000)} s`);
    } else if (silent > most / 4) this.send({ kind: 'ping' });
  }
}
