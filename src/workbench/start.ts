/** Starts a workbench in a thread of its own, so that whatever is asked of it never holds up home's loop. */
import { Worker } from 'node:worker_threads';
import { SkeinError } from '../base/errors.ts';
import type { WorkbenchOptions } from './server.ts';
import type { ThreadNews } from './thread.ts';

export interface WorkbenchThread {
  readonly address: string;
  /** Processor time of the thread so far, seconds. */
  cpuSeconds(): Promise<number>;
  close(): Promise<void>;
}

export async function startWorkbench(options: WorkbenchOptions): Promise<WorkbenchThread> {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./thread.${ending}`, import.meta.url), { workerData: options });
  const news = await new Promise<ThreadNews>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if ('failure' in news) {
    await worker.terminate();
    throw new SkeinError('bad-option', news.failure);
  }
  worker.unref();
  return {
    address: news.address,
    async cpuSeconds() {
      const { user, system } = await worker.cpuUsage();
      return (user + system) / 1e6;
    },
    async close() {
      worker.ref(); // this process now waits for its end
      const ended = new Promise(resolve => worker.once('exit', resolve));
      worker.postMessage('close');
      await ended;
    },
  };
}
