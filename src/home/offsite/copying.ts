/**
 * Copies what a run adds to the archive, in a thread beside home: every few seconds what was committed since, and at the end the
 * rest. A store that refuses stops nothing: people are told once, tries become rarer, and the next run continues.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';

/** To the thread. */
export interface CopyTurn {
  /** Of the partitions that are open. */
  readonly directories: readonly string[];
  /** The run has ended: copy all that is left, at once. */
  readonly last?: boolean;
}

/** To the thread, in a cluster: ticks until which this peer has the partitions; nothing may be written later. */
export interface CopyLeave {
  readonly until: number;
}

/** From the thread. */
export interface CopyReport {
  /** What keeps it from copying, in a sentence; empty = nothing. */
  readonly trouble: string;
  /** Bytes that are not copied yet. */
  readonly left: number;
  readonly last: boolean;
}

interface CopyingParts {
  readonly directories: () => readonly string[];
  /** Called with sentences for people who watch. */
  readonly say: (text: string) => void;
  /** Milliseconds between two turns. */
  readonly every?: number;
  /** In a cluster: see CopyLeave. */
  readonly until?: (() => number) | undefined;
}

export interface Copying {
  /** Copies the rest; resolves when that is done, or cannot be. */
  end(directories: readonly string[]): Promise<void>;
}

const EVERY = 3000;

/** Milliseconds between two words of leave. */
const LEAVE = 1000;

export function startCopying({ directories, say, every = EVERY, until }: CopyingParts): Copying {
  const worker = new Worker(new URL(`./copy-thread${extname(import.meta.url)}`, import.meta.url));
  const ended = Promise.withResolvers<void>();
  let said = '';
  worker.on('message', ({ trouble, left, last }: CopyReport) => {
    if (trouble !== '' && trouble !== said) say(`The archive cannot be copied: ${trouble} Trying again.`);
    if (trouble === '' && said !== '') say('The archive is being copied again.');
    said = trouble;
    if (last && left > 0)
      say(`${left.toLocaleString('en')} bytes of the archive are not copied; the next run goes on.`);
    if (last) ended.resolve();
  });
  worker.on('error', (error: unknown) => {
    say(`Copying the archive has stopped: ${(error as Error).message}`);
    ended.resolve();
  });
  const turn = (given: CopyTurn | CopyLeave) => worker.postMessage(given);
  const renew = () => until && turn({ until: until() });
  const leave = until && setInterval(renew, LEAVE).unref();
  renew();
  const timer = setInterval(() => turn({ directories: directories() }), every).unref();
  turn({ directories: directories() });
  return {
    async end(all) {
      clearInterval(timer);
      turn({ directories: all, last: true });
      await ended.promise;
      clearInterval(leave);
      await worker.terminate();
    },
  };
}
