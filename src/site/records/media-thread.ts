/**
 * Reads the metadata of pictures, sound and PDF files by libraries of others, in a process that may read files and nothing
 * else (media-reader.ts): whoever puts files into the folder may have made them to take all memory, or to be read for ever.
 */
import { open, readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { ProcessAnswer } from './asked-process.ts';
import { type RecordRow, textOf } from './describe.ts';

export interface MediaQuestion {
  readonly file: string;
  readonly fields: readonly string[];
}

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

async function read({ file, fields }: MediaQuestion): Promise<Readonly<Record<string, string>>> {
  const row = await readers[extname(file).toLowerCase()]!(file);
  return Object.fromEntries(fields.map(field => [field, textOf(row[field])]));
}

parentPort!.on('message', ({ id, question }: { readonly id: number; readonly question: MediaQuestion }) => {
  const tell = (told: ProcessAnswer) => parentPort!.postMessage(told);
  read(question).then(
    answer => tell({ id, answer }),
    error => tell({ id, problem: (error as Error).message }),
  );
});
