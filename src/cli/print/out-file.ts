/** Where a command writes when it is told `--out`: standard output, or a file that is whole when it has its name. */
import {
  createWriteStream,
  fstatSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  type WriteStream,
} from 'node:fs';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { StringDecoder } from 'node:string_decoder';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { harmlessLines } from '../../base/harmless.ts';
import { shareAsUsual } from '../options/mask.ts';
import { counting } from './counting.ts';
import { size } from './terminal.ts';

/** The file that `--out` names; undefined = standard output. */
export function outOf(given: Record<string, unknown>): string | undefined {
  return given['out'] === '-' ? undefined : (given['out'] as string | undefined);
}

export async function writeOut<T>(file: string | undefined, write: (out: Writable) => Promise<T>): Promise<T> {
  const target = file === undefined ? undefined : openOut(file);
  const watch = counting(bytes => `${size(bytes)} written`, { quiet: !process.stderr.isTTY });
  target?.out.on('drain', () => watch(target.out.bytesWritten));
  const out = target?.out ?? (process.stdout.isTTY ? onTerminal() : process.stdout);
  const failed = new Promise<never>((_, reject) => out.once('error', error => reject(unwritable(file, error))));
  const written = async () => {
    const result = await write(out);
    if (out !== process.stdout) await finished(out.end());
    return result;
  };
  const result = await Promise.race([written(), failed]).catch(error => {
    target?.drop();
    throw error;
  });
  watch(0, true);
  target?.keep();
  return result;
}

/** Programs get what pages say as it is; a terminal must not take any of it for an order. */
function onTerminal(): Writable {
  const decoder = new StringDecoder('utf8');
  return new Writable({
    write(bytes: Buffer, _, done) {
      process.stdout.write(harmlessLines(decoder.write(bytes)), done);
    },
  });
}

interface OutFile {
  readonly out: WriteStream;
  /** All is written: it gets its name. */
  keep(): void;
  /** It is not whole, and goes. */
  drop(): void;
}

/**
 * Opened at once, so that what is wrong with it is said before anything is read. A file is written beside its name and takes
 * it when it is whole: whoever finds one under the name has all of it. What is no file (a pipe, /dev/null) is written to.
 */
function openOut(file: string): OutFile {
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there && !there.isFile()) {
      const out = createWriteStream(file, { fd: openSync(file, 'w') });
      return { out, keep() {}, drop() {} };
    }
    const aside = `${file}.part`;
    // One that was killed has left its own. A link that somebody laid there is not written through.
    rmSync(aside, { force: true });
    const opened = openSync(aside, 'wx');
    const { ino } = fstatSync(opened);
    const isOurs = () => lstatSync(aside, { throwIfNoEntry: false })?.ino === ino;
    const keep = () => {
      if (!isOurs())
        throw new SkeinError('refused', `Another process is writing ${file}.`, 'Wait for it, or name another file.');
      shareAsUsual(aside);
      renameSync(aside, file);
    };
    const drop = () => {
      if (isOurs()) rmSync(aside, { force: true });
    };
    return { out: createWriteStream(aside, { fd: opened }), keep, drop };
  } catch (error) {
    throw unwritable(file, error);
  }
}

function unwritable(file: string | undefined, error: unknown): SkeinError {
  const text = `${file ?? 'Standard output'} cannot be written: ${systemWords(error)}.`;
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new SkeinError('disk-full', text, 'Make room, or name a file elsewhere with --out.');
  return new SkeinError('refused', text, 'Name another file with --out.', { cause: error });
}
