/** How many files the system lets a process have open: threads, sockets and databases each take some. */
import { readFileSync } from 'node:fs';
import { SkeinError } from '../../base/errors.ts';

/** With fewer, some part of a crawl fails, and which one is chance. Systems allow 256 or more unless told otherwise. */
const FEWEST = 128;

export function refuseFewFiles(): void {
  const limit = limitOfFiles();
  if (limit < FEWEST) throw tooManyOpen(`Only ${limit} files may be open at once, and Skein needs ${FEWEST}.`);
}

/** Files that home has open, and that each thread has besides its connections: measured, with as many to spare. */
const HOME_FILES = 64;
const THREAD_FILES = 16;
const FEWEST_SOCKETS = 4;

/** Connections that each of so many threads may have open; throws where that would be too few to work with. */
export function socketsFor(threads: number): number | undefined {
  const limit = limitOfFiles();
  if (threads === 0 || !Number.isFinite(limit)) return undefined;
  const each = Math.floor((limit - HOME_FILES) / threads) - THREAD_FILES;
  if (each >= FEWEST_SOCKETS) return each;
  throw tooManyOpen(`Only ${limit} files may be open at once, too few for ${threads} threads.`);
}

/** Too many are open all the same: the sentence about it; any other error is returned as it is. */
export function openFilesError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'EMFILE' && code !== 'ENFILE') return error;
  return tooManyOpen(`No more files may be opened (${code}).`, error);
}

function tooManyOpen(message: string, cause?: unknown): SkeinError {
  return new SkeinError('refused', message, 'Raise the limit, for example with "ulimit -n 4096".', { cause });
}

/** Infinity where the system does not say. */
function limitOfFiles(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'latin1');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY; // only Linux has that file: elsewhere the first error says so
  }
}
