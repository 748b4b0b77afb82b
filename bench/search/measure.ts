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
 * Asks each query once and prints how long that took. By the clock, and in processor time, which is what the clock would
 * show on an idle machine, since one thread answers without waiting; but the system counts it in steps of some milliseconds.
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
  const each = used.reduce((sum, ms) => sum + ms, 0) / used.length;
  const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(10);
  const part = used.length < queries.length ? `  (only ${used.length} of ${queries.length} asked)` : '';
  console.log(
    `  ${name.padEnd(22)} p50 ${ms(at(took, 0.5))}  p99 ${ms(at(took, 0.99))}; of processor ${ms(each)} each, ` +
      `p99 ${ms(at(used, 0.99))}, ${(1000 / each).toFixed(0).padStart(5)} queries/s${part}`,
  );
}

function at(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
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
