// What the command sets for its process. A program that uses the library may want the same: node --import skein/settings
// program.js. Plain JavaScript, read before anything else is compiled, so that the cache fits.
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { isMainThread } from 'node:worker_threads';
import { privateCache } from './private-cache.js';

// Threads read it, too, where it was named on the command line: the flags are the process's, the cache is handed to them.
if (isMainThread) {
  globalThis[Symbol.for('skein.settings')] = true; // the library leaves them as they are (src/engine/library/lean.ts)
  // Every core fetches, so compilers and collectors beside them only take turns away. Measured on a crawl of 11,365
  // pages: 9.9 seconds of CPU without it, 8.9 with it.
  setFlagsFromString('--efficiency-mode');
  // Megabytes that a thread may fill before its heap is searched for the first time: else it happens six times in the
  // first four seconds, for nothing. 0.2 of 8.6 seconds of CPU; a crawl takes 50 MB more.
  setFlagsFromString('--initial-old-space-size=48');
  // Measured: 0.23 instead of 0.6 seconds of CPU for a command that only looks. Never without a directory: Node's own
  // choice is a shared one, where anybody could leave code for us to run.
  const cache = privateCache();
  if (cache) module.enableCompileCache?.(cache);
}
