// Where compiled code may be kept: whoever can write there can run code as us, so it is a directory of ours that nobody
// else can write to or put in place of it, or there is none. Plain JavaScript, read before anything else.
import { chmodSync, lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Absolute; undefined = no place is safe, and code is compiled anew each time. */
export function privateCache(environment = process.env) {
  const uid = process.getuid?.();
  if (uid === undefined) return undefined; // without owners there is nothing to check
  try {
    const given = environment['XDG_CACHE_HOME'] ?? '';
    const base = isAbsolute(given) ? given : join(homedir(), '.cache');
    const directory = join(base, 'skein', 'compiled');
    const missing = missingOf(directory);
    if (!isSafe(dirname(missing[0] ?? directory), uid)) return undefined;
    // One by one: told to make them all, Node tries for ever where the system says that there is no such place.
    for (const each of missing) mkdirSync(each, { mode: 0o700 });
    if (lstatSync(directory).uid === uid) chmodSync(directory, 0o700);
    return isSafe(directory, uid) && isOurs(lstatSync(directory), uid) ? realpathSync(directory) : undefined;
  } catch {
    return undefined; // no home, no room, no right to write: none of it keeps anybody from working
  }
}

/** The directories on the way that are not there yet, from the top. */
function missingOf(directory) {
  const missing = [];
  for (let at = directory; lstatSync(at, { throwIfNoEntry: false }) === undefined; at = dirname(at))
    missing.unshift(at);
  return missing;
}

/** Nobody but us and root can change what a path leads to: no link on it is anybody else's, no directory open to others. */
function isSafe(path, uid) {
  for (const way of [path, realpathSync(path)]) {
    for (let at = way; ; at = dirname(at)) {
      const found = lstatSync(at);
      if (found.uid !== uid && found.uid !== 0) return false;
      // In a sticky directory (/tmp) others may add names, but not replace ours.
      if (found.isDirectory() && found.mode & 0o022 && !(found.mode & 0o1000)) return false;
      if (at === dirname(at)) break;
    }
  }
  return true;
}

function isOurs(found, uid) {
  return found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
}
