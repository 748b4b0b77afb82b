/**
 * Search: how fast pages go in, how fast queries are answered at 10,000 and (with --million) 1,000,000 pages, beside
 * MiniSearch and Orama where they can hold them; and how well pages are found by names, parts of names, misspelt and
 * half-typed words, questions and phrases (search/known-items.ts).
 *
 *   node bench/search.ts [--million] [--documents N] [--no-peers] [--relevance-only] [--before CHECKOUT] [--misses]
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
import { text } from 'node:stream/consumers';
import { openSearch } from '../src/search/index.ts';
import { relevance } from './search/known-items.ts';
import { ask, fill, QUERIES } from './search/measure.ts';
import { peerNames } from './search/peers.ts';
import { type Corpus, corpus } from './search/synthetic.ts';

const root = join(import.meta.dirname, '..');
/** Megabytes of heap, and minutes of processor to be filled, that a peer is given. */
const MEMORY = 8000;
const MINUTES = 10;

async function ours(documents: number, made: Corpus, directory: string): Promise<void> {
  const file = join(directory, `search-${documents}.db`);
  const search = openSearch(file);
  const rates = await fill(documents, made, batch => search.updates.apply({ changed: batch, gone: [] }));
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

/** What a peer says of itself while it is filled: pages in, milliseconds of processor, megabytes of memory. */
interface Told {
  readonly pages: number;
  readonly processor: number;
  readonly memory: number;
}

/** A peer in a process of its own, which is ended when it takes too much of either; says how far it came, and what ended it. */
async function theirs(name: string, documents: number): Promise<void> {
  const program = join(import.meta.dirname, 'search', 'peer.ts');
  const child = fork(program, [name, String(documents)], {
    execArgv: [`--max-old-space-size=${MEMORY}`],
    silent: true,
  });
  let last: Told = { pages: 0, processor: 0, memory: 0 };
  let late = false;
  child.on('message', told => {
    last = told as Told;
    late = last.processor > MINUTES * 60_000;
    if (late) child.kill('SIGKILL');
  });
  const [[code], said, complained] = await Promise.all([once(child, 'exit'), text(child.stdout!), text(child.stderr!)]);
  process.stdout.write(said);
  if (code === 0) return;
  const reason = late
    ? `${MINUTES} minutes of processor were over`
    : (/^.*Error.*$|^.*ERROR.*$/m.exec(complained)?.[0] ?? code);
  const reached = `${last.pages} of ${documents} pages, ${(last.processor / 1000).toFixed(0)} s of processor and ${last.memory} MB`;
  console.log(
    `${name} cannot hold them within ${MEMORY} MB and ${MINUTES} minutes of processor: at ${reached}, ${reason}`,
  );
}

async function main(): Promise<void> {
  const flags = process.argv.slice(2);
  const asked = flags.indexOf('--documents');
  const sizes = flags.includes('--million') ? [10_000, 1_000_000] : [asked >= 0 ? Number(flags[asked + 1]) : 10_000];
  mkdirSync(join(root, '.cache', 'bench'), { recursive: true });
  const directory = mkdtempSync(join(root, '.cache', 'bench', 'search-'));
  try {
    for (const documents of flags.includes('--relevance-only') ? [] : sizes) {
      await ours(documents, corpus(1), directory);
      if (!flags.includes('--no-peers')) for (const name of peerNames) await theirs(name, documents);
    }
    await relevance(root, directory, flags);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

await main();
