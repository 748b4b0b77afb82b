/**
 * A folder of media as a source: pictures, sound and PDF files, each a document that says what its metadata say, as far
 * as the owner lets it. They are read in a process of their own (media-reader.ts).
 */
import { readdir, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { isGone, staysWithin } from '../sources/files.ts';
import type { Item, SiteSource, SourceDocument } from '../sources/source.ts';
import { documentOf, type MediaRecords, mediaFieldsOf, pathOfRow, type RecordRow } from './describe.ts';
import { MediaMetadata, mediaEndings } from './media-reader.ts';

export class MediaSource implements SiteSource {
  readonly name: string;
  readonly every: number;
  readonly #described: MediaRecords;
  readonly #site: string;
  readonly #files = new Map<string, string>();
  readonly #metadata = new MediaMetadata();

  constructor(described: MediaRecords, site: string) {
    this.name = `media ${described.name}`;
    this.every = described.every * 1000;
    this.#described = described;
    this.#site = site;
  }

  async *list(): AsyncIterable<Item> {
    const root = await realpath(this.#described.media);
    const folders = [''];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
        if (entry.name.startsWith('.')) continue;
        const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) folders.push(name);
        else if (entry.isFile() && isMedia(name)) {
          const path = pathOfRow(this.#described.url, rowOf(name), this.#site);
          if (path === undefined) continue;
          this.#files.set(path, name);
          const { size, mtimeMs } = await stat(join(root, name));
          yield { path, stamp: `${size} ${mtimeMs}` };
        }
      }
    }
  }

  async read(path: string): Promise<SourceDocument | undefined> {
    const name = this.#files.get(path);
    if (name === undefined) return undefined;
    const file = join(this.#described.media, name);
    try {
      // A list names files; since then one may have become a link, or a pipe, which nobody would read to its end.
      if (!(await staysWithin(await realpath(this.#described.media), file))) return undefined;
      const found = await stat(file);
      if (!found.isFile()) return undefined;
      const { mtimeMs, size } = found;
      const read = await this.#metadata.of(file, mediaFieldsOf(this.#described));
      const row: RecordRow = { ...read, ...rowOf(name), bytes: size };
      const title = row['title'] || name.split('/').at(-1);
      return documentOf(this.#described, { ...row, title }, 'media', mtimeMs);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#metadata.close();
  }
}

function isMedia(name: string): boolean {
  return mediaEndings.has(extname(name).toLowerCase());
}

/** What the URL may be made of. */
function rowOf(name: string): RecordRow {
  const parts = name.split(sep).join('/');
  return { path: parts, file: parts.split('/').at(-1) };
}
