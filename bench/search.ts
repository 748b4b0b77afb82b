/**
 * Search: how fast pages go in, how fast queries are answered at 10,000 and (with --million) 1,000,000 pages, beside
 * MiniSearch and Orama where they can hold them; and how well a page is found by the words of its title.
 *
 *   node bench/search.ts [--million] [--documents N] [--no-peers]
 *
 * The synthetic pages have 100 to 300 words each from a vocabulary of 200,000 by Zipf's law. Queries are drawn by how common
 * their words are, because that decides the cost; `mixed` is two words of middling frequency. Skein's answers include
 * titles and snippets with the hits marked; the peers' are ids and scores, and in a second line those with the same titles
 * and snippets, made by Skein's own code from texts in memory.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { openSearch } from '../src/search/index.ts';
import { relevance } from './search/known-items.ts';
import { ask, fill, QUERIES } from './search/measure.ts';
import { peerNames } from './search/peers.ts';
import { type Corpus, corpus } from './search/synthetic.ts';

const root = join(import.meta.dirname, '..');
/** Megabytes, and minutes of processor, that a peer is given. */
const MEMORY = 8000;
const MINUTES = 10;

async function ours(documents: number, made: Corpus, directory: string): Promise<void> {
  const file = join(directory, `search-${documents}.db`);
  const search = openSearch(file);
  const rates = await fill(documents, made, batch => search.put(batch));
  const bytes = ['', '-wal'].reduce(
    (sum, end) => sum + (statSync(file + end, { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
  console.log(
    `skein: ${rates}, ${(bytes / 1e6).toFixed(0)} MB on disk, ${(process.memoryUsage.rss() / 1e6).toFixed(0)} MB of memory`,
  );
  for (const [name, queries] of made.queries(QUERIES)) {
    ask(name, queries, query => search.query(query));
    if (name === 'mixed') ask('mixed, asked again', queries, query => search.query(query));
  }
  search.close();
}

/** A peer in a process of its own, which is ended when it takes too much of either; says how far it came. */
async function theirs(name: string, documents: number): Promise<void> {
  const program = join(import.meta.dirname, 'search', 'peer.ts');
  const child = fork(program, [name, String(documents)], {
    execArgv: [`--max-old-space-size=${MEMORY}`],
    silent: true,
  });
  let reached = 0;
  let said = '';
  child.on('message', told => {
    const { pages, processor } = told as { pages: number; processor: number };
    reached = pages;
    if (processor > MINUTES * 60_000) child.kill('SIGKILL');
  });
  child.stdout!.on('data', data => {
    said += data;
  });
  const [code] = await once(child, 'exit');
  if (code === 0) process.stdout.write(said);
  else
    console.log(
      `${name}: gave up at ${reached} of ${documents} pages (bounds: ${MEMORY} MB, ${MINUTES} minutes of processor)\n${said}`,
    );
}

async function main(): Promise<void> {
  const flags = process.argv.slice(2);
  const asked = flags.indexOf('--documents');
  const sizes = flags.includes('--million') ? [10_000, 1_000_000] : [asked >= 0 ? Number(flags[asked + 1]) : 10_000];
  mkdirSync(join(root, '.cache', 'bench'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache', 'bench', 'search-'));
  try {
    for (const documents of sizes) {
      await ours(documents, corpus(1), directory);
      if (!flags.includes('--no-peers')) for (const name of peerNames) await theirs(name, documents);
    }
    await relevance(root, directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
