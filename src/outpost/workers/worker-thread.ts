/**
 * A thread of an outpost on another machine: runs errands and packs their parcels for the way, so that the thread that
 * serves the lines never compresses anything.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { wrapFetchers } from '../../crawler/fetchers.ts';
import { PackerPool } from '../../crawler/pack/packer-pool.ts';
import type { Parcel } from '../../errand/parcel.ts';
import type { Visit } from '../../errand/visit.ts';
import type { PageLesson } from '../../transfer/wire/page-table.ts';
import { unpackErrand } from '../../transfer/wire/parcel-format.ts';
import { VersionCache } from '../cache.ts';
import { Deciders, type SandboxTerms } from '../cages/deciders.ts';
import { Outpost } from '../outpost.ts';
import type { Ceilings } from '../owner/ceilings.ts';
import { countTurns, type GateOptions, gated } from '../owner/counted-fetcher.ts';
import { OwnRobots } from '../owner/own-robots.ts';
import { Sender } from '../sender.ts';
import { FAR_PARCELS, makeTools, type OutpostOptions } from './tools.ts';

export interface WorkerTerms extends OutpostOptions {
  /** Where versions of pages are kept, and how many bytes of them. */
  readonly cache: { readonly directory: string; readonly bytes: number };
  /** Home's word about robots.txt is good enough: the machine is its user's own. */
  readonly trustRobots: boolean;
  /** What the owner allows at most. */
  readonly ceilings: Ceilings;
  /** Where requests and bytes are counted; see meter.ts. */
  readonly meter: SharedArrayBuffer;
  /** How code from elsewhere is run. */
  readonly sandbox: SandboxTerms;
}

/** What crosses between the threads. */
export type WorkerMessage =
  | { readonly kind: 'errand'; readonly bytes: Uint8Array }
  /** Errands may name this code from now on. */
  | { readonly kind: 'code'; readonly bytes: Uint8Array }
  | WorkerParcel
  | { readonly kind: 'gave-up'; readonly errand: string; readonly why: string }
  /** One sentence for people. */
  | { readonly kind: 'trouble'; readonly text: string }
  | { readonly kind: 'recall' }
  | { readonly kind: 'limit'; readonly ceilings: Ceilings }
  /** Nobody wants this errand any more. */
  | { readonly kind: 'cancel'; readonly errand: string }
  /** No requests until `go`: the spool is full. */
  | { readonly kind: 'hold' }
  | { readonly kind: 'go' }
  | { readonly kind: 'close' };

export interface WorkerParcel {
  readonly kind: 'parcel';
  readonly errand: string;
  readonly sequence: number;
  readonly done: boolean;
  readonly visits: number;
  /** Visits that failed. */
  readonly errors: number;
  readonly lessons: readonly PageLesson[];
  readonly bytes: Uint8Array;
}

const port = parentPort!;
let open: Promise<void> = Promise.resolve();
let go = () => {};
const options = workerData as WorkerTerms;
let { ceilings } = options;
const tools = await makeTools(options);
const sender = new Sender(new VersionCache(options.cache.directory, options.cache.bytes));
// Members are opened again to be recoded: compressing them first would be for nothing.
const packers = new PackerPool({ whenBusy: 'stored', whenIdle: 'stored' });
const robots = options.trustRobots ? undefined : new OwnRobots();
const say = (message: WorkerMessage) => port.postMessage(message);
const deciders = new Deciders(options.sandbox, text => say({ kind: 'trouble', text }));
const gate: GateOptions = {
  meter: options.meter,
  ceilings: () => ceilings,
  open: () => open, // requests wait while the spool is full, so that nothing is fetched that could not be kept
  exhausted: () => void outpost.recall(),
};
const fetchers = wrapFetchers(tools.fetchers, fetcher => gated(fetcher, gate));
countTurns(tools.pace, gate);
const outpost = new Outpost({ ...tools, packers, parcels: FAR_PARCELS, fetchers }, deciders, {
  parcel: sendParcel,
  gaveUp: (errand, why) => say({ kind: 'gave-up', errand, why }),
});

function sendParcel(made: Parcel): void {
  robots?.learn(made);
  const parcel = sender.quieted(made);
  const { errand, sequence, done } = parcel;
  const { bytes, visits } = sender.pack(parcel);
  const errors = visits.filter(visit => visit.outcome === 'failed').length;
  say({
    kind: 'parcel',
    errand,
    sequence,
    done,
    visits: visits.length,
    errors,
    lessons: visits.map(lessonOf),
    bytes,
  });
}

function lessonOf(visit: Visit): PageLesson {
  const { url, depth, outcome, status, etag, lastModified, facts, cost } = visit;
  return {
    ...{ url, depth, outcome, status, cost },
    ...(etag !== undefined && { etag }),
    ...(lastModified !== undefined && { lastModified }),
    ...(facts && { facts }),
  };
}

port.on('message', async (message: WorkerMessage) => {
  if (message.kind === 'code') deciders.add(message.bytes);
  if (message.kind === 'errand') {
    const errand = unpackErrand(message.bytes);
    sender.begin(errand);
    const current = sender.withValidators(errand);
    outpost.receive(robots ? robots.instead(current) : current);
  }
  if (message.kind === 'limit') ceilings = message.ceilings;
  if (message.kind === 'recall') await outpost.recall();
  if (message.kind === 'cancel') outpost.cancel(message.errand);
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
