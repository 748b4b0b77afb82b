/** skein.config.ts or skein.config.json in the working directory, or the file that --config names: the same names as on the command line, in camel case. */
import { existsSync, lstatSync, readFileSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { SkeinError, systemWords } from '../../base/errors.ts';
import { OTHERS_WRITE } from '../../base/file.ts';
import { nearest } from '../../base/named.ts';

/**
 * What the file says; empty without one. `named`: the file that the user chose, which must exist. Throws when it names
 * something that is not in `names`.
 */
export async function readConfig(
  directory: string,
  names: readonly string[],
  named?: string,
): Promise<Record<string, unknown>> {
  const usual = ['skein.config.ts', 'skein.config.json'].map(name => resolve(directory, name));
  const file = named === undefined ? usual.find(existsSync) : resolve(directory, named);
  if (!file) return {};
  if (named === undefined) refuseForeignConfig(file);
  let config: unknown;
  try {
    config = /\.[mc]?[jt]s$/.test(file)
      ? ((await import(pathToFileURL(file).href)) as { default: unknown }).default
      : JSON.parse(readFileSync(file, 'utf8').replace(/^\ufeff/, '')); // some editors begin with one
  } catch (error) {
    throw new SkeinError(
      'bad-config',
      `${file} cannot be read: ${systemWords(error)}.`,
      'A config file is JSON, or a module with a default export.',
    );
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config))
    throw new SkeinError('bad-config', `${file} must hold an object.`);
  for (const name of Object.keys(config)) {
    if (names.includes(name)) continue;
    const near = nearest(name, names);
    throw new SkeinError(
      'bad-config',
      `${file} has an option "${name}" that does not exist.`,
      near && `Did you mean "${near}"?`,
    );
  }
  return config as Record<string, unknown>;
}

/**
 * A config file is code, or names some. In a directory that others may write to, such as /tmp, one of them may have laid it
 * there for whoever runs Skein: what nobody has named must be its user's own, or that of whoever administers the machine.
 */
function refuseForeignConfig(file: string): void {
  const me = process.getuid?.();
  if (me === undefined) return; // a system where files belong to nobody
  const trusted = new Set([0, me, ...(me === 0 ? [Number(process.env['SUDO_UID'] ?? 0)] : [])]);
  // A link is its maker's choice, whoever owns what it leads to.
  const found = [lstatSync(file), statSync(file)];
  const isOurs = found.every(({ uid }) => trusted.has(uid)) && (found[1]!.mode & OTHERS_WRITE) === 0;
  if (isOurs) return;
  throw new SkeinError(
    'bad-config',
    `${file} was not read, because another user of this machine can write it.`,
    `Move it away, or name it if you trust it: --config ${basename(file)}`,
  );
}
