/** How long filling an index and asking it takes, by the clock and in processor time. */
import type { SearchDocument } from '../../src/search/index.ts';
import type { Corpus } from './synthetic.ts';

/** Pages of one batch, and queries of one kind. */
export const BATCH = 2000;
export const QUERIES = 200;
/** Milliseconds of processor after which no further query of a kind is asked. */
const LONGEST = 60_000;

/** Milliseconds of this thread's processor time: what a busy machine does not change. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Asks each query once and prints how long that took, by the clock and in processor time: a query is answered by one
 * thread without waiting, so the second is what the first would be on an idle machine.
 */
export function ask(name: string, queries: readonly string[], query: (text: string) => unknown): void {
  const took: number[] = [];
  const used: number[] = [];
  const end = processorTime() + LONGEST;
  for (const text of queries) {
    const [started, before] = [performance.now(), processorTime()];
    if (before > end) break;
    query(text);
    used.push(processorTime() - before);
    took.push(performance.now() - started);
  }
  const rate = ((1000 * used.length) / used.reduce((sum, ms) => sum + ms, 0)).toFixed(0).padStart(6);
  const part = used.length < queries.length ? `  (only ${used.length} of ${queries.length} asked)` : '';
  console.log(
    `  ${name.padEnd(22)} ${rate} queries/s  ${spread(used)} of processor, ${spread(took)} by the clock${part}`,
  );
}

/** Median and 99th of a hundred, milliseconds. */
function spread(figures: readonly number[]): string {
  const sorted = figures.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(10);
  return `p50 ${ms(at(0.5))}  p99 ${ms(at(0.99))}`;
}

/** Puts all pages in, and gives the rates; making the pages is not counted. `told` hears how many are in. */
export async function fill(
  documents: number,
  made: Corpus,
  put: (batch: SearchDocument[]) => unknown,
  told: (pages: number) => void = () => {},
): Promise<string> {
  let [took, processor] = [0, 0];
  for (let first = 1; first <= documents; first += BATCH) {
    const batch = made.documents(first, Math.min(BATCH, documents - first + 1));
    const [started, before] = [performance.now(), processorTime()];
    await put(batch);
    took += performance.now() - started;
    processor += processorTime() - before;
    told(first + batch.length - 1);
  }
  const rate = (ms: number) => ((1000 * documents) / ms).toFixed(0);
  return `${documents} pages: ${rate(took)} pages/s in, ${rate(processor)} per processor second`;
}
