/** Files that are there whole or not at all, whoever reads them and whenever the process dies; and whose directories are. */
import { lstatSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { SkeinError } from './errors.ts';

/** For the owner's eyes only. */
export const PRIVATE = 0o600;

/** Readers see the old contents until the new ones are complete. One writer at a time. */
export function replaceFile(file: string, contents: Uint8Array | string, mode?: number): void {
  // One that was killed has left its own, with whatever rights; a link that somebody laid there is not written through.
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, contents, { flag: 'wx', ...(mode !== undefined && { mode }) });
  renameSync(`${file}.new`, file);
}

/** All of it: a disk that is nearly full takes a part of what it is given, and tells so by the length alone. */
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

/** Of a mode: everybody may write. */
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

/** Undefined: there is nothing, or nothing that can be looked at; whoever opens it says so. */
function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path).uid;
  } catch {
    return undefined; // as the comment says
  }
}
