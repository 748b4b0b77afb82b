/**
 * What a data directory remembers of the cluster that it is a part of: `cluster.json`, so that a command that is run in it
 * speaks for the whole collection without being told where the others are. Readable by its owner alone, since an address
 * may hold a password. Loaded by every command: nothing of the engine's client is.
 */
import { join, resolve } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { PRIVATE, replaceFile } from '../../base/file.ts';
import { readSmallFile } from './small-file.ts';

const FILE = 'cluster.json';

export interface Remembered {
  /** As --engine takes it; files that it names have absolute paths. */
  readonly engine: string;
  /** What this machine was called there. */
  readonly peer: string;
}

/** Undefined: it is no part of a cluster. */
export function rememberedCluster(directory: string): Remembered | undefined {
  const file = join(directory, FILE);
  const help = 'Delete it, and name the engine with --engine once.';
  const damaged = new SkeinError('damaged', `${file} is damaged.`, help);
  const remembered = readSmallFile(file, damaged);
  if (!remembered) return undefined;
  const { engine, peer } = remembered;
  if (typeof engine !== 'string' || typeof peer !== 'string') throw damaged;
  return { engine, peer };
}

export function rememberCluster(directory: string, { engine, peer }: Remembered): void {
  const text = JSON.stringify({ engine: withWholePaths(engine), peer });
  replaceFile(join(directory, FILE), `${text}\n`, PRIVATE);
}

/** The next command may be run elsewhere. */
function withWholePaths(engine: string): string {
  const at = engine.indexOf('?');
  if (at < 0) return engine;
  const named = new URLSearchParams(engine.slice(at + 1));
  const parts = [...named].map(([name, path]) => `${name}=${encodeURIComponent(resolve(path)).replaceAll('%2F', '/')}`);
  return `${engine.slice(0, at)}?${parts.join('&')}`;
}
