/**
 * What is happening, once a second: counted from the visits that home commits, so that watching costs home one small
 * question a second and nothing else, and the same numbers come when only the files are there. Keeps half an hour of
 * history, and hands every sample to whoever listens.
 *
 * Invariant: one sample reads only the visits since the last one; slow sums over the collection are renewed so seldom
 * that they take at most a fiftieth of this thread.
 */
import { DAY } from '../base/clock.ts';
import { freshnessOf, meaningOf } from '../home/answers/why.ts';
import type { HomeState } from '../home/control.ts';
import { findHome } from '../home/door.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ELSEWHERE } from '../ledger/outbox/border.ts';
import type { VisitTally } from '../ledger/queries/news.ts';
import { sumOf } from '../questions/question.ts';
import type { CollectionTick, Sample, ShownVisit, Tick } from './api/tick.ts';
import type { Reader, ReadPartition } from './reader.ts';

const EVERY = 1000;
/** Samples kept: half an hour. */
const HISTORY = 1800;
/** Visits of one second that are shown one by one. */
const MOST_SHOWN = 25;
/** Visits of one second that are counted at all; a home that restarts may have left a million. */
const MOST_COUNTED = 100_000;
/** More than this is told as "more than". */
const MOST_DUE = 100_000;
const SLOW_EVERY = 10_000;
/** Visits of the past that are counted by day in one second, about 95 ms: all of them are before anyone asks. */
const DAYS_COUNTED = 100_000;
/** Days that the account covers unless asked otherwise: counted here, so that it is at hand there. */
export const ACCOUNT_DAYS = 30;
const SLOW_SHARE = 50;

export class Live {
  readonly history: Sample[] = [];
  readonly #reader: Reader;
  readonly #timer: NodeJS.Timeout;
  readonly #listeners = new Set<(tick: Tick) => void>();
  /** The last visit of each partition that was looked at. */
  readonly #last = new Map<number, number>();
  /** Of the last look, milliseconds of the thread's own clock. */
  #time = performance.now();
  #collection: CollectionTick;
  #slowAfter = 0;
  #tick: Tick;
  #busy = false;
  #trouble = '';

  constructor(reader: Reader) {
    this.#reader = reader;
    for (const { id, ledger } of reader.parts) this.#last.set(id, ledger.visits.newest());
    this.#collection = this.#count();
    this.#tick = this.#look(null);
    this.#timer = setInterval(() => void this.#turn(), EVERY);
  }

  get now(): Tick {
    return this.#tick;
  }

