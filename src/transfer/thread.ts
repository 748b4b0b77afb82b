/**
 * The nearest outpost: a thread of this process. Errands and parcels cross as the same bytes that a remote outpost
 * would see, in memory that is handed over and not copied, and comes back to be filled again.
 */
import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { encodeErrand } from '../errand/codec/errand-codec.ts';
import { decodeParcel } from '../errand/codec/parcel-codec.ts';
import type { Errand } from '../errand/errand.ts';
import type { Parcel } from '../errand/parcel.ts';
import type { Carrier, CarrierTerms, Receiver } from './carrier.ts';

/** A parcel as bytes: its visits (encodeVisits), and the members that belong behind them. */
export interface MessagePieces {
  readonly visits: Uint8Array<ArrayBuffer>;
  readonly members: Uint8Array<ArrayBuffer>;
}

interface ThreadLeave {
  readonly until: number;
  readonly addresses: readonly (readonly [address: string, until: number])[];
}

export interface ThreadWishes {
  readonly wanted: readonly (readonly [address: string, spacing: number])[];
  readonly done: readonly string[];
}

/** What crosses the thread boundary. */
export type ThreadMessage =
  /** The first message: plain data for the module that the thread runs. */
  | { readonly kind: 'start'; readonly data: unknown }
  | { readonly kind: 'errand'; readonly bytes: Uint8Array }
  /** In two pieces: what the crawler packed is handed over as it lies there. */
  | ({ readonly kind: 'parcel' } & MessagePieces)
  /** The same memory on its way back. */
  | ({ readonly kind: 'empty' } & MessagePieces)
  | { readonly kind: 'recall' }
  | { readonly kind: 'cancel'; readonly errand: string }
  /** Until when it may ask (ticks), and which addresses: of a home that crawls with others (crawler/pace/leave.ts). */
  | ({ readonly kind: 'leave' } & ThreadLeave)
  /** Addresses that the thread wants to ask, and those that it wants no more. */
  | ({ readonly kind: 'addresses' } & ThreadWishes)
  /** The thread cannot run the errand. */
  | { readonly kind: 'gave-up'; readonly errand: string; readonly why: string }
  /** One sentence for people. */
  | { readonly kind: 'trouble'; readonly text: string }
  | { readonly kind: 'close' };

/**
 * The door of a thread, in plain JavaScript. Threads do not share compiled code: without the cache each of them strips
 * and compiles the crawler anew; and a door that has types to be stripped loads what strips them, a tenth of a second of
 * CPU for each thread (profiled on a crawl that takes four). The cache is that of the process, or none: the one that Node
 * chooses by itself is shared with other users, who could leave code there. It is a script and a module alike: threads inherit
 * what `--input-type` says.
 */
const DOOR = `
const { module, cache } = process.getBuiltinModule('node:worker_threads').workerData;
if (cache) process.getBuiltinModule('node:module').enableCompileCache(cache);
import(module);
`;

function openWorker(module: URL): Worker {
  const own = getCompileCacheDir(); // within the directory that was named, apart for each version of Node
  const cache = own === undefined ? compiled : dirname(own);
  return new Worker(DOOR, { eval: true, workerData: { module: module.href, cache } });
}

let compiled: string | undefined;

/** Where threads keep what they compiled, in a process that keeps nothing itself; a directory of ours alone. */
export function keepCompiled(directory: string | undefined): void {
  compiled = directory;
}

/** Threads that load a module for carriers still to be made. */
const early = new Map<string, Worker>();

/**
 * Lets a thread load a module while home is still being opened, which takes about as long. It holds nobody up: a process
 * that makes no carrier ends without it.
 */
export function startEarly(module: URL): void {
  const worker = openWorker(module);
  worker.unref();
  early.set(module.href, worker);
}

/** Ends those that no carrier took. */
export function dismissEarly(): void {
  for (const worker of early.values()) void worker.terminate();
  early.clear();
}

function takeWorker(module: URL): Worker {
  const worker = early.get(module.href) ?? openWorker(module);
  early.delete(module.href);
  worker.ref();
  return worker;
}

/** Milliseconds a thread has to end by itself; nobody waits any more for the answers that it waits for. */
const CLOSE = 1000;

