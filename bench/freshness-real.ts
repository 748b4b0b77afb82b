/**
 * How fresh does each policy keep real sites? Ten sites, about 3,000 pages, 60 days, with every change labelled: only
 * changes of content count (text, structure, images; neither noise nor markup that no reader sees).
 *
 *   node bench/freshness-real.ts [folder of the histories, default ../shared/data/dev]
 *
 * Everything is fetched on day 0 and no rate is known. New pages are fetched at once by all policies, beside the budget.
 * Each day the changes come first, then the visits; freshness is the share of pages at the end of the day whose copy
 * is current, a page that was removed counting as stale until it is noticed. Bytes: 600 for every visit, and a quarter
 * of the body (what gzip leaves) where the bytes differ from those of the last visit.
 *
 * Sites change in bursts, so much depends on whose turn was just before one: the order of the pages alone moves a mean
 * by 0.01 at 5% a day. Each figure is therefore the mean over several orders, with the spread between them.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { DAY } from '../src/base/clock.ts';
import { planNamed } from '../src/revisit/policy.ts';
import { randomly } from '../test/random.ts';
import { Scheduler } from '../test/revisit/scheduler.ts';

const data = process.argv[2] ?? join(import.meta.dirname, '../../shared/data/dev');
const POLICIES = ['value', 'uniform', 'proportional', 'pmcs', 'date', 'adaptive'];
const SHARES = [0.02, 0.05, 0.1, 0.2];
/** Orders of the pages over which each figure is taken. */
const ORDERS = 5;
const BARE = 600;
const GZIP = 0.25;

/** A page as the manifests and labels tell it. */
interface Page {
  readonly site: string;
  /** Day it appeared and day it was gone. */
  born: number;
  died: number;
  /** Days on which its content changed, ascending. */
  readonly changes: number[];
  /** Days on which its bytes changed, with the bytes of the body from then on. */
  readonly bodies: { readonly day: number; readonly bytes: number }[];
}

interface Line {
  readonly s: string;
  readonly u: string;
  readonly b: string;
  readonly ct: string;
  readonly c: string;
  readonly sub?: readonly string[];
}

const lines = (path: string): Line[] =>
  gunzipSync(readFileSync(path))
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(text => JSON.parse(text));
const dayFile = (kind: string, day: number) => join(data, kind, `day-${String(day).padStart(3, '0')}.jsonl.gz`);

function bodySizes(): Map<string, number> {
  const sizes = new Map<string, number>();
  for (const name of readdirSync(join(data, 'packs')).filter(file => file.endsWith('.idx.json.gz'))) {
    const groups = JSON.parse(gunzipSync(readFileSync(join(data, 'packs', name))).toString());
    for (const group of groups as { b: [string, number][] }[]) for (const [id, bytes] of group.b) sizes.set(id, bytes);
  }
  return sizes;
}

const isContent = ({ c, sub }: Line) =>
  c === 'text' || c === 'images' || (c === 'structure' && !sub?.includes('markup'));

function readHistories(): Page[] {
  const sizes = bodySizes();
  const pages = new Map<string, Page>();
  const blobs = new Map<string, string>();
  for (let day = 0; existsSync(dayFile('manifests', day)); day++) {
    const present = new Set<string>();
    for (const { s, u, b, ct } of lines(dayFile('manifests', day))) {
      if (!ct.startsWith('text/html')) continue;
      const key = s + u;
      present.add(key);
      let page = pages.get(key);
      if (!page) {
        page = { site: s, born: day, died: Number.POSITIVE_INFINITY, changes: [], bodies: [] };
        pages.set(key, page);
      }
      page.died = Number.POSITIVE_INFINITY;
      if (blobs.get(key) !== b) page.bodies.push({ day, bytes: sizes.get(b) ?? 0 });
      blobs.set(key, b);
    }
    for (const [key, page] of pages) if (!present.has(key) && page.died > day) page.died = day;
    if (day > 0)
      for (const line of lines(dayFile('truth', day)).filter(isContent)) pages.get(line.s + line.u)?.changes.push(day);
  }
  return [...pages.values()];
}

/** The latest entry at or before `day`; -1 = none. */
function latest<T>(entries: readonly T[], day: number, dayOf: (entry: T) => number): number {
  let found = -1;
  while (found + 1 < entries.length && dayOf(entries[found + 1]!) <= day) found++;
  return found;
}

class Collection {
  readonly #pages: readonly Page[];
  readonly #scheduler: Scheduler;
  readonly #numbers = new Map<number, number>();
  /** Per page of the scheduler: index of the change and of the body that the copy holds. */
  readonly #held = new Map<number, { change: number; body: number }>();
  visits = 0;
  bytes = 0;

  constructor(pages: readonly Page[], scheduler: Scheduler) {
    this.#pages = pages;
    this.#scheduler = scheduler;
  }

