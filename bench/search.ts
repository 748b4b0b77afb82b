/**
 * Search: how fast pages go in, how fast queries are answered at 10,000 and (with --million) 1,000,000 pages, beside
 * MiniSearch and Orama where they can hold them; and how well a page is found by the words of its title.
 *
 *   node bench/search.ts [--million] [--documents N] [--no-peers]
 *
 * The synthetic pages have 150 words each from a vocabulary of 200,000 by Zipf's law. Queries are drawn by how common
 * their words are, because that decides the cost; `mixed` is the mean of what people type: two words of one page.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSearch, type Search, type SearchDocument } from '../src/search/index.ts';
import { relevance } from './search/known-items.ts';
import { type Peer, peers } from './search/peers.ts';
import { type Corpus, corpus } from './search/synthetic.ts';

const root = join(import.meta.dirname, '..');
const BATCH = 1000;
const QUERIES = 200;

interface Timing {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

function time(queries: readonly string[], ask: (query: string) => unknown): Timing {
  const took: number[] = [];
  for (const query of queries) {
    const started = performance.now();
    ask(query);
    took.push(performance.now() - started);
  }
  const total = took.reduce((sum, ms) => sum + ms, 0);
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.min(took.length - 1, Math.floor(took.length * share))]!;
  return { p50: at(0.5), p99: at(0.99), perSecond: (1000 * took.length) / total };
}

function show(name: string, timing: Timing): void {
  const ms = (value: number) => `${value.toFixed(2)} ms`.padStart(11);
  console.log(
    `  ${name.padEnd(26)} p50 ${ms(timing.p50)}  p99 ${ms(timing.p99)}  ${timing.perSecond.toFixed(0).padStart(7)} queries/s`,
  );
}

function feed(documents: number, made: Corpus, take: (batch: SearchDocument[]) => void): number {
  let took = 0;
  for (let first = 1; first <= documents; first += BATCH) {
    const batch = made.documents(first, Math.min(BATCH, documents - first + 1));
    const started = performance.now();
    take(batch);
    took += performance.now() - started;
  }
  return took;
}

function ours(documents: number, made: Corpus, directory: string): Search {
  const file = join(directory, `search-${documents}.db`);
  const search = openSearch(file);
  const took = feed(documents, made, batch => search.put(batch));
  const megabytes =
    ['', '-wal'].reduce((sum, end) => sum + statSync(file + end, { throwIfNoEntry: false })!.size, 0) / 1e6;
  console.log(
    `skein   ${documents} pages: ${((1000 * documents) / took).toFixed(0)} pages/s in, ${megabytes.toFixed(0)} MB on disk`,
  );
  for (const [name, queries] of made.queries(QUERIES)) {
    const timing = time(queries, query => search.query(query));
    show(name, timing);
    if (name !== 'mixed') continue;
    const again = time(queries, query => search.query(query));
    show('mixed, asked again', again);
  }
  return search;
}

async function theirs(peer: Peer, documents: number, made: Corpus): Promise<void> {
  const before = process.memoryUsage().rss;
  let took = 0;
  for (let first = 1; first <= documents; first += BATCH) {
    const batch = made.documents(first, Math.min(BATCH, documents - first + 1));
    const started = performance.now();
    await peer.put(batch);
    took += performance.now() - started;
  }
  const megabytes = (process.memoryUsage().rss - before) / 1e6;
  console.log(
    `${peer.name.padEnd(8)}${documents} pages: ${((1000 * documents) / took).toFixed(0)} pages/s in, ${megabytes.toFixed(0)} MB of memory`,
  );
  for (const [name, queries] of made.queries(QUERIES)) {
    if (name === 'phrase' || name === 'beginning') continue; // not in their language, or not comparable
    show(
      name,
      time(queries, query => peer.query(query)),
    );
  }
}

async function main(): Promise<void> {
  const flags = process.argv.slice(2);
  const asked = flags.indexOf('--documents');
  const documents = asked >= 0 ? Number(flags[asked + 1]) : 10_000;
  mkdirSync(join(root, '.cache'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache', 'search-'));
  try {
    ours(documents, corpus(1), directory).close();
    if (!flags.includes('--no-peers')) for (const peer of await peers(root)) await theirs(peer, documents, corpus(1));
    await relevance(root, directory);
    if (flags.includes('--million')) ours(1_000_000, corpus(1), directory).close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
