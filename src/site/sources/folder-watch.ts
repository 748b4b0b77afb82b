/**
 * Watches folders, each by itself and from before it is listed: what is written after a folder was listed is then always
 * told. (Node's own recursive watcher on Linux begins to listen some time after it was asked to, and takes a watch for
 * every file.) A watch stays with its folder, so that of one that is removed or moved is let go, with all below it: builds put
 * another folder in its place. Where the system has no room for more watches, lists find what is not told.
 */
import { type FSWatcher, lstatSync, watch } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';

/** What was touched. */
interface TouchedName {
  /** Relative to the root, empty = anything. */
  readonly name: string;
  readonly isFolder: boolean;
}

export class FolderWatch {
  readonly #told: (touched: TouchedName) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  readonly #beside: FSWatcher | undefined;
  #full = false;

  /** `directory`: the root as its owner names it, which may become a link to another one. */
  constructor(directory: string, told: (touched: TouchedName) => void) {
    this.#told = told;
    this.#beside = watched(dirname(directory), (_, name) => {
      if (name === basename(directory)) told({ name: '', isFolder: true });
    });
  }

  /** From now on; `folder` is relative to `root`, empty = the root itself. */
  follow(root: string, folder: string): void {
    const place = join(root, folder);
    if (this.#watchers.has(place) || this.#full) return;
    try {
      const watcher = watch(place, { persistent: false });
      watcher.on('change', (event, name) => this.#touched({ event, name: String(name ?? ''), place, folder }));
      watcher.on('error', () => this.#drop(place)); // the folder is gone, and its parent has told so
      this.#watchers.set(place, watcher);
    } catch (error) {
      this.#full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    }
  }

  #touched({ event, name, place, folder }: WatchEvent): void {
    const isRename = event === 'rename';
    // What befalls the folder itself comes under its own name: what is found at this place later is another folder.
    if (isRename && name === basename(place)) {
      for (const each of this.#watchers.keys()) if (`${each}${sep}`.startsWith(`${place}${sep}`)) this.#drop(each);
      this.#told({ name: '', isFolder: true });
      return;
    }
    const isNowFolder = isRename && isFolder(join(place, name));
    this.#told({ name: folder === '' ? name : `${folder}/${name}`, isFolder: isNowFolder });
  }

  /** Folders that a list no longer found are let go. */
  keep(places: ReadonlySet<string>): void {
    for (const place of this.#watchers.keys()) if (!places.has(place)) this.#drop(place);
    this.#full = false;
  }

  close(): void {
    this.#beside?.close();
    for (const place of this.#watchers.keys()) this.#drop(place);
  }

  #drop(place: string): void {
    this.#watchers.get(place)?.close();
    this.#watchers.delete(place);
  }
}

interface WatchEvent {
  readonly event: string;
  readonly name: string;
  readonly place: string;
  /** Relative to the root. */
  readonly folder: string;
}

function isFolder(place: string): boolean {
  try {
    return lstatSync(place).isDirectory();
  } catch {
    return false; // it is gone already, or not ours to look at
  }
}

/** Undefined: it cannot be watched, and lists find what it would have told. */
function watched(place: string, told: (event: string, name: string | null) => void): FSWatcher | undefined {
  try {
    const watcher = watch(place, { persistent: false }, told);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    return undefined; // no right to, or no room: as the comment above says
  }
}
