/** Asks one peer for something that may be longer than memory, and takes it as fast as it is read here. */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { SkeinError } from '../../base/errors.ts';
import { harmless } from '../../base/harmless.ts';
import { decodeFrame, PART_ERROR, PART_LAST, PART_WORKING, type PeerQuestion } from './frames.ts';
import { DEADLINE, MOST_ERROR, NOT_THERE, notWithin, textOf } from './scatter.ts';

interface StreamFrom {
  readonly peer: string;
  readonly subject: string;
  /** Milliseconds for which it may say nothing at all. */
  readonly deadline?: number;
}

/** Yields the bytes in their order and returns what the peer said at the end, JSON; throws where not all of it comes. */
export async function* askForStream(
  connection: NatsConnection,
  { peer, subject, deadline = DEADLINE }: StreamFrom,
  question: PeerQuestion,
): AsyncGenerator<Uint8Array, unknown> {
  const text = textOf(question);
  const { createInbox } = await import('@nats-io/transport-node');
  const inbox = createInbox();
  const came: Msg[] = [];
  let wake = (): void => {};
  const subscription = connection.subscribe(inbox, {
    callback: (error, message) => {
      if (error) return;
      came.push(message);
      wake();
    },
  });
  const fail = (why: string): never => {
    throw new SkeinError('incomplete', `The answer of the peer ${peer} is incomplete: ${why}`);
  };
  try {
    connection.publish(subject, text, { reply: inbox });
    for (let number = 0; ; ) {
      if (came.length === 0) {
        const waited = await new Promise<boolean>(resolve => {
          const late = setTimeout(() => resolve(false), deadline);
          wake = () => {
            clearTimeout(late);
            resolve(true);
          };
        });
        if (!waited) fail(notWithin(deadline));
      }
      const message = came.shift()!;
      if (message.headers?.code === 503) fail(NOT_THERE);
      const frame = decodeFrame(message.data) ?? fail('A part of its answer cannot be read.');
      if (frame.kind === PART_WORKING) continue;
      if (frame.kind === PART_ERROR) fail(harmless(new TextDecoder().decode(frame.bytes.subarray(0, MOST_ERROR))));
      if (frame.number !== number++) fail('A part of its answer was lost.');
      if (frame.kind === PART_LAST) return endOf(frame.bytes) ?? fail('The end of its answer cannot be read.');
      yield frame.bytes;
      // The peer waits for this after some parts: what was read here is out of the way by now.
      if (message.reply !== undefined) message.respond();
    }
  } finally {
    subscription.unsubscribe();
  }
}

function endOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}
