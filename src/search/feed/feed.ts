/**
 * Feeds the index in the background from what was visited. The feeder runs in a thread of its own at a low
 * priority, reads the source in batches and writes each with the source's new cursor in one transaction: a kill at
 * any moment loses nothing and repeats at most the reading of one batch.
 *
 * It never pushes: a slow feeder only means that the index is behind. What the source is (ledger visits joined with
 * archive copies) is for whoever starts it to say, as a module that the thread loads.
 */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type Clock, systemClock } from '../../base/clock.ts';
import { SkeinError } from '../../base/errors.ts';
import type { Search, SearchDocument, Told } from '../index.ts';
import type { Standing } from './index-updates.ts';

/** Where documents come from, in the order in which they changed. */
export interface SearchSource {
  /**
   * What changed after `cursor` ('' = the beginning), at most about `limit` pages. The same cursor as given means
   * that there is nothing new. A page may come again; its last appearance counts.
   */
  since(cursor: string, limit: number): SearchStep;
  /** Asked when there is nothing new: importances, when they may differ from those of the key given. */
  standing?(key: string): Standing | undefined;
  close?(): void;
}

export interface SearchStep extends Told {
  readonly cursor: string;
  /** The source is not the one that the cursor came from (a ledger restored from a copy): everything is read anew. */
  readonly lost?: boolean;
  readonly changed: readonly SearchDocument[];
  readonly gone: readonly number[];
}

/** What a source module must export: opened once, inside the feeder's thread, beside the index that it feeds. */
export interface SourceModule {
  openSource(dataDirectory: string, search: Search): SearchSource;
}

export interface FeedOptions {
  /** Pages of one batch at most; default 400. */
  readonly limit?: number;
  /** Milliseconds between looks when there is nothing new; default 1000. */
  readonly idle?: number;
  /** Default half a core. */
  readonly pace?: FeedPace;
}

/** How much processor feeding may take, 0 to 1: a share of one core, or of all that this process uses if that is more. */
export interface FeedPace {
  readonly core: number;
  readonly process: number;
}

export interface FeedReport {
  /** Pages written and removed since the feeder started. */
  readonly changed: number;
  readonly gone: number;
  readonly cursor: string;
  /** Milliseconds of processor that this thread has used so far. */
  readonly processor: number;
  /** The source had nothing new at the last look. */
  readonly caughtUp: boolean;
  /** The last failure; absent after a success. */
  readonly failure?: string;
}

/** Milliseconds before a failed batch is tried again; doubled each time up to the longest. */
const FIRST_RETRY = 1000;
const LONGEST_RETRY = 60_000;
/** Milliseconds that a feeder is given to end by itself: at its low priority a batch may take long on a busy machine. */
const PATIENCE = 1000;
/** Milliseconds between two looks where there are many indexes. */
const LEAST_IDLE = 20;
/** Idle looks after the last change that tidy the index a little each. */
const TIDIED = 20;

export const HALF_A_CORE: FeedPace = { core: 0.5, process: 0 };
/**
 * Milliseconds from one batch to the next: beside others that have the machine, a slow crawl uses too little to go by.
 * And those between two looks at what the process has used since: nobody knows beforehand how busy it will be.
 */
const LONGEST_REST = 5000;
const REST_STEP = 200;
/**
 * Cores that feeding gets at least. A watch that waits uses no processor, and on a machine without an idle core its share of
 * that is nothing: one changed page, 40 ms of work, was followed by the longest rest, and the next change waited for it.
 */
const LEAST_CORE = 0.05;
/**
 * Pages of the first batch. A page of a batch of 400 costs a third less than one of 50, whose terms FTS5 merges three
 * times instead of once or twice; but each waits for all. So batches are doubled while one of them, with the rest that
 * has to follow, takes fewer milliseconds than SOON, and halved where it takes more than LATE.
 */
const FIRST_BATCH = 50;
const SOON = 1500;
const LATE = 4000;

/** What one turn did. */
interface FeedTurn {
  readonly changed: number;
  readonly gone: number;
  readonly cursor: string;
  readonly caughtUp: boolean;
}

const milliseconds = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1000;

const own = () => milliseconds(process.threadCpuUsage());

/** Now, by the clock and by the processor time of this thread and of the process. */
function mark() {
  return {
    time: performance.now(),
    own: own(),
    process: milliseconds(process.cpuUsage()),
  };
}

/**
 * Milliseconds to rest by now after a batch that began then, 0 = long enough. Counted in processor time and not by the
 * clock: on a busy machine the low priority stretches every batch, and what others do is not the crawl's to make up for.
 */
