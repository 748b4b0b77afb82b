/**
 * The search index beside the collection: fed by a thread while a home runs, and brought up to date by whoever asks when
 * none does. The index may be behind at any time, and is never wrong about where it stands.
 */
import { cpus } from 'node:os';
import { extname, join } from 'node:path';
import type { Ledger } from '../ledger/ledger.ts';
import { catchUp, type Feeder, type FeedReport, HALF_A_CORE, type Pace, startFeeder } from '../search/feed.ts';
import type { Search } from '../search/index.ts';
import { readInterest } from '../search/interest.ts';
import { runningHome } from './door.ts';
import type { Home } from './home.ts';

/** Milliseconds between two times that the counters of links are saved, from which the index takes importance. */
const SAVED = 60_000;
/** Milliseconds for which interest is taken as read. */
const REREAD = 10 * 60_000;

export function searchFile(directory: string): string {
  return join(directory, 'search.db');
}

/** How much people want each page, by its id, for the schedule. Read again now and then: a watch may run for months. */
export function interestIn(directory: string, now: () => number): (page: number) => number {
  let [wanted, read] = [readInterest(searchFile(directory), now()), now()];
  return page => {
    if (now() - read > REREAD) [wanted, read] = [readInterest(searchFile(directory), now()), now()];
    return wanted.get(page) ?? 0;
  };
}

export interface Indexing {
  /** What the feeder has done so far; undefined before it began. */
  report(): FeedReport | undefined;
  /** Ends after the batch at hand; the rest is for whoever comes next. */
  stop(): Promise<void>;
}

/** Feeds the index of a collection from a thread of this process; two of them at once do no harm. */
export function feederOf(directory: string): Feeder {
  const source = new URL(`./search-source${extname(import.meta.url)}`, import.meta.url);
  return startFeeder({ dataDirectory: directory, source });
}

/**
 * Milliseconds before the feeder begins: a run of seconds is over by then, and whoever searches it brings it up. A first
 * crawl at full speed has no page yet that could have changed, and waits longer.
 */
const BEGIN_AFTER = 3000;
const BEGIN_FIRST = 30_000;
/** Visits a second from which a crawl counts as working at full speed: no server that is paced gives so many. */
const FULL_SPEED = 100;
/**
 * While the machine has cores idle, feeding takes up to half of one, and pages are found within seconds. When it has
 * none, what feeding takes the crawl loses: then it gets 7 % of what this process uses, and new pages wait their turn
 * behind those that changed (search-source.ts).
 */
export const PACE_WHEN_BUSY: Pace = { share: 0.07, of: 'process' };
/** Idle cores below which the machine is busy, and above which it is so no more: the feeder itself is between them. */
const BUSY_BELOW = 0.15;
const FREE_ABOVE = 0.5;
const LOOK_EVERY = 500;

/** Feeds the index while this home runs. */
export function startIndexing(directory: string, home: Home, ledger: Ledger): Indexing {
  let feeder: Feeder | undefined;
  let busy = false;
  const first = ledger.visits.last === 0;
  const started = Date.now();
  const idle = idleCores();
  const pacing = setInterval(() => {
    const free = idle();
    const wait = first && home.progress.rate() > FULL_SPEED ? BEGIN_FIRST : BEGIN_AFTER;
    if (Date.now() - started < wait) return;
    feeder ??= feederOf(directory);
    const turned = busy ? free > FREE_ABOVE : free < BUSY_BELOW;
    if (turned) feeder.pace((busy = !busy) ? PACE_WHEN_BUSY : HALF_A_CORE);
  }, LOOK_EVERY).unref();
  const timer = setInterval(() => {
    home.order(() => ledger.backward.save()).catch(() => {}); // it ended meanwhile, and saves them itself
  }, SAVED).unref();
  return {
    report: () => feeder?.report(),
    async stop() {
      clearInterval(pacing);
      clearInterval(timer);
      await feeder?.stop();
    },
  };
}

/** Says at each call how many cores nobody used since the last one. */
function idleCores(): () => number {
  const count = () => ({ time: performance.now(), idle: cpus().reduce((sum, { times }) => sum + times.idle, 0) });
  let before = count();
  return () => {
    const now = count();
    const cores = (now.idle - before.idle) / (now.time - before.time);
    before = now;
    return cores;
  };
}

export interface IndexState {
  readonly search: Search;
  /** A home feeds it; what is missing comes by itself. */
  readonly fed: boolean;
}

/** The index of a collection, up to date unless a running home is about to make it so. */
export async function freshIndex(directory: string, report: (report: FeedReport) => void): Promise<IndexState> {
  const { openSearch } = await import('../search/index.ts');
  const search = openSearch(searchFile(directory));
  const fed = await isFed(directory);
  if (!fed) await bringUp(directory, search, report);
  return { search, fed };
}

/** Reads what is new into the index, here and now. */
export async function bringUp(directory: string, search: Search, report: (report: FeedReport) => void): Promise<void> {
  const { openSource } = await import('./search-source.ts');
  const source = openSource(directory, search);
  try {
    await catchUp(search, source, report);
  } finally {
    source.close?.();
  }
}

/** Whether a home runs here, which has a feeder of its own. */
export async function isFed(directory: string): Promise<boolean> {
  return (await runningHome(directory)) !== undefined;
}
