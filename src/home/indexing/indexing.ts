/**
 * The search index beside the collection: fed by a thread while a home runs, and brought up to date by whoever asks when
 * none does. The index may be behind at any time, and is never wrong about where it stands.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { extname, join } from 'node:path';
import { readInterest } from '../../search/ask/interest.ts';
import { catchUp, type Feeder, type FeedReport, startFeeder } from '../../search/feed/feed.ts';
import type { Search } from '../../search/index.ts';
import { runningHome } from '../door.ts';
import type { Home } from '../home.ts';
import { copiedNote } from '../offsite/offsite.ts';

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

interface Indexing {
  /** What the feeder has done so far; undefined before it began. */
  report(): FeedReport | undefined;
  /** Ends after the batch at hand; the rest is for whoever comes next. */
  stop(): Promise<void>;
}

/** Feeds the indexes in these directories from a thread of this process; two of them at once do no harm. */
export function feederOf(...directories: readonly string[]): Feeder {
  const source = new URL(`./search-source${extname(import.meta.url)}`, import.meta.url);
  return startFeeder({ directories, source });
}

/**
 * Milliseconds before the feeder begins: a run of seconds is over by then, and whoever searches it brings it up. A first
 * crawl at full speed has no page yet that could have changed, and waits longer. So does one with nothing under way: it is about
 * to end, as a peer is that waits for the others.
 */
const BEGIN_AFTER = 3000;
const BEGIN_FIRST = 30_000;
/** Visits a second from which a crawl counts as working at full speed: no server that is paced gives so many. */
const FULL_SPEED = 100;
/**
 * What feeding takes of a machine that has no core idle, the crawl loses: then it gets this share of what the process uses,
 * and new pages wait their turn behind those that changed (search-source.ts). Of what would be idle without it, feeding
 * gets what is beyond LEFT_IDLE, up to MOST: pages that changed are found soon, and the crawl loses little.
 *
 * Cores. A crawl at full speed leaves a tenth of one idle between its waves, and what feeding takes there it takes from
 * the crawl: with only that left, it went up to half a core and the crawl was a fifth slower. And even an idle core is not
 * free: feeding shares caches and memory with the crawl, a refresh at full speed lost an eighth to half a core of it.
 */
const SHARE_WHEN_BUSY = 0.06;
const LEFT_IDLE = 0.2;
const MOST = 0.25;
const LOOK_EVERY = 500;

/** Gives the feeder what it may take, from now on; stopped by what it gives. */
export function steer(feeder: Feeder): () => void {
  const idle = idleCores();
  let [free, used, looked] = [0, 0, performance.now()];
  const timer = setInterval(() => {
    const processor = feeder.report()?.processor ?? 0;
    const now = performance.now();
    // What it used itself would be idle without it. Half of it by the last look: a crawl comes in waves.
    free = (free + idle() + (processor - used) / (now - looked)) / 2;
    [used, looked] = [processor, now];
    feeder.pace({ core: Math.min(MOST, Math.max(0, free - LEFT_IDLE)), process: SHARE_WHEN_BUSY });
  }, LOOK_EVERY).unref();
  return () => clearInterval(timer);
}

/** Partitions whose indexes are fed while a home runs; those of the others are brought up by whoever searches. */
const MOST_FED = 64;

/** Feeds the index of each partition while this home runs, also of those that come while it does. */
export function startIndexing(home: Home): Indexing {
  let feeder: Feeder | undefined;
  let fed: readonly string[] = [];
  let steering: (() => void) | undefined;
  const first = home.partitions.sum(({ ledger }) => ledger.visits.last) === 0;
  const started = performance.now();
  let fast = false;
  const looking = setInterval(() => {
    // Its last seconds are slow, too: threads that begin then would only end again.
    fast ||= home.progress.rate() > FULL_SPEED;
    const wait = first && (fast || home.dispatch.posts.idle) ? BEGIN_FIRST : BEGIN_AFTER;
    if (performance.now() - started < wait) return;
    const now = [...home.partitions].slice(0, MOST_FED).map(({ ledger }) => ledger.directory);
    if (now.join('\n') === fed.join('\n')) return;
    fed = now;
    if (feeder) feeder.follow(now);
    else {
      feeder = feederOf(...now);
      steering = steer(feeder);
    }
  }, LOOK_EVERY).unref();
  const timer = setInterval(() => {
    const save = () => [...home.partitions].forEach(({ ledger }) => void ledger.links.backward.save());
    home.order(save).catch(() => {}); // it ended meanwhile, and saves them itself
  }, SAVED).unref();
  return {
    report: () => feeder?.report(),
    async stop() {
      clearInterval(looking);
      clearInterval(timer);
      steering?.();
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

/**
 * The index of a collection, up to date unless a running home is about to make it so, or whoever asks may not write there.
 * Without one that can be read, such a person gets one in memory, for this once.
 */
export async function freshIndex(
  directory: string,
  report: (report: FeedReport) => void,
  // `home`: directory of the collection that it is a part of. `fed`: the caller feeds it.
  by: { readonly home: string } | 'fed' = { home: directory },
): Promise<IndexState> {
  const { openSearch } = await import('../../search/index.ts');
  const file = searchFile(directory);
  const fed = by === 'fed' || (await isFed(by.home));
  if (!isWritable(directory, file)) {
    try {
      return { search: openSearch(file, { readOnly: true }), fed };
    } catch {
      // none was made yet, or by another version
      const search = openSearch(':memory:');
      await bringUp(directory, search, report);
      return { search, fed: false };
    }
  }
  const search = openSearch(file);
  if (!fed) await bringUp(directory, search, report);
  return { search, fed };
}

function isWritable(directory: string, file: string): boolean {
  try {
    accessSync(directory, constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reads what is new into the index, here and now. */
export async function bringUp(directory: string, search: Search, report: (report: FeedReport) => void): Promise<void> {
  // The feeder reads inside a transaction, and cannot wait for what lies elsewhere.
  if (copiedNote(directory)) await (await import('../offsite/bring.ts')).bringHere(directory);
  const { openSource } = await import('./search-source.ts');
  const source = openSource(directory, search);
  try {
    await catchUp(search, source, report);
  } finally {
    source.close?.();
  }
}

/** While no home runs, this process keeps the indexes of the partitions up to date; a home has a feeder of its own. */
export async function feedWhileIdle(home: string, directories: readonly string[]): Promise<Pick<Indexing, 'stop'>> {
  const feeder = (await isFed(home)) ? undefined : feederOf(...directories.slice(0, MOST_FED));
  return { stop: async () => feeder?.stop() };
}

/** Whether a home runs here, which has a feeder of its own. */
export async function isFed(directory: string): Promise<boolean> {
  return (await runningHome(directory)) !== undefined;
}
