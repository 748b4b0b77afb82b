/** Files that are there whole or not at all, whoever reads them and whenever the process dies. */
import { renameSync, writeFileSync } from 'node:fs';

/** For the owner's eyes only. */
export const PRIVATE = 0o600;

/** Readers see the old contents until the new ones are complete. One writer at a time. */
export function replaceFile(file: string, contents: Uint8Array | string, mode?: number): void {
  writeFileSync(`${file}.new`, contents, mode === undefined ? {} : { mode });
  renameSync(`${file}.new`, file);
}
