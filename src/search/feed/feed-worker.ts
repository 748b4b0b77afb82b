/** The feeder's thread: opens indexes and sources, runs the loop of feed.ts, obeys its orders. */
import { existsSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { Fed, FeederOptions, FeederOrder, FeedReport, SearchSource, SourceModule, ThreadReport } from './feed.ts';

const { directories, source: module, ...options } = workerData as Omit<FeederOptions, 'source'> & { source: string };

// Linux takes 0 for the calling thread; elsewhere it would be the whole process. Five steps weigh a third of a usual
// thread: beside a crawl that uses all cores it gets the share that it may take, and no more; ten kept it at half of that.
// Below what the process has: of one that is nice already nobody may ask for less.
if (process.platform === 'linux') setPriority(0, Math.min(19, getPriority(0) + 5));

// Only now: loading takes a fifth of a second of processor, for which a crawl that begins should not wait.
const [{ systemClock }, { feed, HALF_A_CORE }, { openSearch }] = await Promise.all([
  import('../../base/clock.ts'),
  import('./feed.ts'),
  import('../index.ts'),
]);

const { openSource } = (await import(module)) as SourceModule;

/** One that is open, and the last question that its source was looked at for. */
interface OpenFed extends Fed {
  answered: number;
}

const stopping = new AbortController();
let looking = new AbortController();
let wanted: readonly string[] = directories;
let asked = 0;
let pace = options.pace ?? HALF_A_CORE;
const open = new Map<string, OpenFed>();

parentPort!.on('message', (order: FeederOrder) => {
  if (typeof order === 'object') {
    if ('core' in order) pace = order;
    else wanted = order;
    return;
  }
  if (order === 'stop') stopping.abort();
  else asked = order;
  looking.abort();
});

/** Sleeps end early when someone asks to look at once. */
const clock = {
  now: systemClock.now,
  ticks: systemClock.ticks,
  async sleep(ms: number, signal?: AbortSignal) {
    await systemClock.sleep(ms, AbortSignal.any([looking.signal, ...(signal === undefined ? [] : [signal])]));
    looking = new AbortController();
  },
};

function openOne(directory: string): OpenFed {
  const search = openSearch(join(directory, 'search.db'));
  const opened = openSource(directory, search);
  const source: SearchSource = {
    since(cursor, limit) {
      fed.answered = asked;
      return opened.since(cursor, limit);
    },
    ...(opened.standing && { standing: key => opened.standing!(key) }),
    close: () => opened.close?.(),
  };
  const fed: OpenFed = { search, source, answered: 0 };
  return fed;
}

function close(fed: Fed): void {
  fed.search.close();
  fed.source.close?.();
}

/** Those that are wanted now; a directory that has just gone is left out. */
function feds(): readonly Fed[] {
  for (const [directory, fed] of open) {
    if (wanted.includes(directory)) continue;
    open.delete(directory);
    close(fed);
  }
  for (const directory of wanted)
    if (!open.has(directory) && existsSync(directory)) open.set(directory, openOne(directory));
  return [...open.values()];
}

const look = () => Math.min(asked, ...[...open.values()].map(({ answered }) => answered));
const report = (one: FeedReport) => parentPort!.postMessage({ ...one, look: look() } satisfies ThreadReport);
await feed(feds, report, {
  ...{ ...options, pace: () => pace, signal: stopping.signal, clock },
  hurry: () => look() < asked,
});
for (const fed of open.values()) close(fed);
parentPort!.close();
