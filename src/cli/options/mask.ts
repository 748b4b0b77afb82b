/**
 * What Skein writes is for its user alone: a collection holds keys, tokens and whatever pages there were. Imported before
 * anything is written; what a user asks for by name (`export --out`) gets the rights that the user's own mask gives.
 */
import { chmodSync } from 'node:fs';

const theirs = process.umask(0o077);

/** Gives a file the rights that it would have without us. */
export function shareAsUsual(file: string): void {
  chmodSync(file, 0o666 & ~theirs);
}
