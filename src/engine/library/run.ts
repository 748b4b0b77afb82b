/** A crawl or a refresh as a program sees it: pages that come one by one, and a summary at its end. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type { EngineOptions } from '../options.ts';
import type { CrawledPage } from './reader.ts';

/** Milliseconds between two looks for pages; home commits a few times a second. */
const LOOK = 50;

/** Does the work; says after which visit its own begin, once that is known. */
export type RunWork<S, O> = (options: O, began: (lastVisit: number) => void) => Promise<S>;

export interface RunParts {
  /** The collection is being closed. */
  readonly closing: AbortSignal;
  /** Some of the visits that were committed after this one. */
  readonly after: (visit: number) => readonly CrawledPage[];
  readonly started: (run: Promise<unknown>) => void;
}

export class Run<S> implements AsyncIterable<CrawledPage> {
  readonly #start: () => Promise<S>;
  readonly #stop = new AbortController();
  readonly #after: RunParts['after'];
  readonly #signal: AbortSignal | undefined;
  #running: Promise<S> | undefined;
  /** The last visit that was handed out, or that was there before; undefined = it has not begun. */
  #last: number | undefined;

  constructor(options: EngineOptions, work: RunWork<S, never>, { closing, after, started }: RunParts) {
    this.#after = after;
    this.#signal = options.signal;
    const signals = [this.#stop.signal, closing, ...(options.signal ? [options.signal] : [])];
    this.#start = () => {
      const all = { ...options, signal: AbortSignal.any(signals) } as never;
      const running = work(all, last => {
        this.#last = last;
      });
      started(running);
      return running;
    };
  }

  /** Runs to its end; throws what ended it early. */
  async summary(): Promise<S> {
    this.#running ??= this.#start();
    const summary = await this.#running;
    this.#signal?.throwIfAborted();
    return summary;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CrawledPage, void, void> {
    let over = false;
    this.#running ??= this.#start();
    const end = () => {
      over = true;
    };
    const ended = this.#running.then(end, end);
    try {
      for (;;) {
        const last = over; // asked for first: the pages that came at the very end are handed out, too
        const pages = this.#last === undefined ? [] : this.#after(this.#last);
        for (const page of pages) {
          this.#last = page.visit;
          yield page;
        }
        if (pages.length > 0)
          await setImmediate(); // home works in this thread, too
        else if (last) break;
        else await Promise.race([ended, setTimeout(LOOK)]);
      }
      await this.summary();
    } finally {
      this.#stop.abort();
      await ended;
    }
  }
}
