/** The hooks that a run names: checked before anything is made, and, where they are somebody else's, as code for the cage. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { SkeinError } from '../../base/errors.ts';
import type { EngineOptions } from '../options.ts';

/** As a file URL, which a thread can import whatever its working directory is. */
export function moduleOf(hooks: string | URL): string {
  const named = String(hooks);
  return named.startsWith('file:') ? named : pathToFileURL(named).href;
}

/** The options with hooks, and with a fetcher of the user's own, that can be used. */
export function withHooks<O extends EngineOptions>(options: O): O {
  const own = options.fetcher && fileURLToPath(moduleOf(options.fetcher.module));
  if (own !== undefined && !existsSync(own))
    throw new SkeinError('bad-option', `There is no fetcher at ${own}.`, 'Name another file.');
  const { hooks, cagedHooks, decider, outposts = [], listen } = options;
  if (hooks === undefined) return options;
  const file = fileURLToPath(moduleOf(hooks));
  if (!/\.m?[jt]s$/.test(file))
    throw new SkeinError('bad-option', `${file} is not a module.`, 'Name a .js, .mjs, .ts or .mts file.');
  if (!existsSync(file)) throw new SkeinError('bad-option', `There are no hooks at ${file}.`, 'Name another file.');
  if (decider)
    throw new SkeinError(
      'bad-option',
      'Hooks and a decider both decide about pages.',
      'Give one of --hooks and --decider.',
    );
  if (outposts.length > 0 || listen)
    throw new SkeinError(
      'bad-option',
      'Hooks run only on this machine, but outposts would crawl elsewhere.',
      'Omit the outposts, or use a --decider, which Skein sends to them.',
    );
  if (!cagedHooks) return options;
  if (/ts$/.test(file))
    throw new SkeinError(
      'bad-option',
      'Hooks in the sandbox must be JavaScript.',
      'Compile them to one .js file first.',
    );
  return { ...options, decider: readFileSync(file) };
}
