/**
 * A line: frames over any stream of bytes, with an eye on the other end. Who hears nothing for 20 seconds takes the
 * other end for dead, whatever the operating system still believes; who has nothing to say sends a ping.
 *
 * A line carries and never interprets. It ends once, for one reason, and says so once.
 */
import type { Duplex } from 'node:stream';
import { SkeinError } from '../base/errors.ts';
import { type ByeCode, encodeFrame, type Frame, FrameReader } from './frames.ts';

export interface LineEvents {
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
/** How long a goodbye may take to leave. */
const LINGER = 2000;

export class Line {
  readonly #stream: Duplex;
  #events: LineEvents | undefined;
  readonly #reader: FrameReader;
  readonly #watch: NodeJS.Timeout;
  #heard = performance.now();
  #spoke = performance.now();
  #over = false;
  #unread: Frame[] = [];
  /** How it ended, for whoever listens later. */
  #ending: { why: string; code: ByeCode | undefined } | undefined;
  #said: { code: ByeCode; why: string } | undefined;

  constructor(stream: Duplex, options: LineOptions = {}) {
    this.#stream = stream;
    this.#reader = new FrameReader(options.largest);
    const silence = options.silence ?? SILENCE;
    this.#watch = setInterval(() => this.#look(silence), silence / 4);
    stream.on('error', error => this.destroy(error.message));
    stream.on('end', () => this.destroy('the other end closed it'));
    stream.on('close', () => this.destroy('it was closed'));
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

  /** From now on frames of any size are read. */
  trust(largest: number): void {
    this.#reader.largest = largest;
  }

  /** False: the stream is full; drained() tells when it is not. */
  send(frame: Frame): boolean {
    return this.write(encodeFrame(frame));
  }

  /** Sends a frame that is already encoded. */
  write(bytes: Uint8Array): boolean {
    if (this.#over) return true;
    this.#spoke = performance.now();
    return this.#stream.write(bytes);
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
    this.#stream.end();
    setTimeout(() => this.destroy(why), LINGER).unref();
  }

  /** Ends the line at once. */
  destroy(why: string): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#watch);
    this.#stream.destroy();
    this.#ending = { why: this.#said?.why || why, code: this.#said?.code };
    this.#events?.ended(this, this.#ending.why, this.#ending.code);
  }

  #read(bytes: Uint8Array): void {
    this.#heard = performance.now();
    try {
      for (const frame of this.#reader.push(bytes)) {
        if (this.#over) return;
        this.#take(frame);
      }
    } catch (error) {
      const code = error instanceof SkeinError && error.code === 'bad-frame' ? 'bad-frame' : 'later';
      this.send({ kind: 'bye', code, why: (error as Error).message.slice(0, 300) });
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
    const now = performance.now();
    if (!this.#stream.isPaused() && now - this.#heard > silence) {
      this.destroy(`nothing was heard of it for ${Math.round(silence / 1000)} s`);
    } else if (now - this.#spoke > silence / 4) this.send({ kind: 'ping' });
  }
}
