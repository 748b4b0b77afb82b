/** A digest of everything that dist/ is built from, so that a test can tell when it is out of date. */
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const directory = import.meta.dirname;

export function sourcesDigest(): string {
  const hash = createHash('sha256');
  const names = globSync('**/*.{ts,svelte,css,html,svg}', { cwd: directory })
    .map(name => name.replaceAll('\\', '/'))
    .filter(name => !/^(?:dist|node_modules)\//.test(name))
    .sort();
  for (const name of names) hash.update(`${name}\0`).update(readFileSync(join(directory, name)));
  return hash.digest('hex');
}
