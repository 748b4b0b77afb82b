/** File permissions of what is already there; new files get theirs through mask.ts. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes other users' access to files of a collection that an earlier version, a copy or another program left open. It changes
 * only the user's own files and follows no links.
 */
export function closeToOthers(directory: string): void {
  const uid = process.getuid?.();
  const own = lstatSync(directory, { throwIfNoEntry: false });
  if (uid === undefined || own?.uid !== uid) return;
  if (own.mode & 0o077) chmodSync(directory, 0o700);
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.uid !== uid || found.isSymbolicLink() || (found.mode & 0o077) === 0) continue;
    chmodSync(path, found.mode & 0o700);
  }
}