function restLeft(started: ReturnType<typeof mark>, pace: FeedPace): number {
  const now = mark();
  const took = now.time - started.time;
  const earned = Math.max(LEAST_CORE * took, pace.core * took, pace.process * (now.process - started.process));
  const owed = now.own - started.own - earned;
  return owed <= 0 ? 0 : Math.min((owed * took) / earned, LONGEST_REST - took);
}

/** Pages of the next batch, after one of `size` that took so many milliseconds with its rest. */
export function nextSize(size: number, took: number): number {
  if (took < SOON) return 2 * size;
  return took > LATE ? Math.max(FIRST_BATCH, Math.ceil(size / 2)) : size;
}

/** One step: reads a batch and writes it, or, where there is none, does what was put off. */
function turn(search: Search, source: SearchSource, limit: number, tidy: boolean): FeedTurn {
  // Read every time: a rebuild started elsewhere sends the cursor back to the beginning.
  const from = search.updates.cursor();
  const step = source.since(from, limit);
  const { cursor } = step;
  const nothing = { changed: 0, gone: 0, cursor, caughtUp: false };
  if (step.lost) {
    search.updates.rebuild();
    return nothing;
  }
  if (cursor !== from) {
    const applied = search.updates.apply({ ...step, from });
    return applied ? { ...nothing, changed: step.changed.length, gone: step.gone.length } : nothing;
  }
  if (search.updates.settle(tidy)) return nothing;
  const standing = source.standing?.(search.updates.weighed());
  if (standing) search.updates.weigh(standing);
  return { ...nothing, caughtUp: true };
}

/** An index, and where its pages come from. */
export interface Fed {
  readonly search: Search;
  readonly source: SearchSource;
}

interface LoopOptions extends Omit<FeedOptions, 'pace'> {
  readonly pace?: () => FeedPace;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Somebody waits until there is nothing new. */
  readonly hurry?: () => boolean;
}

/** How far the loop is with one of them. */
class FedState {
  readonly fed: Fed;
  size: number;
  retry = FIRST_RETRY;
  failure: string | undefined;
  /** Ticks before which it is not tried again. */
  notBefore = Number.NEGATIVE_INFINITY;
  /** The last look found nothing new. */
  quiet = false;
  #untidy = TIDIED;

  constructor(fed: Fed, size: number) {
    this.fed = fed;
    this.size = size;
  }

