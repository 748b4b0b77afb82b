/**
 * The threads of an outpost that run its errands. A server stays with one thread, which has its connections and keeps
 * its pace. A thread that dies is replaced; its errands are reported as given up, and home issues them again.
 */
import { Worker } from 'node:worker_threads';
import { makeSlots } from '../../crawler/pace/address-slots.ts';
import type { Errand } from '../../errand/errand.ts';
import type { Ceilings } from '../owner/ceilings.ts';
import type { HandMessage, HandOptions, HandParcel } from './worker-thread.ts';

interface HandEvents {
  parcel(parcel: HandParcel): void;
  failed(errand: string, why: string): void;
  /** One sentence for people; the work goes on. */
  trouble(text: string): void;
}

interface Hand {
  readonly worker: Worker;
  /** Errands under way with the pages named in them and not visited yet. */
  readonly errands: Map<string, { origin: string; kind: Errand['kind']; queue: number }>;
  /** Digest of the code that it was given last; it remembers a few before that. */
  code: string;
  /** It has ended, and the next one waits a while, because several ended as soon as they had started. */
  ended: boolean;
}

/** Milliseconds: a thread that ends sooner and has brought nothing may do so for ever. A busy machine takes seconds to start one. */
const SOON = 60_000;
/** Milliseconds until the next is started after so many of them in a row, doubled each time up to the longest. */
const FEW = 3;
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export class WorkerPool {
  readonly count: number;
  #options: HandOptions;
  readonly #events: HandEvents;
  readonly #hands: Hand[];
  readonly #homes = new Map<string, number>();
  #held = false;
  #closing = false;
  /** Threads in a row that ended as soon as they had started. */
  #soon = 0;
  readonly #pauses = new Set<NodeJS.Timeout>();

  constructor(count: number, options: HandOptions, events: HandEvents) {
    this.count = count;
    this.#options = { slots: makeSlots(), ...options };
    this.#events = events;
    this.#hands = Array.from({ length: count }, (_, index) => this.#start(index));
  }

  get errands(): number {
    return this.#hands.reduce((sum, hand) => sum + hand.errands.size, 0);
  }

  /** Known pages are being looked at. */
  get looking(): boolean {
    return this.#hands.some(({ errands }) => [...errands.values()].some(({ kind }) => kind === 'refresh'));
  }

  get queue(): number {
    let sum = 0;
    for (const hand of this.#hands) for (const { queue } of hand.errands.values()) sum += queue;
    return sum;
  }

  has(errand: string): boolean {
    return this.#hands.some(hand => hand.errands.has(errand));
  }

  /** `bytes`: the errand as it came; `code`: what it names, if it does. */
  send(errand: Errand, bytes: Uint8Array, code?: Uint8Array): void {
    const { origin } = errand.server;
    const hand = this.#hands[this.#homeOf(origin)]!;
    if (code && errand.code !== undefined && hand.code !== errand.code) {
      hand.code = errand.code;
      hand.worker.postMessage({ kind: 'code', bytes: code } satisfies HandMessage);
    }
    if (hand.ended) {
      this.#events.failed(errand.id, 'its threads end as soon as they start');
      return;
    }
    hand.errands.set(errand.id, { origin, kind: errand.kind, queue: errand.pages.length });
    hand.worker.postMessage({ kind: 'errand', bytes } satisfies HandMessage);
  }

  /** Ends an errand that nobody wants any more. */
  cancel(errand: string): void {
    const hand = this.#hands.find(each => each.errands.has(errand));
    hand?.worker.postMessage({ kind: 'cancel', errand } satisfies HandMessage);
  }

  /** Of errands that come from now on, and of requests that are made from now on. */
  limit(ceilings: Ceilings): void {
    this.#options = { ...this.#options, ceilings };
    this.#tell({ kind: 'limit', ceilings });
  }

  recall(): void {
    this.#tell({ kind: 'recall' });
  }

  /** No new requests until it is called with false. */
  hold(held: boolean): void {
    if (this.#held === held) return;
    this.#held = held;
    this.#tell({ kind: held ? 'hold' : 'go' });
  }

  async close(): Promise<void> {
    this.#closing = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    await Promise.all(
      this.#hands.map(({ worker, ended: over }) => {
        if (over) return undefined;
        const ended = new Promise(resolve => worker.once('exit', resolve));
        worker.postMessage({ kind: 'close' } satisfies HandMessage);
        return ended;
      }),
    );
  }

  #tell(message: HandMessage): void {
    for (const { worker } of this.#hands) worker.postMessage(message);
  }

  #homeOf(origin: string): number {
    const known = this.#homes.get(origin);
    if (known !== undefined) return known;
    const sizes = this.#hands.map(hand => hand.errands.size);
    const least = sizes.indexOf(Math.min(...sizes));
    if (this.#homes.size > 100_000) this.#homes.clear();
    this.#homes.set(origin, least);
    return least;
  }

  #start(index: number): Hand {
    // In development this file is TypeScript, sent to another machine or published it is JavaScript.
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const workerData = { ...this.#options, seat: index };
    const worker = new Worker(new URL(`./worker-thread.${ending}`, import.meta.url), { workerData });
    const hand: Hand = { worker, errands: new Map(), code: '', ended: false };
    const started = performance.now();
    let why = 'its thread ended';
    let brought = false;
    worker.on('message', (message: HandMessage) => {
      brought ||= message.kind === 'parcel' || message.kind === 'gave-up';
      if (message.kind === 'parcel') this.#parcel(hand, message);
      if (message.kind === 'trouble') this.#events.trouble(message.text);
      if (message.kind === 'gave-up') {
        hand.errands.delete(message.errand);
        this.#events.failed(message.errand, message.why);
      }
    });
    worker.on('error', error => {
      why = `its thread failed: ${(error as Error).message}`;
    });
    worker.on('exit', () => {
      if (this.#closing) return;
      hand.ended = true;
      this.#soon = brought || performance.now() - started >= SOON ? 0 : this.#soon + 1;
      const pause = this.#soon < FEW ? 0 : Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.#soon - FEW));
      if (pause === 0) this.#replace(index);
      else this.#pauses.add(setTimeout(() => this.#replace(index), pause));
      for (const errand of hand.errands.keys()) this.#events.failed(errand, why);
    });
    return hand;
  }

  #replace(index: number): void {
    if (this.#closing) return;
    this.#hands[index] = this.#start(index);
    if (this.#held) this.#hands[index].worker.postMessage({ kind: 'hold' } satisfies HandMessage);
  }

  #parcel(hand: Hand, parcel: HandParcel): void {
    const errand = hand.errands.get(parcel.errand);
    if (errand) errand.queue = Math.max(0, errand.queue - parcel.visits);
    if (parcel.done) hand.errands.delete(parcel.errand);
    this.#events.parcel(parcel);
  }
}
