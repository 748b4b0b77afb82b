/** Answers what other peers ask this one, by name. */
import type { NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../../base/errors.ts';
import { askSubject } from '../topology/layout.ts';
import {
  decodeQuestion,
  encodeFrame,
  MOST_ANSWER,
  PART,
  PART_ERROR,
  PART_LAST,
  PART_MORE,
  PART_WORKING,
  type PeerQuestion,
  WINDOW,
  WORKING_EVERY,
} from './frames.ts';

/** Returns what JSON can say, or a stream. A SkeinError goes to the asker in its words; anything else as a failure. */
export type PeerAnswerer = (args: unknown) => unknown | Promise<unknown>;

/** An answer that may be longer than memory: `askForStream` hears it. */
export class Streamed {
  readonly chunks: AsyncIterable<Uint8Array>;
  /** Called behind the last chunk: JSON. */
  readonly end: () => unknown;

  constructor(chunks: AsyncIterable<Uint8Array>, end: () => unknown) {
    this.chunks = chunks;
    this.end = end;
  }
}

/** A question as it came. */
export interface AskedByPeer {
  readonly data: Uint8Array;
  /** Where the answer goes. */
  readonly reply: string;
}

const MOST_AT_ONCE = 32;
/** Milliseconds after which an asker that takes nothing more is left alone. */
const PATIENCE = 10_000;
/** The same where what is asked for may be on its way to a slow disk, or to somebody who reads it. */
const STREAM_PATIENCE = 120_000;

export function answerQuestions(
  connection: NatsConnection,
  peer: string,
  answerers: Readonly<Record<string, PeerAnswerer>>,
): Disposable {
  const desk = new AnswerDesk(connection, answerers);
  const subscription = connection.subscribe(askSubject(peer), {
    callback: (error, { data, reply }) => {
      if (!error && reply !== undefined) desk.take({ data, reply });
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

/** Tells those who wait every second that their questions are worked on: an answer may take long. */
export class WorkTeller {
  /** Where the answers go. */
  readonly waiting = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(connection: NatsConnection) {
    const frame = encodeFrame({ kind: PART_WORKING, number: 0, bytes: new Uint8Array(0) });
    this.#timer = setInterval(() => {
      if (!connection.isClosed()) for (const reply of this.waiting) connection.publish(reply, frame);
    }, WORKING_EVERY).unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

interface AnsweringOptions {
  /** Questions that are worked on at once; beyond, the asker is told to come again. */
  readonly most?: number;
}

/** Works on the questions that it is given, several at once. */
export class AnswerDesk {
  readonly #connection: NatsConnection;
  readonly #answerers: Readonly<Record<string, PeerAnswerer>>;
  readonly #most: number;
  #working = 0;

  constructor(
    connection: NatsConnection,
    answerers: Readonly<Record<string, PeerAnswerer>>,
    { most = MOST_AT_ONCE }: AnsweringOptions = {},
  ) {
    this.#connection = connection;
    this.#answerers = answerers;
    this.#most = most;
  }

  /** Resolves when it is answered, or nobody is left to tell. Never rejects. */
  async take(asked: AskedByPeer): Promise<void> {
    if (this.#working >= this.#most) {
      this.#fail(asked, 'It is busy.');
      return;
    }
    this.#working++;
    try {
      await this.#answer(asked);
    } catch {
      // Whoever asked has gone, or the engine has.
    } finally {
      this.#working--;
    }
  }

  async #answer(asked: AskedByPeer): Promise<void> {
    const question = decodeQuestion(asked.data);
    if (!question) return this.#fail(asked, 'It did not understand the question.');
    try {
      const answer = await this.#answerOf(question);
      if (answer instanceof Streamed) return await this.#stream(asked.reply, answer);
      const bytes = Buffer.from(JSON.stringify(answer ?? null));
      if (bytes.length > MOST_ANSWER)
        throw new SkeinError('refused', `Its answer is longer than ${MOST_ANSWER / 1e6} MB.`);
      await this.#send(asked.reply, bytes);
    } catch (error) {
      this.#fail(asked, error instanceof SkeinError ? error.message : 'It failed.');
    }
  }

  async #answerOf({ name, args }: PeerQuestion): Promise<unknown> {
    if (!Object.hasOwn(this.#answerers, name))
      throw new SkeinError('bad-query', 'It does not know this question: it may run another Skein.');
    return this.#answerers[name]!(args);
  }

  async #send(to: string, bytes: Uint8Array): Promise<void> {
    for (let number = 0; ; number++) {
      const part = bytes.subarray(number * PART, (number + 1) * PART);
      const last = (number + 1) * PART >= bytes.length;
      await this.#part(to, { kind: last ? PART_LAST : PART_MORE, number, bytes: part }, PATIENCE);
      if (last) return;
    }
  }

  async #stream(to: string, { chunks, end }: Streamed): Promise<void> {
    let number = 0;
    for await (const chunk of chunks)
      for (let at = 0; at < chunk.length; at += PART)
        await this.#part(
          to,
          { kind: PART_MORE, number: number++, bytes: chunk.subarray(at, at + PART) },
          STREAM_PATIENCE,
        );
    await this.#part(to, { kind: PART_LAST, number, bytes: Buffer.from(JSON.stringify(end() ?? null)) }, PATIENCE);
  }

  /** Every eighth part waits until the asker has taken it, so that a slow asker is not flooded. */
  async #part(to: string, frame: Parameters<typeof encodeFrame>[0], patience: number): Promise<void> {
    const bytes = encodeFrame(frame);
    if (frame.kind === PART_MORE && (frame.number + 1) % WINDOW === 0)
      await this.#connection.request(to, bytes, { timeout: patience });
    else this.#publish(to, bytes);
  }

  #fail({ reply }: AskedByPeer, why: string): void {
    this.#publish(reply, encodeFrame({ kind: PART_ERROR, number: 0, bytes: Buffer.from(why) }));
  }

  #publish(to: string, frame: Uint8Array): void {
    if (!this.#connection.isClosed()) this.#connection.publish(to, frame);
  }
}