  admit(day: number): void {
    for (const [index, page] of this.#pages.entries()) {
      if (page.born !== day) continue;
      const body = latest(page.bodies, day, entry => entry.day);
      const bytes = page.bodies[body]!.bytes * GZIP;
      const server = this.#scheduler.server(page.site, 0);
      const number = this.#scheduler.add({ server, last: day * DAY, bytes });
      this.#numbers.set(number, index);
      this.#held.set(number, { change: latest(page.changes, day, entry => entry), body });
    }
  }

  /** One visit; false when nothing is due. */
  visit(now: number): boolean {
    const number = this.#scheduler.next(now);
    if (number < 0) return false;
    const day = Math.floor(now / DAY);
    const page = this.#pages[this.#numbers.get(number)!]!;
    this.visits++;
    this.bytes += BARE;
    if (page.died <= day) {
      this.#scheduler.postpone(number, now, now + DAY);
      this.#scheduler.remove(number);
      this.#held.delete(number);
      return true;
    }
    const held = this.#held.get(number)!;
    const change = latest(page.changes, day, entry => entry);
    const body = latest(page.bodies, day, entry => entry.day);
    const bytes = page.bodies[body]!.bytes * GZIP;
    const cost = body === held.body ? 0 : bytes;
    this.bytes += cost;
    this.#held.set(number, { change, body });
    this.#scheduler.done(number, now, { changed: change !== held.change, cost: cost + BARE, body: bytes });
    return true;
  }

  freshness(day: number): number {
    let fresh = 0;
    for (const [number, held] of this.#held) {
      const page = this.#pages[this.#numbers.get(number)!]!;
      if (page.died > day && latest(page.changes, day, entry => entry) === held.change) fresh++;
    }
    return fresh / this.#held.size;
  }
}

interface Run {
  /** Freshness of each day. */
  readonly daily: readonly number[];
  readonly visits: number;
  readonly bytes: number;
}

/** `allowance`: visits or bytes per day. */
function run(pages: readonly Page[], policy: string, unit: 'pages' | 'bytes', allowance: number): Run {
  const budget = unit === 'pages' ? { pages: allowance } : { bytes: allowance };
  const collection = new Collection(pages, new Scheduler({ plan: planNamed(policy), budget }));
  collection.admit(0);
  const days = Math.max(...pages.map(page => page.bodies.at(-1)!.day));
  const daily: number[] = [];
  const spent = () => (unit === 'pages' ? collection.visits : collection.bytes);
  for (let day = 1; day <= days; day++) {
    collection.admit(day);
    const start = allowance * (day - 1);
    while (spent() < allowance * day) {
      const part = Math.min(0.999, Math.max(0, (spent() - start) / allowance));
      if (!collection.visit((day + part) * DAY)) break;
    }
    daily.push(collection.freshness(day));
  }
  return { daily, visits: collection.visits / days, bytes: collection.bytes / days };
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

function shuffled(pages: readonly Page[], seed: number): Page[] {
  const { below } = randomly(seed);
  return pages
    .map(page => ({ page, place: below(1 << 30) }))
    .sort((a, b) => a.place - b.place)
    .map(({ page }) => page);
}

function report(name: string, runs: readonly Run[]): void {
  const means = runs.map(({ daily }) => mean(daily));
  const worst = mean(runs.map(({ daily }) => Math.min(...daily)));
  const spread = Math.max(...means) - Math.min(...means);
  const visits = Math.round(mean(runs.map(run => run.visits)));
  const bytes = Math.round(mean(runs.map(run => run.bytes)) / 1000);
  const cost = `${String(visits).padStart(6)} ${String(bytes).padStart(7)}`;
  console.log(`${name.padEnd(14)}${mean(means).toFixed(4)}  ${spread.toFixed(4)}  ${worst.toFixed(4)}  ${cost}`);
}

function main(): void {
  if (!existsSync(data)) {
    console.log(`skipped: no histories in ${data}`);
    return;
  }
  const pages = readHistories();
  const alive = pages.filter(page => page.born === 0).length;
  const changes = pages.reduce((sum, page) => sum + page.changes.length, 0);
  console.log(`${pages.length} pages, ${alive} on day 0, ${changes} changes of content`);
  const orders = Array.from({ length: ORDERS }, (_, seed) => shuffled(pages, seed + 1));
  const head = 'policy        mean    spread  worst    visits  kB/day';
  for (const share of SHARES) {
    console.log(`\nequal visits: ${share * 100}% of the pages per day\n${head}`);
    const visits = (policy: string) => orders.map(order => run(order, policy, 'pages', share * alive));
    for (const policy of POLICIES) report(policy, visits(policy));
    const bytes = mean(visits('uniform').map(each => each.bytes));
    console.log(`equal bytes: what uniform spends on it\n${head}`);
    for (const policy of POLICIES) {
      report(
        policy,
        orders.map(order => run(order, policy, 'bytes', bytes)),
      );
    }
  }
}

main();
