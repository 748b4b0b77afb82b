/** How long filling an index and asking it takes, by the clock and in processor time. */
import type { SearchDocument } from '../../src/search/index.ts';
import type { Corpus } from './synthetic.ts';

/** Pages of one batch, and queries of one kind. */
export const BATCH = 2000;
export const QUERIES = 200;

/** Milliseconds of this thread's processor time: what a busy machine does not change. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Asks each query once and prints how long that took. */
export function ask(name: string, queries: readonly string[], query: (text: string) => unknown): void {
  const took: number[] = [];
  const before = processorTime();
  for (const text of queries) {
    const started = performance.now();
    query(text);
    took.push(performance.now() - started);
  }
  const processor = (processorTime() - before) / queries.length;
  const total = took.reduce((sum, ms) => sum + ms, 0);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(10);
  const rate = ((1000 * queries.length) / total).toFixed(0).padStart(6);
  console.log(
    `  ${name.padEnd(22)} p50 ${ms(at(0.5))}  p99 ${ms(at(0.99))}  ${rate} queries/s  ${ms(processor)} of processor each`,
  );
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
