/** Tells of changes while a home runs, in a thread of its own: pages are parsed here, and never on home's thread. */
import { parentPort, workerData } from 'node:worker_threads';
import { Notifier } from './notifier.ts';
import type { NotifierTold } from './start.ts';

/** Milliseconds between two passes. */
const EVERY = 5000;
/** How long the last pass may take. */
const LAST = 10_000;

const ending = new AbortController();
parentPort!.once('message', () => ending.abort());

const { data, settled } = workerData as NotifierTold;
const notifier = new Notifier(data);
while (!ending.signal.aborted) {
  await notifier.pass(settled, ending.signal);
  await new Promise<void>(resolve => {
    const timer = setTimeout(resolve, EVERY);
    ending.signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
await notifier.pass(0, AbortSignal.timeout(LAST));
notifier.close();
parentPort!.close();