  /** Why the last look failed; empty = it did not. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Returns how to stop listening. */
  listen(listener: (tick: Tick) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The visits before the stream began, newest first. */
  recent(): ShownVisit[] {
    return newestOf(this.#reader.parts.flatMap(part => shownOf(part, 0)));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
  }

  async #turn(): Promise<void> {
    // A home that is slow to answer must not be asked again before it has.
    if (this.#busy) return;
    this.#busy = true;
    try {
      const home = await stateOf(this.#reader.directory);
      this.#reader.follow();
      this.#tick = this.#look(home);
      for (const { dayCounts } of this.#reader.parts) dayCounts.advance(DAYS_COUNTED);
      this.#trouble = '';
      this.history.push(this.#tick.sample);
      if (this.history.length > HISTORY) this.history.shift();
      for (const listener of this.#listeners) listener(this.#tick);
    } catch (error) {
      // A ledger that is busy for a moment is looked at again in the next second; anything else stays visible there.
      this.#trouble = (error as Error).message;
    } finally {
      this.#busy = false;
    }
  }

  #look(home: HomeState | null): Tick {
    const now = Date.now();
    const ticks = performance.now();
    const seconds = Math.max(0.2, (ticks - this.#time) / 1000);
    this.#time = ticks;
    const { counted, visits } = this.#since();
    const sum = (pick: (row: VisitTally) => number) => counted.reduce((total, row) => total + pick(row), 0);
    const bytes = sum(row => row.bytes);
    if (ticks > this.#slowAfter) this.#collection = this.#count();
    // Counting takes long on a large collection; until the next count the bytes of visits are added, which the run shows, too.
    else this.#collection = { ...this.#collection, spentToday: this.#collection.spentToday + bytes };
    const sample: Sample = {
      time: now,
      visits: sum(row => row.visits) / seconds,
      changed: sum(row => (row.outcome === 'fetched' && row.stage !== 'first' ? row.visits : 0)) / seconds,
      errors: sum(row => row.errors) / seconds,
      bytes: bytes / seconds,
      queue: home === null ? null : home.queue + home.underWay,
    };
    const outposts: Record<string, { visits: number; bytes: number }> = {};
    for (const { outpost, visits: count, bytes } of counted) {
      const before = outposts[outpost] ?? { visits: 0, bytes: 0 };
      outposts[outpost] = { visits: before.visits + count / seconds, bytes: before.bytes + bytes / seconds };
    }
    const left = Math.max(0, sum(row => row.visits) - visits.length);
    return { sample, visits, left, home, collection: this.#collection, outposts };
  }

  /** What was committed since the last look. */
  #since(): { counted: VisitTally[]; visits: ShownVisit[] } {
    const counted: VisitTally[] = [];
    const visits: ShownVisit[] = [];
    for (const part of this.#reader.parts) {
      const newest = part.ledger.visits.newest();
      const from = Math.max(this.#last.get(part.id) ?? 0, newest - MOST_COUNTED);
      this.#last.set(part.id, newest);
      if (newest === from) continue;
      counted.push(...part.ledger.queries.news.visitTally(from));
      visits.push(...shownOf(part, from));
    }
    return { counted, visits: newestOf(visits) };
  }

  #count(): CollectionTick {
    const started = Date.now();
    const began = performance.now();
    const { parts } = this.#reader;
    const sum = (of: (ledger: Ledger) => number) => sumOf(parts.map(({ ledger }) => of(ledger)));
    const due = sum(ledger => ledger.schedule.due.countDue(started, MOST_DUE + 1));
    const today = Math.floor(started / DAY);
    const left = this.#reader.notDue(today - ACCOUNT_DAYS + 1).filter(({ day }) => day === today);
    const collection: CollectionTick = {
      known: sum(ledger => ledger.pages.newest() - stubsOf(ledger)),
      visited: sum(ledger => ledger.queries.listings.visited()),
      servers: sum(ledger => ledger.servers.newest()),
      due: Math.min(due, MOST_DUE),
      dueCapped: due > MOST_DUE,
      ...freshnessOfAll(parts, started),
      spentToday: sum(ledger => ledger.servers.account.ofDay(today).spent),
      avoidedToday: left.reduce(
        (all, row) => all + row.avoided,
        sum(ledger => ledger.servers.account.ofDay(today).avoided),
      ),
      archiveBytes: sum(ledger => sumOf(ledger.storage.segments.all().map(({ length }) => length))),
      time: started,
    };
    const ended = performance.now();
    this.#slowAfter = ended + Math.max(SLOW_EVERY, (ended - began) * SLOW_SHARE);
    return collection;
  }
}

function shownOf(part: ReadPartition, after: number): ShownVisit[] {
  return part.ledger.queries.news.latestVisits(after, MOST_SHOWN).map(row => ({
    ...row,
    ...{ id: part.told(row.id), page: part.told(row.page), means: meaningOf(row.reason) },
  }));
}

/** Newest first, so many as are shown. Within a partition they are in order already, which times alone may not be. */
function newestOf(visits: ShownVisit[]): ShownVisit[] {
  return visits.sort((one, two) => two.time - one.time || two.id - one.id).slice(0, MOST_SHOWN);
}

/** Rows that stand for pages of other partitions. */
function stubsOf({ servers }: Ledger): number {
  return sumOf(servers.tallies.of('pages').map(({ name, n }) => (name === ELSEWHERE ? n : 0)));
}

/** How fresh all partitions are together: of each as much as it has pages. */
function freshnessOfAll(parts: readonly ReadPartition[], now: number): { freshness: number; freshnessAim: number } {
  const all = parts.map(({ ledger }) => ({
    ...freshnessOf(ledger, now),
    pages: parts.length === 1 ? 1 : ledger.schedule.due.countLive(),
  }));
  const pages = sumOf(all.map(each => each.pages)) || 1;
  const mean = (of: 'expected' | 'aim') => sumOf(all.map(each => each[of] * each.pages)) / pages;
  return { freshness: mean('expected'), freshnessAim: mean('aim') };
}

/** Null: no home runs here, or it does not answer. */
async function stateOf(directory: string): Promise<HomeState | null> {
  const home = findHome(directory);
  if (!home) return null;
  return home.state().catch(() => null);
}
