/**
 * Asks peers one question and gathers what they answer until a deadline. A peer that does not answer is named, with the
 * reason; it never makes the others' answers wait longer than the deadline.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { askSubject } from '../topology/layout.ts';
import {
  decodeFrame,
  MOST_ANSWER,
  MOST_QUESTION,
  PART_ERROR,
  PART_LAST,
  PART_WORKING,
  type PeerQuestion,
} from './frames.ts';

interface ScatterOptions {
  /** Milliseconds for which a peer may say nothing at all; one that works on a long answer says so every second. */
  readonly deadline?: number;
  /** Bytes of all answers together. */
  readonly most?: number;
  readonly signal?: AbortSignal;
  /** Where a peer hears such questions; what `answerQuestions` answers unless said otherwise. */
  readonly subjectOf?: (peer: string) => string;
}

export interface Answers {
  /** What each peer answered: JSON, to be checked by whoever knows the question. */
  readonly answers: ReadonlyMap<string, unknown>;
  /** Who did not, and why, in a sentence. */
  readonly silent: ReadonlyMap<string, string>;
}

/** Milliseconds. */
export const DEADLINE = 5000;
const LOOK = 100;
export const MOST_ERROR = 500;
/** Said of a peer that has no connection to the engine at all. */
export const NOT_THERE = 'It is not in the cluster.';

export async function scatter(
  connection: NatsConnection,
  peers: readonly string[],
  question: PeerQuestion,
  { deadline = DEADLINE, most = 4 * MOST_ANSWER, signal, subjectOf = askSubject }: ScatterOptions = {},
): Promise<Answers> {
  const text = textOf(question);
  const { createInbox } = await import('@nats-io/transport-node');
  const inbox = createInbox();
  const gathering = new PartGathering(peers, most);
  const subscription = connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      if (!error) gathering.take(message);
    },
  });
  const stop = () => gathering.end('The question was cancelled.');
  const timer = setInterval(() => gathering.giveUp(deadline), Math.min(deadline, LOOK));
  signal?.addEventListener('abort', stop, { once: true });
  try {
    for (const [i, peer] of peers.entries()) connection.publish(subjectOf(peer), text, { reply: `${inbox}.${i}` });
    return await gathering.whole;
  } finally {
    clearInterval(timer);
    signal?.removeEventListener('abort', stop);
    subscription.unsubscribe();
  }
}

export function textOf(question: PeerQuestion): string {
  const text = JSON.stringify(question);
  if (text.length <= MOST_QUESTION) return text;
  throw new SkeinError('bad-query', 'The question is too long to be sent to other peers.', 'Shorten it.');
}

export const notWithin = (deadline: number): string => `It did not answer within ${deadline / 1000} s.`;

/** The parts that came so far, by peer. */
class PartGathering {
  readonly #peers: readonly string[];
  readonly #parts: Uint8Array[][];
  readonly #answers = new Map<string, unknown>();
  readonly #silent = new Map<string, string>();
  readonly #whole = Promise.withResolvers<Answers>();
  /** Of each peer, when it last said anything; monotonic milliseconds. */
  readonly #heard: number[];
  /** Bytes that may still come. */
  #room: number;

  constructor(peers: readonly string[], room: number) {
    this.#peers = peers;
    this.#parts = peers.map(() => []);
    this.#heard = peers.map(() => performance.now());
    this.#room = room;
    this.#check();
  }

  get whole(): Promise<Answers> {
    return this.#whole.promise;
  }

  take(message: Msg): void {
    const index = Number(message.subject.slice(message.subject.lastIndexOf('.') + 1));
    const peer = this.#peers[index];
    if (peer === undefined || this.#answers.has(peer) || this.#silent.has(peer)) return;
    this.#room -= message.data.length;
    this.#heard[index] = performance.now();
    const why = this.#takePart(message, index, peer);
    if (why !== undefined) {
      this.#parts[index] = [];
      this.#silent.set(peer, why);
    }
    // The peer waits for this after some parts.
    if (message.reply !== undefined && message.headers?.code !== 503) message.respond();
    this.#check();
  }

  /** Those that have said nothing for so many milliseconds are not waited for any more. */
  giveUp(deadline: number): void {
    const before = performance.now() - deadline;
    for (const [index, peer] of this.#peers.entries())
      if (this.#heard[index]! <= before && !this.#answers.has(peer) && !this.#silent.has(peer))
        this.#silent.set(peer, notWithin(deadline));
    this.#check();
  }

  end(why: string): void {
    for (const peer of this.#peers)
      if (!this.#answers.has(peer) && !this.#silent.has(peer)) this.#silent.set(peer, why);
    this.#check();
  }

  /** Says why this peer's answer cannot be had. */
  #takePart(message: Msg, index: number, peer: string): string | undefined {
    if (message.headers?.code === 503) return NOT_THERE;
    const frame = decodeFrame(message.data);
    const parts = this.#parts[index]!;
    if (frame?.kind === PART_ERROR) return harmless(new TextDecoder().decode(frame.bytes.subarray(0, MOST_ERROR)));
    if (frame?.kind === PART_WORKING) return undefined;
    if (this.#room < 0) return 'The answers together are too long.';
    if (!frame || frame.number !== parts.length) return 'A part of its answer was lost.';
    parts.push(frame.bytes);
    if (frame.kind !== PART_LAST) return undefined;
    try {
      this.#answers.set(peer, JSON.parse(Buffer.concat(parts).toString()));
    } catch {
      return 'Its answer cannot be read.';
    }
    this.#parts[index] = [];
    return undefined;
  }

  #check(): void {
    if (this.#answers.size + this.#silent.size >= this.#peers.length)
      this.#whole.resolve({ answers: this.#answers, silent: this.#silent });
  }
}
