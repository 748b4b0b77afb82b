/** The feeder's thread: opens index and source, runs the loop of feed.ts, obeys its orders. */
import { getPriority, setPriority } from 'node:os';
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import type { FeederOptions, FeederOrder, FeedReport, SearchSource, SourceModule, ThreadReport } from './feed.ts';

const { dataDirectory, source: module, ...options } = workerData as Omit<FeederOptions, 'source'> & { source: string };

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

const stopping = new AbortController();
let looking = new AbortController();
let asked = 0;
let answered = 0;
let pace = options.pace ?? HALF_A_CORE;
parentPort!.on('message', (order: FeederOrder) => {
  if (typeof order === 'object') {
    pace = order;
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

const { openSource } = (await import(module)) as SourceModule;
const search = openSearch(join(dataDirectory, 'search.db'));
const opened = openSource(dataDirectory, search);
const source: SearchSource = {
  since(cursor, limit) {
    answered = asked;
    return opened.since(cursor, limit);
  },
  ...(opened.standing && { standing: key => opened.standing!(key) }),
};
const report = (one: FeedReport) => parentPort!.postMessage({ ...one, look: answered } satisfies ThreadReport);
await feed(search, source, report, { ...options, pace: () => pace, signal: stopping.signal, clock });
search.close();
opened.close?.();
parentPort!.close();
