/**
 * Relevance by known items: how far up the page stands that a query asks for (queries.ts), in Skein and beside it in
 * MiniSearch, Orama, Xapian and SQLite's FTS5, each in a process of its own with the same pages. The mean of 1 / place for each
 * kind of query, for the half that the search was tuned with and the half held out; and what pages and queries cost.
 *
 *   node bench/search.ts --relevance-only [--shelf first|…|sixth] [--before CHECKOUT] [--misses] [--no-peers]
 *
 * `--before` names a checkout of an older Skein, which is asked the same. Its own index and Skein's are filled, and asked,
 * one right after the other, in processor time.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { queriesFor } from './by-hand.ts';
import { realPages } from './pages.ts';
import type { KnownItem } from './queries.ts';

/** Megabytes of heap, and minutes, that an engine is given. */
const MEMORY = 8000;
const MINUTES = 25;
/** Mean reciprocal rank to reach. */
const WANTED = 0.85;

/** What the process of an engine reports. */
export interface Asked {
  readonly name: string;
  /** Milliseconds of processor for a page, and for a query. */
  readonly filling: number;
  readonly asking: number;
  /** 1 / place of the first right page, 0 = not among the first twenty, by the order of the queries. */
  readonly ranks: readonly number[];
}

async function askEngine(name: string, directory: string, before: string, shelf: string): Promise<Asked | undefined> {
  const program = join(import.meta.dirname, 'known-items-engine.ts');
  const child = fork(program, [name, directory, before, shelf], { execArgv: [`--max-old-space-size=${MEMORY}`] });
  const late = setTimeout(() => child.kill('SIGKILL'), MINUTES * 60_000);
  let asked: Asked | undefined;
  child.on('message', told => {
    asked = told as Asked;
  });
  const [code] = await once(child, 'exit');
  clearTimeout(late);
  if (!asked) console.log(`${name} did not answer (${code}) within ${MEMORY} MB and ${MINUTES} minutes`);
  return asked;
}

function mean(items: readonly KnownItem[], { ranks }: Asked, which: (item: KnownItem) => boolean): string {
  const chosen = ranks.filter((_, at) => which(items[at]!));
  return (chosen.reduce((sum, rank) => sum + rank, 0) / chosen.length).toFixed(3);
}

function table(items: readonly KnownItem[], engines: readonly Asked[]): void {
  const row = (name: string, count: number, which: (item: KnownItem) => boolean) =>
    console.log(
      `${name.padEnd(20)}${String(count).padStart(5)}` +
        engines.map(engine => mean(items, engine, which).padStart(12)).join(''),
    );
  for (const [half, heldOut] of [
    ['tuned with', false],
    ['held out', true],
  ] as const) {
    if (!items.some(item => item.heldOut === heldOut)) continue;
    console.log(`\n${half.padEnd(25)}${engines.map(({ name }) => name.padStart(12)).join('')}`);
    for (const kind of new Set(items.map(item => item.kind))) {
      const which = (item: KnownItem) => item.heldOut === heldOut && item.kind === kind;
      row(kind, items.filter(which).length, which);
    }
    row('all', items.filter(item => item.heldOut === heldOut).length, item => item.heldOut === heldOut);
  }
  row('both halves', items.length, () => true);
}

export async function relevance(root: string, directory: string, flags: readonly string[]): Promise<void> {
  const given = (flag: string) => (flags.includes(flag) ? flags[flags.indexOf(flag) + 1]! : '');
  const shelf = given('--shelf') || 'first';
  const { documents } = realPages(root, shelf);
  const items = queriesFor(shelf, documents);
  console.log(`relevance: ${items.length} queries with known answers on ${documents.length} real pages`);
  const before = given('--before');
  const names = [...(before ? ['before'] : []), 'skein', ...(flags.includes('--no-peers') ? [] : peers)];
  const engines: Asked[] = [];
  for (const name of names) {
    const asked = await askEngine(name, directory, before, shelf);
    if (!asked) continue;
    engines.push(asked);
    const ms = (value: number) => `${value.toFixed(2)} ms of processor`;
    const cost =
      name === 'xapian' ? 'in programs of its own' : `a page in ${ms(asked.filling)}, a query ${ms(asked.asking)}`;
    console.log(`  ${name.padEnd(12)} ${cost}`);
  }
  table(items, engines);
  const skein = engines.find(({ name }) => name === 'skein');
  if (!skein) return;
  const reached = Number(mean(items, skein, () => true));
  console.log(`target ${WANTED} over all: ${reached >= WANTED ? 'met' : 'missed'}`);
  if (!flags.includes('--misses')) return;
  items.forEach(({ kind, query, heldOut }, index) => {
    if ((shelf === 'second' || !heldOut) && skein.ranks[index]! < 1)
      console.log(`${skein.ranks[index]!.toFixed(2)}  ${kind}: ${query}`);
  });
}

const peers = ['minisearch', 'fts5', 'xapian', 'orama'];
