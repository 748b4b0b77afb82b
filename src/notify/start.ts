/** Starts telling beside a home, as soon as the collection has a rule. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { hasRules } from './place.ts';

interface Notifying {
  /** Ends after a last pass. */
  stop(): Promise<void>;
}

/** Milliseconds between two looks for a first rule. */
const LOOK = 5000;

export interface NotifierTold {
  readonly data: string;
  /** Milliseconds until a second look has shown what of a visit is noise. */
  readonly settled: number;
}

/** `failed` hears why nobody is told, once; the run goes on. */
export function startNotifying(told: NotifierTold, failed: (why: string) => void): Notifying {
  let worker: Worker | undefined;
  let ended: Promise<void> = Promise.resolve();
  const begin = () => {
    if (worker || !hasRules(told.data)) return;
    worker = new Worker(new URL(`./notify-thread${extname(import.meta.url)}`, import.meta.url), { workerData: told });
    worker.once('error', error => failed((error as Error).message));
    ended = new Promise(resolve => worker!.once('exit', () => resolve()));
    worker.unref();
  };
  begin();
  const timer = setInterval(begin, LOOK).unref();
  return {
    async stop() {
      clearInterval(timer);
      begin();
      worker?.ref(); // this process now waits for its end
      worker?.postMessage('stop');
      await ended;
    },
  };
}
