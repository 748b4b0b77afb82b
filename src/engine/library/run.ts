/** A crawl or a refresh as a program sees it: pages that come one by one, and a summary at its end. */
import { EventEmitter } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { SkeinError } from '../../base/errors.ts';
import type { Engine } from '../engine.ts';
import type { EngineOptions } from '../options.ts';
import type { Summary } from '../summary.ts';
import type { CrawledPage } from './reader.ts';

/** Milliseconds between two looks for pages; home commits a few times a second. */
const LOOK = 50;

/** Milliseconds between two events of progress. */
const BEAT = 500;

/** Does the work; shows its engine when that is open and has visited nothing yet. */
export type RunWork<S, O> = (options: O, began: (engine: Engine) => void) => Promise<S>;

/** How far it is. */
export type RunProgress = Pick<
  Summary,
  'pages' | 'fetched' | 'same' | 'moved' | 'gone' | 'refused' | 'failed' | 'bytes' | 'seconds' | 'waiting'
>;

export interface RunEvents {
  /** About twice a second, and once at the end. */
  progress: [RunProgress];
  /** What people who watch may want to read, a sentence each. */
  said: [string];
}

interface PagesOfRun {
  /** The collection is being closed. */
  readonly closing: AbortSignal;
  /** Some of the visits that were committed after this one. */
  readonly after: (visit: number) => readonly CrawledPage[];
  readonly started: (run: Promise<unknown>) => void;
}

/** A listener that throws ends the run, which then throws the same. */
export class Run<S extends Summary> extends EventEmitter<RunEvents> implements AsyncIterable<CrawledPage> {
  readonly #options: EngineOptions;
  readonly #work: RunWork<S, never>;
  readonly #parts: PagesOfRun;
  readonly #stop = new AbortController();
  #running: Promise<S> | undefined;
  /** The last visit that was handed out, or that was there before; undefined = it has not begun. */
  #last: number | undefined;
  #beat: NodeJS.Timeout | undefined;
  #thrown: { readonly by: unknown } | undefined;
  #isRead = false;

  constructor(options: EngineOptions, work: RunWork<S, never>, parts: PagesOfRun) {
    super();
    this.#options = options;
    this.#work = work;
    this.#parts = parts;
  }

  #start(): Promise<S> {
    const { signal, say } = this.#options;
    const signals = [this.#stop.signal, this.#parts.closing, ...(signal ? [signal] : [])];
    const own = {
      signal: AbortSignal.any(signals),
      say: (text: string) => {
        say?.(text);
        this.#tell('said', text);
      },
    };
    const working = this.#work({ ...this.#options, ...own } as never, engine => {
      this.#last = engine.ledger.visits.last;
      this.#beat = setInterval(() => this.#tell('progress', progressOf(engine)), BEAT);
    });
    const running = working.then(
      summary => {
        clearInterval(this.#beat);
        this.#tell('progress', picked(summary));
        return summary;
      },
      error => {
        clearInterval(this.#beat);
        throw error;
      },
    );
    this.#parts.started(running);
    return running;
  }

  #tell<E extends keyof RunEvents>(event: E, ...what: RunEvents[E]): void {
    try {
      (this as EventEmitter).emit(event, ...what);
    } catch (error) {
      this.#thrown ??= { by: error };
      this.#stop.abort();
    }
  }

  /** Runs to its end; throws what ended it early. */
  async summary(): Promise<S> {
    this.#running ??= this.#start();
    const summary = await this.#running;
    if (this.#thrown) throw this.#thrown.by;
    this.#options.signal?.throwIfAborted();
    return summary;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<CrawledPage, void, void> {
    if (this.#isRead)
      throw new SkeinError(
        'refused',
        'A loop over the pages of this run has begun before.',
        'Keep what it gives in a list.',
      );
    this.#isRead = true;
    let over = false;
    this.#running ??= this.#start();
    const end = () => {
      over = true;
    };
    const ended = this.#running.then(end, end);
    try {
      for (;;) {
        const last = over; // asked for first: the pages that came at the very end are handed out, too
        const pages = this.#last === undefined ? [] : this.#parts.after(this.#last);
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

function progressOf({ home: { progress }, pool }: Engine): RunProgress {
  const { pages, outcomes, bytesDown, bytesUp, seconds } = progress;
  return { pages, ...outcomes, bytes: bytesDown + bytesUp, seconds, waiting: pool.outstanding + pool.newcomers };
}

function picked({ pages, fetched, same, moved, gone, refused, failed, ...rest }: Summary): RunProgress {
  const { bytes, seconds, waiting } = rest;
  return { pages, fetched, same, moved, gone, refused, failed, bytes, seconds, waiting };
}
