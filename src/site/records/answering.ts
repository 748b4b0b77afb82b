/**
 * The process behind asked-process.ts: a thread answers, and this one passes questions and answers on, and ends the process
 * when the thread takes more memory than it may, or nobody is left to wait.
 */
import { Worker } from 'node:worker_threads';
import type { ProcessAnswer } from './asked-process.ts';

const [module = '', data = '', most = '0'] = process.argv.slice(2);
const megabytes = Number(most);
/** Milliseconds between two looks at the memory: buffers are in no limit of V8's. */
const LOOK = 50;

const thread = new Worker(new URL(module), {
  workerData: data,
  ...(megabytes > 0 && { resourceLimits: { maxOldGenerationSizeMb: megabytes } }),
});

function end(problem: string): void {
  process.send!({ id: 0, problem } satisfies ProcessAnswer, () => process.exit(1));
}

if (megabytes > 0) {
  const idle = process.memoryUsage.rss();
  setInterval(() => {
    // At once: what it takes meanwhile is taken from everybody.
    if (process.memoryUsage.rss() - idle > megabytes * 2 ** 20) process.kill(process.pid, 'SIGKILL');
  }, LOOK);
}
thread.on('message', told => process.send!(told));
thread.on('error', error => end((error as Error).message));
thread.on('exit', () => end('its thread has ended'));
process.on('message', asked => thread.postMessage(asked));
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
