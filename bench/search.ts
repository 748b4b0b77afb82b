/**
 * Search: how fast pages go in, how fast queries are answered at 10,000 and (with --million) 1,000,000 pages, beside
 * MiniSearch and Orama where they can hold them; and how well a page is found by the words of its title.
 *
 *   node bench/search.ts [--million] [--documents N] [--no-peers]
 *
 * The synthetic pages have 150 words each from a vocabulary of 200,000 by Zipf's law. Queries are drawn by how common
 * their words are, because that decides the cost; `mixed` is two words of middling frequency. Skein's answers include
 * titles and snippets with the hits marked; the peers' are ids and scores.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSearch, type SearchDocument } from '../src/search/index.ts';
import { relevance } from './search/known-items.ts';
import { type Peer, peers } from './search/peers.ts';
import { type Corpus, corpus } from './search/synthetic.ts';

const root = join(import.meta.dirname, '..');
const BATCH = 1000;
const QUERIES = 200;

/** Milliseconds of this thread's processor time: what a busy machine does not change. */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Asks each query once and prints how long that took. */
function ask(name: string, queries: readonly string[], query: (text: string) => unknown): void {
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

/** Puts all pages in, and gives the rates; making the pages is not counted. */
async function fill(documents: number, made: Corpus, put: (batch: SearchDocument[]) => unknown): Promise<string> {
  let [took, processor] = [0, 0];
  for (let first = 1; first <= documents; first += BATCH) {
    const batch = made.documents(first, Math.min(BATCH, documents - first + 1));
    const [started, before] = [performance.now(), processorTime()];
    await put(batch);
    took += performance.now() - started;
    processor += processorTime() - before;
  }
  const rate = (ms: number) => ((1000 * documents) / ms).toFixed(0);
  return `${documents} pages: ${rate(took)} pages/s in, ${rate(processor)} per processor second`;
}

async function ours(documents: number, made: Corpus, directory: string): Promise<void> {
  const file = join(directory, `search-${documents}.db`);
  const search = openSearch(file);
  const rates = await fill(documents, made, batch => search.put(batch));
  const bytes = ['', '-wal'].reduce(
    (sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  console.log(`skein: ${rates}, ${(bytes / 1e6).toFixed(0)} MB on disk`);
  for (const [name, queries] of made.queries(QUERIES)) {
    ask(name, queries, query => search.query(query));
    if (name === 'mixed') ask('mixed, asked again', queries, query => search.query(query));
  }
  search.close();
}

async function theirs(peer: Peer, documents: number, made: Corpus): Promise<void> {
  const before = process.memoryUsage().rss;
  const rates = await fill(documents, made, batch => peer.put(batch));
  console.log(`${peer.name}: ${rates}, ${((process.memoryUsage().rss - before) / 1e6).toFixed(0)} MB of memory`);
  for (const [name, queries] of made.queries(QUERIES)) {
    if (name === 'phrase' || name === 'beginning') continue; // not in their language, or not comparable
    ask(name, queries, query => peer.query(query));
  }
}

async function main(): Promise<void> {
  const flags = process.argv.slice(2);
  const asked = flags.indexOf('--documents');
  const documents = asked >= 0 ? Number(flags[asked + 1]) : 10_000;
  mkdirSync(join(root, '.cache', 'bench'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache', 'bench', 'search-'));
  try {
    await ours(documents, corpus(1), directory);
    if (!flags.includes('--no-peers')) for (const peer of await peers(root)) await theirs(peer, documents, corpus(1));
    await relevance(root, directory);
    if (flags.includes('--million')) await ours(1_000_000, corpus(1), directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
