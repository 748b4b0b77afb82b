/**
 * Home's end of parcels from other machines, in a thread of its own. Parcels come out in the order they went in. What a
 * parcel refers to is looked up in the ledger and the archive, read-only.
 */
import { Worker } from 'node:worker_threads';
import { type ErrorCode, SkeinError } from '../../base/errors.ts';
import { encodeErrand } from '../../errand/codec/errand-codec.ts';
import { decodeParcel } from '../../errand/codec/parcel-codec.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Unpacker } from '../../transfer/stream-carrier.ts';
import type { ParcelFrame } from '../../transfer/wire/frames.ts';

/** What crosses between the threads. */
export type UnpackMessage =
  | { readonly kind: 'begin'; readonly bytes: Uint8Array }
  | { readonly kind: 'end'; readonly errand: string }
  | (Pick<ParcelFrame, 'errand' | 'sequence' | 'done' | 'bytes'> & { readonly kind: 'unpack' });

/** In the order of the questions. */
export type UnpackAnswer =
  | { readonly kind: 'parcel'; readonly bytes: Uint8Array }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

export interface UnpackOptions {
  /** The data directory. */
  readonly directory: string;
  /** By which pages may address us in robots rules. */
  readonly agentToken: string;
}

export function startUnpacker({ directory, agentToken }: UnpackOptions): Unpacker & { close(): Promise<void> } {
  const workerData: UnpackOptions = { directory, agentToken };
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./unpack-thread.${ending}`, import.meta.url), { workerData });
  worker.unref();
  const waiting: { resolve: (parcel: Parcel) => void; reject: (error: unknown) => void }[] = [];
  const post = (message: UnpackMessage) => worker.postMessage(message);
  worker.on('message', (answer: UnpackAnswer) => {
    const { resolve, reject } = waiting.shift()!;
    if (answer.kind === 'failed') return reject(new SkeinError(answer.code, answer.message));
    resolve(decodeParcel(answer.bytes));
  });
  const fail = (error: unknown) => {
    for (const { reject } of waiting.splice(0)) reject(error);
  };
  worker.on('error', fail);
  worker.on('exit', () => fail(new SkeinError('internal', 'The thread that unpacks parcels has ended.')));
  return {
    begin: (errand: Errand) => post({ kind: 'begin', bytes: encodeErrand(errand) }),
    end: errand => post({ kind: 'end', errand }),
    unpack: ({ errand, sequence, done, bytes }) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        post({ kind: 'unpack', errand, sequence, done, bytes });
      }),
    close: async () => {
      await worker.terminate();
    },
  };
}
