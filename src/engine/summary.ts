/** What a run did, as data. */
import type { PoolMember } from '../home/partitions/pool.ts';
import { nextRetryOf } from '../home/supply.ts';
import type { Engine } from './engine.ts';

export interface Summary {
  readonly pages: number;
  /** Fetched beside the pages, and among the outcomes. */
  readonly sitemaps: number;
  readonly images: number;
  readonly fetched: number;
  readonly same: number;
  readonly moved: number;
  readonly gone: number;
  readonly refused: number;
  readonly failed: number;
  /** Read for links and not stored: the filter leaves them out. */
  readonly filtered: number;
  /** On the wire, both ways. */
  readonly bytes: number;
  readonly seconds: number;
  readonly pagesPerSecond: number;
  /** URLs known to the collection. */
  readonly known: number;
  /** The collection has no page, from this run or an earlier one. */
  readonly empty: boolean;
  readonly servers: number;
  /** Pages that a later run will visit. */
  readonly waiting: number;
  /** These pages wait for a crawl: the collection has reached the page limit of the last one. */
  readonly full?: boolean;
  /** Pages that failed and may be tried again, and from when on; milliseconds since 1970. */
  readonly retries: number;
  readonly nextRetry: number | null;
  readonly interrupted: boolean;
  /** Peak, bytes. */
  readonly memory: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  readonly reasons: Readonly<Record<string, number>>;
}

/** While the ledger is open. */
export function summaryOf({ home, pool }: Engine, interrupted: boolean): Summary {
  const { progress } = home;
  const { seconds } = progress;
  const members = [...pool];
  const sum = (count: (member: PoolMember) => number) => members.reduce((total, member) => total + count(member), 0);
  const nextRetry = nextRetryOf(pool);
  return {
    ...{ pages: progress.pages, sitemaps: progress.sitemaps, images: progress.images },
    ...progress.outcomes,
    filtered: progress.filtered,
    bytes: progress.bytesDown + progress.bytesUp,
    seconds: Math.round(seconds * 1000) / 1000,
    pagesPerSecond: Math.round((progress.pages / Math.max(seconds, 0.001)) * 10) / 10,
    known: sum(({ ledger }) => ledger.pages.own),
    empty: members.every(({ ledger }) => ledger.servers.tallies.of('stored').every(({ n }) => n === 0)),
    servers: sum(({ ledger }) => ledger.servers.size),
    waiting: pool.outstanding + pool.newcomers,
    retries: sum(({ ledger }) => ledger.schedule.due.nextRetry()?.count ?? 0),
    nextRetry: Number.isFinite(nextRetry) ? nextRetry : null,
    interrupted,
    memory: process.resourceUsage().maxRSS * 1024,
    cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    // A change that turned out to be noise was taken back: its count may be 0.
    reasons: Object.fromEntries([...progress.reasons].filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1])),
  };
}

/** Every request failed, and the collection was empty before. */
export function isInVain({ pages, empty, reasons }: Summary): boolean {
  return pages === 0 && empty && Object.keys(reasons).length > 0;
}
