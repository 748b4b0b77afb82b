/** The thread behind unpacker.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { SkeinError } from '../../base/errors.ts';
import { fingerprint } from '../../base/url.ts';
import { decodeErrand } from '../../errand/codec/errand-codec.ts';
import { encodeParcel } from '../../errand/codec/parcel-codec.ts';
import type { Known } from '../../errand/known.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Recent, type Shelf, unpackSent } from '../../transfer/wire/parcel-format.ts';
import { type Copies, openCopies } from '../copies/copies.ts';
import { restoreParcel } from './unpack-parcel.ts';
import type { UnpackAnswer, UnpackMessage, UnpackOptions } from './unpacker.ts';

const port = parentPort!;
const { directory, agentToken } = workerData as UnpackOptions;
const shelves = new Map<string, Shelf>();
let opened: { ledger: Ledger; copies: Copies } | undefined;

/** Header and body of the newest copy, as a parcel would carry them. */
function stored(known: Known): Uint8Array | undefined {
  opened ??= open();
  const { ledger, copies } = opened;
  const { high, low } = fingerprint(known.url, { high: 0, low: 0 });
  const page = ledger.pages.find(high, low);
  const row = page && ledger.pages.known(page.id);
  const copy = row && copies.newest(row);
  return copy && Buffer.concat([copy.head, copy.body]);
}

function open(): { ledger: Ledger; copies: Copies } {
  const ledger = new Ledger(directory, 'read');
  return { ledger, copies: openCopies(ledger, directory) };
}

function answer(message: UnpackMessage & { kind: 'unpack' }): UnpackAnswer {
  try {
    const shelf = shelves.get(message.errand);
    if (!shelf) throw new SkeinError('not-found', 'The errand of a parcel is not known any more.');
    const sent = unpackSent(message.bytes, shelf);
    const parcel = restoreParcel(sent, shelf.errand, message, agentToken);
    return { kind: 'parcel', bytes: encodeParcel(parcel) };
  } catch (error) {
    const code = error instanceof SkeinError ? error.code : 'internal';
    return { kind: 'failed', code, message: (error as Error).message };
  }
}

port.on('message', (message: UnpackMessage) => {
  if (message.kind === 'begin') {
    const errand = decodeErrand(message.bytes);
    shelves.set(errand.id, { errand, recent: new Recent(), stored });
  }
  if (message.kind === 'end') shelves.delete(message.errand);
  if (message.kind === 'unpack') {
    const reply = answer(message);
    port.postMessage(reply, reply.kind === 'parcel' ? [reply.bytes.buffer as ArrayBuffer] : []);
  }
});
