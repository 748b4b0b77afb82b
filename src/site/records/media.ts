/**
 * A folder of media as a source: pictures, sound and PDF files, each a document that says what its metadata say, as far
 * as the owner lets it. The readers are libraries of others, loaded when the first file of their kind comes.
 */
import { open, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { isGone, staysWithin } from '../sources/files.ts';
import type { Item, SiteSource, SourceDocument } from '../sources/source.ts';
import { documentOf, type MediaRecords, pathOfRow, type RecordRow } from './describe.ts';

type MediaReader = (file: string) => Promise<RecordRow>;

/** Bytes that are read of a picture, and of a PDF file in whole. */
const PICTURE_BYTES = 1 << 20;
const LARGEST_PDF = 64 * 1024 * 1024;

const picture: MediaReader = async file => {
  const { default: exifr } = await import('exifr');
  const handle = await open(file, 'r');
  try {
    const start = Buffer.alloc(PICTURE_BYTES);
    const { bytesRead } = await handle.read(start, 0, start.length, 0);
    const found = (await exifr.parse(start.subarray(0, bytesRead), { iptc: true, xmp: true })) as RecordRow | undefined;
    return { ...found, title: found?.['title'] ?? found?.['ObjectName'] ?? found?.['ImageDescription'] };
  } finally {
    await handle.close();
  }
};

const sound: MediaReader = async file => {
  const { parseFile } = await import('music-metadata');
  const { common, format } = await parseFile(file, { skipCovers: true, duration: false });
  return { ...common, duration: format.duration, codec: format.codec };
};

const pdf: MediaReader = async file => {
  if ((await stat(file)).size > LARGEST_PDF) return {};
  const { getDocumentProxy, getMeta } = await import('unpdf');
  const document = await getDocumentProxy(new Uint8Array(await readFile(file)), { verbosity: 0 });
  try {
    const { info } = await getMeta(document);
    const { Title: title, ...rest } = info as RecordRow;
    return { ...rest, title, pages: document.numPages };
  } finally {
    await document.destroy();
  }
};

const readers: Readonly<Record<string, MediaReader>> = {
  ...{ '.jpg': picture, '.jpeg': picture, '.tif': picture, '.tiff': picture, '.heic': picture, '.png': picture },
  ...{ '.mp3': sound, '.m4a': sound, '.flac': sound, '.ogg': sound, '.opus': sound, '.wav': sound },
  '.pdf': pdf,
};

export class MediaSource implements SiteSource {
  readonly name: string;
  readonly every: number;
  readonly #described: MediaRecords;
  readonly #site: string;
  readonly #files = new Map<string, string>();

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
        else if (entry.isFile() && readerOf(name)) {
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
    const reader = name === undefined ? undefined : readerOf(name);
    if (name === undefined || reader === undefined) return undefined;
    const file = join(this.#described.media, name);
    try {
      // A list names files; since then one may have become a link, or a pipe, which nobody would read to its end.
      if (!(await staysWithin(await realpath(this.#described.media), file))) return undefined;
      const found = await stat(file);
      if (!found.isFile()) return undefined;
      const { mtimeMs, size } = found;
      const row = { ...(await metadata(reader, file)), ...rowOf(name), bytes: size };
      const title = (row as RecordRow)['title'] || name.split('/').at(-1);
      return documentOf(this.#described, { ...row, title }, 'media', mtimeMs);
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }
}

/** A file that its library cannot read is a document with a name and a size. */
async function metadata(reader: MediaReader, file: string): Promise<RecordRow> {
  try {
    return await reader(file);
  } catch (error) {
    if (isGone(error)) throw error;
    return {};
  }
}

function readerOf(name: string): MediaReader | undefined {
  const end = extname(name).toLowerCase();
  return Object.hasOwn(readers, end) ? readers[end] : undefined;
}

/** What the URL may be made of. */
function rowOf(name: string): RecordRow {
  const parts = name.split(sep).join('/');
  return { path: parts, file: parts.split('/').at(-1) };
}
