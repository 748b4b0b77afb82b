/**
 * Answers what others ask of the partitions that this peer has. The answers are made in a thread of their own, which reads
 * the files beside home and has its own line to the engine; home's thread only hands it the questions as they come. The
 * thread starts with the first one.
 *
 * While a question is worked on its asker is told so every second, from here: the thread may be starting, or reading a file.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { NatsConnection } from '@nats-io/transport-node';
import { WorkTeller } from '../../cluster/rpc/answering.ts';
import { questionSubject } from '../../cluster/topology/layout.ts';
import type { ThreadQuestion, ThreadStart } from './answer-thread.ts';

interface AnsweringParts extends ThreadStart {
  readonly connection: NatsConnection;
  readonly peer: string;
  /** What it has now: partition and the epoch of its claim. */
  readonly held: () => Iterable<readonly [partition: number, epoch: number]>;
}

export interface Answering {
  close(): Promise<void>;
}

export function startAnswering({ connection, peer, held, ...start }: AnsweringParts): Answering {
  let thread: Worker | undefined;
  const teller = new WorkTeller(connection);
  const started = (): Worker => {
    const made = new Worker(new URL(`./answer-thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: start satisfies ThreadStart,
    });
    made.unref();
    // The next question starts another; whoever waits for this one's answers is told by its silence.
    made.once('error', () => {
      thread = undefined;
      teller.waiting.clear();
    });
    made.on('message', (reply: string) => teller.waiting.delete(reply));
    return made;
  };
  const subscription = connection.subscribe(questionSubject(peer), {
    callback: (error, { data, reply }) => {
      if (error || reply === undefined) return;
      thread ??= started();
      teller.waiting.add(reply);
      thread.postMessage({ data, reply, held: [...held()] } satisfies ThreadQuestion);
    },
  });
  return {
    async close() {
      subscription.unsubscribe();
      teller.close();
      await thread?.terminate();
    },
  };
}
