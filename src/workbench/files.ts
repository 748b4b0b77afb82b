/** The built user interface, read once into memory: a few files, and no path from a request ever touches the disk. */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface StaticFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Beside the sources, also when this file runs from the published dist folder. */
const places = ['./ui/dist/', '../../src/workbench/ui/dist/'];

export function loadFiles(): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  const directory = places.map(place => fileURLToPath(new URL(place, import.meta.url))).find(existsSync);
  if (directory === undefined) return files;
  for (const name of globSync('**/*.*', { cwd: directory })) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const path = `/${name.replaceAll('\\', '/')}`;
    const bytes = new Uint8Array(readFileSync(join(directory, name)));
    files.set(path === '/index.html' ? '/' : path, { bytes, type, immutable: path.startsWith('/assets/') });
  }
  return files;
}
