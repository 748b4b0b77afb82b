/** The thread behind images.ts: reads the stored copy of a page for the images of its own server. */
import { parentPort, workerData } from 'node:worker_threads';
import { originOf } from '../../base/url.ts';
import { analyse } from '../../crawler/analysis/analyse.ts';
import { imageLinks } from '../../crawler/analysis/image-links.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { type Copies, openCopies } from '../copies/copies.ts';
import type { ImageQuestion, ImageThreadData, ShownImages } from './images.ts';

/** Bytes of a copy that are read. */
const MOST_BYTES = 4_000_000;
const port = parentPort!;
const { agentToken } = workerData as ImageThreadData;
/** By the directory of the partition. */
const opened = new Map<string, { readonly ledger: Ledger; readonly copies: Copies }>();

function read(directory: string): { readonly ledger: Ledger; readonly copies: Copies } {
  let partition = opened.get(directory);
  if (!partition) {
    const ledger = new Ledger(directory, 'read');
    partition = { ledger, copies: openCopies(ledger) };
    opened.set(directory, partition);
  }
  return partition;
}

async function imagesOf({ directory, page }: ImageQuestion): Promise<readonly string[]> {
  const { ledger, copies } = read(directory);
  const { url } = ledger.pages.get(page)!;
  const stored = await copies.newest(ledger.pages.known(page)!);
  if (!stored) return [];
  const body = stored.decoded(MOST_BYTES).bytes;
  const { images } = analyse(
    { url, headers: stored.headers, body, raw: new Uint8Array(16) },
    { focus: [], agentToken },
  );
  return images.filter(image => originOf(image) === originOf(url));
}

port.on('message', async (question: ImageQuestion) => {
  let images: readonly string[] = [];
  try {
    images = await imagesOf(question);
  } catch {
    // A damaged copy, or one that analysis fails on, shows nothing; `verify` is there to tell of it.
  }
  port.postMessage({ ...question, images: imageLinks(images) } satisfies ShownImages);
});
