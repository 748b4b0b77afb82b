/**
 * The search index beside the collection: fed by a thread while a home runs, and brought up to date by whoever asks when
 * none does. The index may be behind at any time, and is never wrong about where it stands.
 */
import { extname, join } from 'node:path';
import type { Ledger } from '../ledger/ledger.ts';
import { catchUp, type Feeder, type FeedReport, startFeeder } from '../search/feed.ts';
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
 * Milliseconds before the feeder begins: a crawl of seconds is over by then, and whoever searches it brings it up. While
 * home works at full speed it waits longer.
 */
const BEGIN_AFTER = 3000;
const BEGIN_AT_LAST = 30_000;
/** Visits a second from which a crawl counts as working at full speed: no server that is paced gives so many. */
const FULL_SPEED = 100;
/**
 * Shares of one core that feeding takes. A crawl that leaves room gets its pages indexed within seconds. One at full
 * speed has no room, and what feeding takes it loses: then the index falls behind and not the crawl, which on two cores
 * loses a twentieth.
 */
const SHARE = 0.5;
const SHARE_AT_FULL_SPEED = 0.1;

/** Feeds the index while this home runs. */
export function startIndexing(directory: string, home: Home, ledger: Ledger): Indexing {
  let feeder: Feeder | undefined;
  let share = SHARE;
  const started = Date.now();
  const pacing = setInterval(() => {
    const waited = Date.now() - started;
    const full = home.progress.rate() > FULL_SPEED;
    if (waited < BEGIN_AFTER || (full && waited < BEGIN_AT_LAST)) return;
    feeder ??= feederOf(directory);
    const fair = full ? SHARE_AT_FULL_SPEED : SHARE;
    if (fair !== share) feeder.pace((share = fair));
  }, 500).unref();
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
