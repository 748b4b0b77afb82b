/**
 * A thread of an outpost on another machine: runs errands and packs their parcels for the way, so that the thread that
 * serves the lines never compresses anything.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer, Ask, Fetcher } from '../crawler/stages.ts';
import { packParcel, unpackErrand } from '../transfer/parcel-format.ts';
import { Outpost } from './outpost.ts';
import { makeTools, type OutpostOptions } from './tools.ts';

/** What crosses between the threads. */
export type HandMessage =
  | { readonly kind: 'errand'; readonly bytes: Uint8Array }
  | HandParcel
  | { readonly kind: 'recall' }
  /** No requests until `go`: the spool is full. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'go' }
  | { readonly kind: 'close' };

export interface HandParcel {
  readonly kind: 'parcel';
  readonly errand: string;
  readonly sequence: number;
  readonly done: boolean;
  readonly visits: number;
  /** Visits that failed. */
  readonly errors: number;
  readonly bytes: Uint8Array;
}

const port = parentPort!;
let open: Promise<void> = Promise.resolve();
let go = () => {};
const tools = await makeTools(workerData as OutpostOptions);
const outpost = new Outpost({ ...tools, fetcher: gated(tools.fetcher) }, parcel => {
  const { errand, sequence, done, visits } = parcel;
  const errors = visits.filter(visit => visit.outcome === 'failed').length;
  const bytes = packParcel(parcel);
  port.postMessage({
    kind: 'parcel',
    errand,
    sequence,
    done,
    visits: visits.length,
    errors,
    bytes,
  } satisfies HandMessage);
});

/** Requests wait while the spool is full, so that nothing is fetched that could not be kept. */
function gated(fetcher: Fetcher): Fetcher {
  return {
    async fetch(ask: Ask): Promise<Answer> {
      await open;
      return fetcher.fetch(ask);
    },
    release: origin => fetcher.release(origin),
    close: () => fetcher.close(),
  };
}

port.on('message', async (message: HandMessage) => {
  if (message.kind === 'errand') outpost.receive(unpackErrand(message.bytes));
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'hold') {
    open = new Promise(resolve => {
      go = resolve;
    });
  }
  if (message.kind === 'go' || message.kind === 'close') go();
  if (message.kind === 'close') {
    await outpost.close();
    port.close();
  }
});
