/** The thread behind images.ts: reads the stored copy of a page for the images of its own server. */
import { parentPort, workerData } from 'node:worker_threads';
import { originOf } from '../../base/url.ts';
import { analyse } from '../../crawler/analysis/analyse.ts';
import { imageLinks } from '../../crawler/analysis/image-links.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { openCopies } from '../copies/copies.ts';
import type { ImageThreadData, Shown } from './images.ts';

/** Bytes of a copy that are read. */
const MOST_BYTES = 4_000_000;
const port = parentPort!;
const { directory, agentToken } = workerData as ImageThreadData;
const ledger = new Ledger(directory, 'read');
const copies = openCopies(ledger, directory);

function imagesOf(page: number): readonly string[] {
  const { url } = ledger.pages.get(page)!;
  const stored = copies.newest(ledger.pages.known(page)!);
  if (!stored) return [];
  const body = stored.decoded(MOST_BYTES).bytes;
  const { images } = analyse(
    { url, headers: stored.headers, body, raw: new Uint8Array(16) },
    { focus: [], agentToken },
  );
  return images.filter(image => originOf(image) === originOf(url));
}

port.on('message', (page: number) => {
  let images: readonly string[] = [];
  try {
    images = imagesOf(page);
  } catch {
    // A damaged copy, or one that analysis fails on, shows nothing; `verify` is there to tell of it.
  }
  port.postMessage({ page, images: imageLinks(images) } satisfies Shown);
});
