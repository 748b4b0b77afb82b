/** What a run did, as data for --json and as a table for people. */
import { type ReasonCode, reasons } from '../errand/reasons.ts';
import type { Opened } from './compose.ts';
import { duration, paint, size, table } from './terminal.ts';

export interface Summary {
  readonly pages: number;
  readonly fetched: number;
  readonly same: number;
  readonly moved: number;
  readonly gone: number;
  readonly refused: number;
  readonly failed: number;
  /** On the wire, both ways. */
  readonly bytes: number;
  readonly seconds: number;
  readonly pagesPerSecond: number;
  /** URLs known to the collection. */
  readonly known: number;
  readonly servers: number;
  /** Pages that a later run will visit. */
  readonly waiting: number;
  readonly interrupted: boolean;
  /** Peak, bytes. */
  readonly memory: number;
  /** Processor time of all threads. */
  readonly cpuSeconds: number;
  readonly reasons: Readonly<Record<string, number>>;
}

export function summaryOf({ home, ledger, frontier }: Opened, interrupted: boolean): Summary {
  const { progress } = home;
  const { seconds } = progress;
  return {
    pages: progress.pages,
    ...progress.outcomes,
    bytes: progress.bytesDown + progress.bytesUp,
    seconds: Math.round(seconds * 1000) / 1000,
    pagesPerSecond: Math.round((progress.pages / Math.max(seconds, 0.001)) * 10) / 10,
    known: ledger.pages.size,
    servers: ledger.servers.size,
    waiting: frontier.waiting().pages + frontier.newcomers,
    interrupted,
    memory: process.resourceUsage().maxRSS * 1024,
    cpuSeconds: (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
    reasons: Object.fromEntries([...progress.reasons].sort((a, b) => b[1] - a[1])),
  };
}

/** `directory`: where the collection is, unless it will not stay. */
export function printSummary(summary: Summary, directory?: string): void {
  const { seconds, pagesPerSecond, bytes, memory } = summary;
  console.log(
    `${paint('bold', `${summary.pages.toLocaleString('en')} pages`)} in ${duration(seconds * 1000)} ` +
      `(${pagesPerSecond}/s), ${size(bytes)} on the wire, ${size(memory)} of memory, ` +
      `${summary.servers} servers, ${summary.known.toLocaleString('en')} URLs known.`,
  );
  const rows = Object.entries(summary.reasons).map(([code, count]) => [
    code,
    count,
    reasons[code as ReasonCode]?.means ?? '',
  ]);
  if (rows.length > 0) console.log(`\n${table(['outcome', 'visits', 'meaning'], rows)}`);
  if (summary.waiting > 0) {
    console.log(
      `\n${summary.waiting.toLocaleString('en')} pages wait for a later run: the same command goes on with them.`,
    );
  }
  if (directory !== undefined) {
    console.log(`\nThe collection is in ${directory}. Look at it with: skein pages --data ${directory}`);
  }
}
