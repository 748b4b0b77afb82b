/** The thread behind unpacker.ts. */
import { parentPort, workerData } from 'node:worker_threads';
import { SkeinError } from '../../base/errors.ts';
import { fingerprint } from '../../base/url.ts';
import { decodeErrand } from '../../errand/codec/errand-codec.ts';
import { encodeParcel } from '../../errand/codec/parcel-codec.ts';
import type { Known } from '../../errand/known.ts';
import { Ledger } from '../../ledger/ledger.ts';
import { Recent, type Shelf, unpackSent } from '../../transfer/wire/parcel-format.ts';
import { type CopiesHere, openCopiesHere } from '../copies/copies.ts';
import { bringing } from '../offsite/bring.ts';
import { restoreParcel } from './unpack-parcel.ts';
import type { UnpackAnswer, UnpackMessage, UnpackOptions } from './unpacker.ts';

const port = parentPort!;
const { directory, agentToken } = workerData as UnpackOptions;
const shelves = new Map<string, Shelf>();
let opened: { ledger: Ledger; copies: CopiesHere } | undefined;

/** Header and body of the newest copy, as a parcel would carry them. */
function stored(known: Known): Uint8Array | undefined {
  const { ledger, copies } = opening();
  const { high, low } = fingerprint(known.url, { high: 0, low: 0 });
  const page = ledger.pages.find(high, low);
  const row = page && ledger.pages.known(page.id);
  const copy = row && copies.newest(row);
  return copy && Buffer.concat([copy.head, copy.body]);
}

/** Opened when a parcel refers to a stored copy: most do not. */
function opening(): { ledger: Ledger; copies: CopiesHere } {
  if (!opened) {
    const ledger = new Ledger(directory, 'read');
    opened = { ledger, copies: openCopiesHere(ledger) };
  }
  return opened;
}

async function answer(message: UnpackMessage & { kind: 'unpack' }): Promise<UnpackAnswer> {
  try {
    const shelf = shelves.get(message.errand);
    if (!shelf) throw new SkeinError('not-found', 'The errand of a parcel is unknown.');
    const unpack = () => unpackSent(message.bytes, shelf);
    const sent = await bringing(() => opening().ledger, unpack);
    const parcel = restoreParcel(sent, shelf.errand, message, agentToken);
    return { kind: 'parcel', bytes: encodeParcel(parcel) };
  } catch (error) {
    const code = error instanceof SkeinError ? error.code : 'internal';
    return { kind: 'failed', code, message: (error as Error).message };
  }
}

/** One after the other: what a parcel refers to came with those before it. */
let before: Promise<void> = Promise.resolve();
port.on('message', (message: UnpackMessage) => {
  before = before.then(() => take(message));
});

async function take(message: UnpackMessage): Promise<void> {
  if (message.kind === 'begin') {
    const errand = decodeErrand(message.bytes);
    shelves.set(errand.id, { errand, recent: new Recent(), stored });
  }
  if (message.kind === 'end') shelves.delete(message.errand);
  if (message.kind === 'unpack') {
    const reply = await answer(message);
    port.postMessage(reply, reply.kind === 'parcel' ? [reply.bytes.buffer as ArrayBuffer] : []);
  }
}
