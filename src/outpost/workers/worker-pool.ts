/**
 * The threads of an outpost that run its errands. A server stays with one thread, which has its connections and keeps
 * its pace. A thread that dies is replaced; its errands are reported as given up, and home issues them again.
 */
import { Worker } from 'node:worker_threads';
import { makeSlots } from '../../crawler/pace/address-slots.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Ceilings } from '../owner/ceilings.ts';
import type { WorkerMessage, WorkerParcel, WorkerTerms } from './worker-thread.ts';

interface PoolEvents {
  parcel(parcel: WorkerParcel): void;
  failed(errand: string, why: string): void;
  /** One sentence for people; the work goes on. */
  trouble(text: string): void;
}

interface PoolWorker {
  readonly thread: Worker;
  /** Errands under way with the pages named in them and not visited yet. */
  readonly errands: Map<string, { origin: string; kind: Errand['kind']; queue: number }>;
  /** Digest of the code that it was given last; it remembers a few before that. */
  code: string;
  /** It has ended, and the next one waits a while, because several ended as soon as they had started. */
  ended: boolean;
}

/** A thread that ends sooner (ms) and has brought nothing may do so for ever. A busy machine takes seconds to start one. */
const SOON = 60_000;
/** Milliseconds until the next is started after so many of them in a row, doubled each time up to the longest. */
const FEW = 3;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export class WorkerPool {
  readonly count: number;
  #options: WorkerTerms;
  readonly #events: PoolEvents;
  readonly #workers: PoolWorker[];
  readonly #homes = new Map<string, number>();
  #held = false;
  #closing = false;
  /** Threads in a row that ended as soon as they had started. */
  #soon = 0;
  readonly #pauses = new Set<NodeJS.Timeout>();

  constructor(count: number, options: WorkerTerms, events: PoolEvents) {
    this.count = count;
    this.#options = { slots: makeSlots(), ...options };
    this.#events = events;
    this.#workers = Array.from({ length: count }, (_, index) => this.#start(index));
  }

  get errands(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.errands.size, 0);
  }

  /** An errand of refresh is under way. */
  get looking(): boolean {
    return this.#workers.some(({ errands }) => [...errands.values()].some(({ kind }) => kind === 'refresh'));
  }

  get queue(): number {
    let sum = 0;
    for (const worker of this.#workers) for (const { queue } of worker.errands.values()) sum += queue;
    return sum;
  }

  has(errand: string): boolean {
    return this.#workers.some(worker => worker.errands.has(errand));
  }

  /** `bytes`: the errand as it came; `code`: what it names, if it does. */
  send(errand: Errand, bytes: Uint8Array, code?: Uint8Array): void {
    const { origin } = errand.server;
    const worker = this.#workers[this.#homeOf(origin)]!;
    if (code && errand.code !== undefined && worker.code !== errand.code) {
      worker.code = errand.code;
      worker.thread.postMessage({ kind: 'code', bytes: code } satisfies WorkerMessage);
    }
    if (worker.ended) {
      this.#events.failed(errand.id, 'its threads end as soon as they start');
      return;
    }
    worker.errands.set(errand.id, { origin, kind: errand.kind, queue: errand.pages.length });
    worker.thread.postMessage({ kind: 'errand', bytes } satisfies WorkerMessage);
  }

  /** Ends an errand that home no longer wants. */
  cancel(errand: string): void {
    const worker = this.#workers.find(each => each.errands.has(errand));
    worker?.thread.postMessage({ kind: 'cancel', errand } satisfies WorkerMessage);
  }

  /** Sets the ceilings for later errands and requests. */
  limit(ceilings: Ceilings): void {
    this.#options = { ...this.#options, ceilings };
    this.#tell({ kind: 'limit', ceilings });
  }

  recall(): void {
    this.#tell({ kind: 'recall' });
  }

  /** `held`: sends no new requests until it is called with false. */
  hold(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    this.#tell({ kind: held ? 'hold' : 'go' });
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    await Promise.all(
      this.#workers.map(({ thread, ended: over }) => {
        if (over) return undefined;
        const ended = new Promise(resolve => thread.once('exit', resolve));
        thread.postMessage({ kind: 'close' } satisfies WorkerMessage);
        return ended;
      }),
    );
  }

  #tell(message: WorkerMessage): void {
    for (const { thread } of this.#workers) thread.postMessage(message);
  }

  #homeOf(origin: string): number {
    const known = this.#homes.get(origin);
    if (known !== undefined) return known;
    const sizes = this.#workers.map(worker => worker.errands.size);
    const least = sizes.indexOf(Math.min(...sizes));
    if (this.#homes.size > 100_000) this.#homes.clear();
    this.#homes.set(origin, least);
    return least;
  }

  #start(index: number): PoolWorker {
    // In development this file is TypeScript, sent to another machine or published it is JavaScript.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const workerData = { ...this.#options, seat: index };
    const thread = new Worker(new URL(`./worker-thread.${ending}`, import.meta.url), { workerData });
    const worker: PoolWorker = { thread, errands: new Map(), code: '', ended: false };
    const started = performance.now();
    let why = 'its thread ended';
    let brought = false;
    thread.on('message', (message: WorkerMessage) => {
      brought ||= message.kind === 'parcel' || message.kind === 'gave-up';
      if (message.kind === 'parcel') this.#parcel(worker, message);
      if (message.kind === 'trouble') this.#events.trouble(message.text);
      if (message.kind === 'gave-up') {
        worker.errands.delete(message.errand);
        this.#events.failed(message.errand, message.why);
      }
    });
    thread.on('error', error => {
      why = `its thread failed: ${(error as Error).message}`;
    });
    thread.on('exit', () => {
      if (this.#closing) return;
      worker.ended = true;
      this.#soon = brought || performance.now() - started >= SOON ? 0 : this.#soon + 1;
      const pause = this.#soon < FEW ? 0 : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#soon - FEW));
      if (pause === 0) this.#replace(index);
      else this.#pauses.add(setTimeout(() => this.#replace(index), pause));
      for (const errand of worker.errands.keys()) this.#events.failed(errand, why);
    });
    return worker;
  }

  #replace(index: number): void {
    if (this.#closing) return;
    this.#workers[index] = this.#start(index);
    if (this.#held) this.#workers[index].thread.postMessage({ kind: 'hold' } satisfies WorkerMessage);
  }

  #parcel(worker: PoolWorker, parcel: WorkerParcel): void {
    const errand = worker.errands.get(parcel.errand);
    if (errand) errand.queue = Math.max(0, errand.queue - parcel.visits);
    if (parcel.done) worker.errands.delete(parcel.errand);
    this.#events.parcel(parcel);
  }
}
