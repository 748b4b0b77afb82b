/** Files that are there whole or not at all, whoever reads them and whenever the process dies. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** For the owner's eyes only. */
export const PRIVATE = 0o600;

/** Readers see the old contents until the new ones are complete. One writer at a time. */
export function replaceFile(file: string, contents: Uint8Array | string, mode?: number): void {
  // One that was killed has left its own, with whatever rights; a link that somebody laid there is not written through.
  rmSync(`${file}.new`, { force: true });
  writeFileSync(`${file}.new`, contents, { flag: 'wx', ...(mode !== undefined && { mode }) });
  renameSync(`${file}.new`, file);
}