interface ThreadOptions {
  readonly name: string;
  readonly room: number;
  /** Module that runs an outpost in the thread. */
  readonly module: URL;
  /** Plain data handed to it. */
  readonly data: unknown;
  /** It is opened with its first errand: many crawls are so small that one thread does all. */
  readonly late?: boolean;
  /** It is there for these alone, and gets their errands before anyone else. */
  readonly servers?: readonly string[];
  /** Hears what addresses it wants, of a thread that asks only with leave. */
  readonly wishes?: (from: ThreadCarrier, wishes: ThreadWishes) => void;
}

export class ThreadCarrier implements Carrier {
  readonly name: string;
  readonly room: number;
  readonly remote = false;
  readonly terms: CarrierTerms;
  readonly #options: ThreadOptions;
  readonly #receiver: Receiver;
  #worker: Worker | undefined;
  readonly #pieces = new WeakMap<Parcel, MessagePieces>();
  #closing = false;

  constructor(options: ThreadOptions, receiver: Receiver) {
    this.name = options.name;
    this.room = options.room;
    this.terms = { servers: options.servers ?? [], stands: options.servers !== undefined };
    this.#options = options;
    this.#receiver = receiver;
    if (!options.late) this.#worker = this.#open();
  }

  get asleep(): boolean {
    return this.#worker === undefined;
  }

  #open(): Worker {
    const { module, data, wishes } = this.#options;
    const receiver = this.#receiver;
    const worker = takeWorker(module);
    worker.postMessage({ kind: 'start', data } satisfies ThreadMessage);
    worker.on('message', (message: ThreadMessage) => {
      if (message.kind === 'parcel') receiver.parcel(this, this.#join(message));
      if (message.kind === 'gave-up') receiver.gaveUp(this, message.errand, message.why);
      if (message.kind === 'trouble') receiver.trouble?.(this, message.text);
      if (message.kind === 'addresses') wishes?.(this, message);
    });
    worker.on('error', error => this.#lose(receiver, String((error as Error).stack ?? error)));
    worker.on('exit', code => this.#lose(receiver, `it ended with code ${code}`));
    return worker;
  }

  send(errand: Errand): void {
    const bytes = encodeErrand(errand);
    this.#worker ??= this.#open();
    this.#worker.postMessage({ kind: 'errand', bytes } satisfies ThreadMessage, [bytes.buffer as ArrayBuffer]);
  }

  acknowledge(): void {
    // A thread keeps no spool: it shares home's fate, and what home has not committed is fetched again.
  }

  forget(): void {
    // A thread remembers nothing of an errand that it has ended.
  }

  /**
   * Memory goes round between the thread and home. Given back to the system instead, each megabyte of a parcel was asked
   * for anew, and cleared by the kernel page by page.
   */
  reuse(parcel: Parcel): void {
    const pieces = this.#pieces.get(parcel);
    if (!pieces) return;
    this.#pieces.delete(parcel);
    const { visits, members } = pieces;
    this.#worker?.postMessage({ kind: 'empty', visits, members } satisfies ThreadMessage, [
      visits.buffer,
      members.buffer,
    ]);
  }

  recall(): void {
    this.#worker?.postMessage({ kind: 'recall' } satisfies ThreadMessage);
  }

  cancel(errand: string): void {
    this.#worker?.postMessage({ kind: 'cancel', errand } satisfies ThreadMessage);
  }

  /** Errands that were recalled before do not see it. */
  leave(leave: ThreadLeave): void {
    this.#worker?.postMessage({ kind: 'leave', ...leave } satisfies ThreadMessage);
  }

  async close(): Promise<void> {
    this.#closing = true;
    const worker = this.#worker;
    if (!worker) return;
    const ended = new Promise(resolve => worker.once('exit', resolve));
    worker.postMessage({ kind: 'close' } satisfies ThreadMessage);
    const late = setTimeout(() => void worker.terminate(), CLOSE);
    await ended;
    clearTimeout(late);
  }

  #join({ visits, members }: MessagePieces): Parcel {
    const parcel = decodeParcel(visits, members);
    this.#pieces.set(parcel, { visits, members });
    return parcel;
  }

  #lose(receiver: Receiver, why: string): void {
    if (this.#closing) return;
    this.#closing = true;
    receiver.lost(this, why);
  }
}
