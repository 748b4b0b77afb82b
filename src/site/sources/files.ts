/**
 * A folder of files behind a web server: `a/index.html` is `/a/`, everything else has its own name. The platform's watcher
 * tells of changes at once (folder-watch.ts); a list every minute finds what it missed. Hidden files are left out, and so is whatever a
 * symbolic link would reach outside of the folder.
 */
import { constants, type Dirent } from 'node:fs';
import { open, readdir, realpath, stat } from 'node:fs/promises';
import { join, resolve, sep } from 'node:path';
import { SkeinError } from '../../base/errors.ts';
import { normalise, originOf } from '../../base/url.ts';
import { ROBOTS_LIMIT } from '../../crawler/robots/robots.ts';
import { FolderWatch } from './folder-watch.ts';
import { pageType } from './media-types.ts';
import type { Item, SiteSource, SourceDocument } from './source.ts';

interface FilesOptions {
  readonly directory: string;
  /** Public URL; the folder is what lies there. */
  readonly site: string;
  /** `/about` instead of `/about.html`, for servers that add the end themselves. */
  readonly cleanUrls?: boolean;
  /** Milliseconds between lists. */
  readonly every?: number;
}

const INDEX = /(^|\/)index\.x?html?$/i;
/** Larger files are not told of: nobody reads them as pages. */
const LARGEST = 64 * 1024 * 1024;

/** Whoever opens a pipe waits for somebody to write into it, and takes a thread with them. */
const AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

export class FilesSource implements SiteSource {
  readonly name = 'files';
  readonly every: number;
  readonly #options: FilesOptions;
  readonly #origin: string;
  readonly #prefix: string;
  /** File of a path, relative to the folder; filled by `list`. */
  readonly #files = new Map<string, string>();
  #watch: FolderWatch | undefined;

  constructor(options: FilesOptions) {
    this.#options = options;
    this.#origin = originOf(options.site);
    this.#prefix = options.site.slice(this.#origin.length);
    this.every = options.every ?? 60_000;
  }

  async *list(): AsyncIterable<Item> {
    const root = await this.#root();
    const folders = [''];
    const places = new Set<string>();
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      places.add(join(root, folder));
      this.#watch?.follow(root, folder);
      for (const entry of await entriesOf(root, folder)) {
        if (entry.name.startsWith('.')) continue;
        const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) folders.push(name);
        else if (pageType(entry.name) !== undefined) {
          const item = await this.#item(root, name, entry.isSymbolicLink());
          if (item) yield item;
        }
      }
    }
    this.#watch?.keep(places);
  }

  async #item(root: string, name: string, isLink: boolean): Promise<Item | undefined> {
    const path = this.pathOf(name);
    if (path === undefined) return undefined;
    try {
      if (isLink && !(await staysWithin(root, join(root, name)))) return undefined;
      const { size, mtimeMs, ino, isFile } = await facts(join(root, name));
      if (!isFile || size > LARGEST) return undefined;
      // `index.htm` beside `index.html`: the first that is found is the page.
      const taken = this.#files.get(path);
      if (taken !== undefined && taken !== name && (await exists(join(root, taken)))) return undefined;
      this.#files.set(path, name);
      return { path, stamp: `${size} ${mtimeMs} ${ino}` };
    } catch (error) {
      if (isGone(error)) return undefined; // removed while we looked
      throw error;
    }
  }

  async read(path: string): Promise<SourceDocument | undefined> {
    const root = await this.#root();
    const name = this.#files.get(path);
    if (name === undefined) return undefined;
    const file = join(root, name);
    try {
      if (!(await staysWithin(root, file))) return undefined;
      const handle = await open(file, AT_ONCE);
      try {
        const found = await handle.stat();
        const { mtimeMs, size } = found;
        if (!found.isFile() || size > LARGEST) return undefined;
        return { kind: 'page', type: pageType(name)!, modified: mtimeMs, body: await handle.readFile() };
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async robots(): Promise<Uint8Array | undefined> {
    const file = join(await this.#root(), 'robots.txt');
    try {
      const handle = await open(file, AT_ONCE);
      try {
        if (!(await handle.stat()).isFile()) throw new SkeinError('refused', `${file} is not a file.`);
        const text = Buffer.alloc(ROBOTS_LIMIT + 1);
        return text.subarray(0, (await handle.read(text, 0, text.length, 0)).bytesRead);
      } finally {
        await handle.close();
      }
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  watch(touched: (paths: readonly string[]) => void): () => void {
    this.#watch = new FolderWatch(resolve(this.#options.directory), touch => {
      const paths = this.#touchedBy(touch);
      if (paths !== undefined) touched(paths);
    });
    return () => this.#watch?.close();
  }

  /** None: anything may have changed. Undefined: nothing of ours has. */
  #touchedBy({ name, isFolder }: { readonly name: string; readonly isFolder: boolean }): readonly string[] | undefined {
    const relative = name.split(sep).join('/');
    if (isHidden(relative)) return undefined;
    if (isFolder) return [];
    if (pageType(relative) === undefined || relative === 'robots.txt') return isAsset(relative) ? undefined : [];
    const path = this.pathOf(relative);
    if (path === undefined) return undefined;
    if (!this.#files.has(path)) this.#files.set(path, relative);
    return this.#files.get(path) === relative ? [path] : [];
  }

  /** Path of the public URL of a file; undefined = it can have none. */
  pathOf(name: string): string | undefined {
    if (name === 'robots.txt' || isHidden(name)) return undefined;
    let page = name.replace(INDEX, '$1');
    if (this.#options.cleanUrls) page = page.replace(/\.x?html?$/i, '');
    // Only what a URL takes for something else; the rest as links write it, where `a&b.html` is itself.
    const encoded = page.replace(/[%?#\\]/g, encodeURIComponent);
    const url = normalise(this.#origin + this.#prefix + encoded);
    return url?.slice(this.#origin.length);
  }

  async #root(): Promise<string> {
    try {
      return await realpath(this.#options.directory);
    } catch {
      throw new SkeinError('not-found', `The folder ${this.#options.directory} does not exist.`);
    }
  }
}

function isHidden(name: string): boolean {
  return name.split('/').some(part => part.startsWith('.'));
}

/** Neither a page nor, by its name, a folder. */
function isAsset(name: string): boolean {
  return /\.\w{1,8}$/.test(name) && !/(?:^|\/)robots\.txt$/.test(name);
}

/** A folder that was removed while we looked is empty; the root must be there. */
async function entriesOf(root: string, folder: string): Promise<Dirent[]> {
  try {
    return await readdir(join(root, folder), { withFileTypes: true });
  } catch (error) {
    if (folder !== '' && isGone(error)) return [];
    throw error;
  }
}

async function facts(file: string): Promise<{ size: number; mtimeMs: number; ino: number; isFile: boolean }> {
  const found = await stat(file);
  return { size: found.size, mtimeMs: found.mtimeMs, ino: found.ino, isFile: found.isFile() };
}

async function exists(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    return false; // that is the answer
  }
}

/** It leads to no place outside, by whatever links. */
export async function staysWithin(root: string, file: string): Promise<boolean> {
  const real = await realpath(file);
  return real.startsWith(root.endsWith(sep) ? root : root + sep);
}

export function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
