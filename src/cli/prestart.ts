/** The threads that fetch begin to load before home does: its first request leaves a sixth of a second sooner. */
import { availableParallelism } from 'node:os';
import { threadModule } from '../engine/threads/thread-module.ts';
import { startEarly } from '../transfer/thread.ts';

const fetching = new Set(['crawl', 'refresh', 'watch']);

/**
 * Where it is plain from the words given that this machine will fetch. One core is home's meanwhile: the thread that would
 * share it begins when home is open, and loads while the first answers are waited for.
 */
export function startThreadsEarly([command = '', ...words]: readonly string[]): void {
  const elsewhere = words.some(word => /^(?:-h|--help|--outpost)\b/.test(word));
  if (fetching.has(command) && !elsewhere) startEarly(threadModule, Math.max(1, availableParallelism() - 1));
}
