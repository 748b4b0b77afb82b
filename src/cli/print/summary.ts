/** What a run did, as data for --json and as a table for people. */
import { meaningOf } from '../../errand/reasons.ts';
import type { Opened } from '../compose.ts';
import { dataOption } from '../options/options.ts';
import { duration, fold, moment, paint, plural, size, table } from './terminal.ts';

export interface Summary {
  readonly pages: number;
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
export function summaryOf({ home, ledger, frontier }: Opened, interrupted: boolean): Summary {
  const { progress } = home;
  const { seconds } = progress;
  const retry = ledger.pages.nextRetry();
  return {
    pages: progress.pages,
    ...progress.outcomes,
    filtered: progress.filtered,
    bytes: progress.bytesDown + progress.bytesUp,
    seconds: Math.round(seconds * 1000) / 1000,
    pagesPerSecond: Math.round((progress.pages / Math.max(seconds, 0.001)) * 10) / 10,
    known: ledger.pages.size,
    empty: ledger.pages.empty(),
    servers: ledger.servers.size,
    waiting: frontier.outstanding + frontier.newcomers,
    retries: retry?.count ?? 0,
    nextRetry: retry?.time ?? null,
    interrupted,
    memory: process.resourceUsage().maxRSS * 1024,
    cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    reasons: Object.fromEntries([...progress.reasons].sort((a, b) => b[1] - a[1])),
  };
}

/** All that was asked for failed, and there was nothing before. */
export function isInVain({ pages, empty, reasons }: Summary): boolean {
  return pages === 0 && empty && Object.keys(reasons).length > 0;
}

/** `directory`: where the collection is, unless it will not stay. `idle`: what to say when nothing was done. */
export function printSummary(summary: Summary, directory?: string, idle?: string): void {
  const { seconds, pagesPerSecond, bytes, memory, waiting } = summary;
  console.log(
    fold(
      `${paint('bold', plural(summary.pages, 'page'))} in ${duration(seconds * 1000)} ` +
        `(${pagesPerSecond}/s), ${size(bytes)} on the wire, ${size(memory)} of memory, ` +
        `${plural(summary.servers, 'server')}, ${plural(summary.known, 'URL')} known.`,
    ),
  );
  const rows = Object.entries(summary.reasons).map(([code, count]) => [code, count, meaningOf(code)]);
  if (rows.length > 0) console.log(`\n${table(['outcome', 'visits', 'meaning'], rows)}`);
  if (summary.filtered > 0) {
    const them = summary.filtered === 1 ? 'it' : 'them';
    console.log(`\n${plural(summary.filtered, 'page')} read for links and not stored: the filter leaves ${them} out.`);
  }
  if (waiting > 0) {
    const [wait, them] = waiting === 1 ? ['waits', 'it'] : ['wait', 'them'];
    console.log(`\n${plural(waiting, 'page')} ${wait} for a later run: the same command goes on with ${them}.`);
  }
  if (directory === undefined) return;
  if (summary.nextRetry !== null) {
    const failed = plural(summary.retries, 'page that failed is', 'pages that failed are');
    console.log(`\n${failed} tried again by a crawl after ${moment(summary.nextRetry)}.`);
  }
  const data = dataOption(directory);
  if (isInVain(summary)) console.log(paint('yellow', '\nNothing could be collected.'));
  else if (rows.length === 0 && waiting === 0) {
    console.log(`\n${idle ?? `There was nothing left to do. To look for what changed: skein refresh${data}`}`);
  } else console.log(`\nThe collection is in ${directory}. Look at it with: skein pages${data}`);
}