  step(): FeedTurn {
    const { search, source } = this.fed;
    const done = turn(search, source, this.size, this.#untidy > 0);
    this.#untidy = done.caughtUp ? this.#untidy - 1 : TIDIED;
    this.quiet = done.caughtUp;
    this.failure = undefined;
    this.retry = FIRST_RETRY;
    return done;
  }

  /** The index is only behind, nothing is lost: it is tried again later (a full disk may be emptied). */
  failed(error: unknown, ticks: number): void {
    this.failure = (error as Error).message;
    this.notBefore = ticks + this.retry;
    this.retry = Math.min(LONGEST_RETRY, this.retry * 2);
    this.quiet = false;
  }
}

/**
 * The loop of the feeder; ends when the signal aborts, never in the middle of a batch. Several indexes take turns, a batch
 * each. `feds` is asked before each turn: they may come and go.
 */
export async function feed(
  feds: () => readonly Fed[],
  report: (report: FeedReport) => void,
  { limit = 400, idle = 1000, pace = () => HALF_A_CORE, signal, clock = systemClock, hurry = () => false }: LoopOptions,
): Promise<void> {
  let [changed, gone] = [0, 0];
  const states = new Map<Fed, FedState>();
  const rest = async (started: ReturnType<typeof mark>) => {
    for (let left = restLeft(started, pace()); left > 0; left = restLeft(started, pace())) {
      const [step, before] = [Math.min(left, REST_STEP), performance.now()];
      await clock.sleep(step, signal);
      if (performance.now() - before < step - 1) return; // someone asks to go on, or to stop
    }
  };
  const follow = () => {
    const now = feds();
    for (const fed of states.keys()) if (!now.includes(fed)) states.delete(fed);
    for (const fed of now) if (!states.has(fed)) states.set(fed, new FedState(fed, Math.min(FIRST_BATCH, limit)));
    return [...states.values()];
  };
  const tell = (all: readonly FedState[], cursor: string) => {
    const failure = all.find(each => each.failure !== undefined)?.failure;
    const caughtUp = all.every(({ quiet }) => quiet);
    report({ ...{ changed, gone, cursor, caughtUp }, processor: own(), ...(failure !== undefined && { failure }) });
    return caughtUp;
  };
  for (let turns = 0; !signal.aborted; turns++) {
    const all = follow();
    const state = nextOf(all, turns, clock.ticks());
    if (!state) {
      // Each has failed: whoever failed first is tried again first.
      const first = all.toSorted((one, two) => one.notBefore - two.notBefore)[0];
      await clock.sleep(first ? Math.max(0, first.notBefore - clock.ticks()) : idle, signal);
      if (first) first.notBefore = Number.NEGATIVE_INFINITY;
      continue;
    }
    const started = mark();
    try {
      const done = state.step();
      changed += done.changed;
      gone += done.gone;
      if (tell(all, done.cursor)) await clock.sleep(hurry() ? 0 : Math.max(idle / all.length, LEAST_IDLE), signal);
      else if (!done.caughtUp) {
        await rest(started);
        state.size = Math.min(limit, nextSize(state.size, performance.now() - started.time));
      } else await clock.sleep(0, signal); // orders have a turn
    } catch (error) {
      state.failed(error, clock.ticks());
      tell(all, '');
    }
  }
}

/** The one whose turn it is, and that may be tried; undefined = none. */
function nextOf(all: readonly FedState[], turns: number, ticks: number): FedState | undefined {
  for (let i = 0; i < all.length; i++) {
    const state = all[(turns + i) % all.length]!;
    if (state.notBefore <= ticks) return state;
  }
  return undefined;
}

/** Brings the index up to date in this thread, at once. Throws what went wrong. Others may run between two steps. */
export async function catchUp(
  search: Search,
  source: SearchSource,
  report: (report: FeedReport) => void = () => {},
  limit = 500,
): Promise<FeedReport> {
  let sum: FeedReport = { changed: 0, gone: 0, cursor: '', processor: own(), caughtUp: false };
  while (!sum.caughtUp) {
    const { changed, gone, cursor, caughtUp } = turn(search, source, limit, false);
    sum = { changed: sum.changed + changed, gone: sum.gone + gone, cursor, processor: own(), caughtUp };
    report(sum);
    await new Promise(setImmediate);
  }
  return sum;
}

export interface FeederOptions extends FeedOptions {
  /** Each has an index and a source; they take turns in one thread. */
  readonly directories: readonly string[];
  /** URL of a module that exports `openSource` (SourceModule). */
  readonly source: URL;
}

export interface Feeder {
  /** The last report; undefined before the first. */
  report(): FeedReport | undefined;
  /** Resolves when the source has nothing new, looking at once. Rejects when the thread died. */
  caughtUp(): Promise<void>;
  /** Goes on at another pace from the next batch on. */
  pace(pace: FeedPace): void;
  /** Feeds these from now on, and lets go of others. */
  follow(directories: readonly string[]): void;
  /** Ends after the batch at hand, or without it: a batch that is cut off leaves no trace. */
  stop(): Promise<void>;
}

/**
 * What the thread is told: to stop, to go on at another pace or with other directories, or to look at once, by a number that
 * comes back with every report since.
 */
export type FeederOrder = 'stop' | FeedPace | readonly string[] | number;

/** What the thread says. */
export type ThreadReport = FeedReport & { readonly look: number };

/** Starts the feeder's thread: one for all directories, since a thread costs a fifth of a second of processor and its memory. */
export function startFeeder(options: FeederOptions): Feeder {
  const worker = new Worker(new URL(`./feed-worker${extname(import.meta.url)}`, import.meta.url), {
    workerData: { ...options, source: options.source.href },
  });
  let last: FeedReport | undefined;
  let ended: Error | undefined;
  let looks = 0;
  const waiting = new Map<number, { resolve(): void; reject(error: Error): void }>();
  worker.on('message', (report: ThreadReport) => {
    last = report;
    if (!report.caughtUp) return;
    for (const [look, one] of waiting) {
      // A report that was on its way when the question was asked does not answer it.
      if (look > report.look) continue;
      waiting.delete(look);
      one.resolve();
    }
  });
  const finish = (error: Error) => {
    ended ??= error;
    for (const one of waiting.values()) one.reject(ended);
    waiting.clear();
  };
  worker.on('error', error => finish(error as Error));
  const gone = new Promise<void>(resolve => {
    worker.on('exit', () => {
      finish(new SkeinError('internal', 'The search feeder has ended.'));
      resolve();
    });
  });
  return {
    report: () => last,
    caughtUp: () =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return reject(ended);
        waiting.set(++looks, { resolve, reject });
        worker.postMessage(looks satisfies FeederOrder);
      }),
    pace: pace => worker.postMessage(pace satisfies FeederOrder),
    follow: directories => worker.postMessage(directories satisfies FeederOrder),
    stop: async () => {
      worker.postMessage('stop' satisfies FeederOrder);
      const impatient = setTimeout(() => void worker.terminate(), PATIENCE);
      await gone;
      clearTimeout(impatient);
    },
  };
}
