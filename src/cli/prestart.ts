/** The thread that fetches first begins to load before home does: its first request leaves a sixth of a second sooner. */
import { threadModule } from '../engine/threads/thread-module.ts';
import { startEarly } from '../transfer/thread.ts';

const fetching = new Set(['crawl', 'refresh', 'watch']);

/** Where it is plain from the words given that this machine will fetch. The other threads begin when there is work for them. */
export function startThreadEarly([command = '', ...words]: readonly string[]): void {
  const elsewhere = words.some(word => /^(?:-h|--help|--outpost)\b/.test(word));
  if (fetching.has(command) && !elsewhere) startEarly(threadModule);
}
