/**
 * Watches folders, each by itself and from before it is listed: what is written after a folder was listed is then always
 * told. (Node's own recursive watcher on Linux begins to listen some time after it was asked to, and takes a watch for
 * every file.) Where the system has no room for more watches, lists find what is not told.
 */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';

export class FolderWatch {
  readonly #told: (name: string) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #full = false;

  /** `told`: name of a file or folder, relative to the root, in which something happened. */
  constructor(told: (name: string) => void) {
    this.#told = told;
  }

  /** From now on; `folder` is relative to `root`, empty = the root itself. */
  follow(root: string, folder: string): void {
    const place = join(root, folder);
    if (this.#watchers.has(place) || this.#full) return;
    try {
      const watcher = watch(place, { persistent: false });
      watcher.on('change', (_, name) => this.#told(folder === '' ? String(name) : `${folder}/${String(name)}`));
      watcher.on('error', () => this.#drop(place)); // the folder is gone, and its parent has told so
      this.#watchers.set(place, watcher);
    } catch (error) {
      this.#full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    }
  }

  /** Folders that a list no longer found are let go. */
  keep(places: ReadonlySet<string>): void {
    for (const place of this.#watchers.keys()) if (!places.has(place)) this.#drop(place);
    this.#full = false;
  }

  close(): void {
    for (const place of this.#watchers.keys()) this.#drop(place);
  }

  #drop(place: string): void {
    this.#watchers.get(place)?.close();
    this.#watchers.delete(place);
  }
}
