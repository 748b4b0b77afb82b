/**
 * The command sets flags of V8 and a compile cache for its whole process (bin/settings.js). A program is not ours: its fetching
 * threads get the cache, and V8 the flags, while a run goes on. Without them a loop over a crawl's pages took a fifth more
 * processor time than the command (bench/library.ts).
 */
import { setFlagsFromString } from 'node:v8';
import { keepCompiled } from '../../transfer/thread.ts';

/** Left by bin/settings.js: the whole process has these settings, and keeps them. */
const SET = Symbol.for('skein.settings');

/** Plain JavaScript beside the package's modules, wherever this one was bundled to. */
const CACHE = new URL('../../../bin/private-cache.js', import.meta.url).href;

let runs = 0;

/** Finds the place for what threads compile. */
export async function findCache(): Promise<void> {
  if (SET in globalThis) return;
  const { privateCache } = (await import(CACHE)) as { privateCache: () => string | undefined };
  keepCompiled(privateCache());
}

/** Until it is disposed of. Runs may overlap: the last one that ends sets things back. */
export function lean(): Disposable {
  if (SET in globalThis) return { [Symbol.dispose]() {} };
  if (runs++ === 0) {
    setFlagsFromString('--efficiency-mode'); // fewer compilers beside the threads, of which each core has one
    setFlagsFromString('--initial-old-space-size=48'); // of the isolates that start from now on: the threads
  }
  let isOver = false;
  return {
    [Symbol.dispose]() {
      if (isOver) return;
      isOver = true;
      if (--runs > 0) return;
      setFlagsFromString('--no-efficiency-mode');
      setFlagsFromString('--initial-old-space-size=0');
    },
  };
}
