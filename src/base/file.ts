/** Files that are there whole or not at all, whoever reads them and whenever the process dies. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

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
