/** Writes files whole or not at all, whenever the process dies; and says whose a directory is. */
import { lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SkeinError } from './errors.ts';

/** Mode of a file that only its owner may read. */
export const PRIVATE = 0o600;

/** Readers see the old contents until the new ones are complete. One writer at a time. */
export function replaceFile(file: string, contents: Uint8Array | string, mode?: number): void {
  // One that was killed has left its own, with whatever rights; a link that somebody laid there is not written through.
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, contents, { flag: 'wx', ...(mode !== undefined && { mode }) });
  renameSync(`${file}.new`, file);
}

/** Writes all of the bytes. A nearly full disk takes only a part of them, and only the returned length says so. */
export async function writeWhole(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; )
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

/** A new file survives a power cut only once its directory does. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Bit of a mode: everybody may write. */
export const OTHERS_WRITE = 0o002;

/**
 * Where everybody may make directories (/tmp), one that is another user's was laid there for whoever comes: links in it
 * would make us write what strangers said into files of ours.
 */
export function refuseForeignDirectory(directory: string): void {
  const uid = process.getuid?.();
  const owner = ownerOf(directory);
  if (uid === undefined || owner === undefined || owner === uid || owner === 0) return;
  if ((statSync(dirname(resolve(directory))).mode & OTHERS_WRITE) === 0) return;
  throw new SkeinError(
    'refused',
    `${directory} belongs to another user of this machine, in a place where everybody may write.`,
    'Name a directory of your own with --data.',
  );
}

/** Undefined: there is nothing there, or it cannot be looked at; opening it will say so. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid;
  } catch {
    return undefined; // as the comment says
  }
}
