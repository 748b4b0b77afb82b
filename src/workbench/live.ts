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
import type { VisitTally } from '../ledger/visits.ts';
import type { Collection, Sample, ShownVisit, Tick } from './api/tick.ts';
import type { Reader } from './reader.ts';

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
  #last: number;
  /** Of the last look, milliseconds of the thread's own clock. */
  #time = performance.now();
  #collection: Collection;
  #slowAfter = 0;
  #tick: Tick;
  #busy = false;
  #trouble = '';

  constructor(reader: Reader) {
    this.#reader = reader;
    this.#last = this.#reader.ledger.visits.newest();
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
    return this.#shown(0, MOST_SHOWN);
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
      this.#tick = this.#look(home);
      this.#reader.dayCounts.advance(DAYS_COUNTED);
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
    const newest = this.#reader.ledger.visits.newest();
    const from = Math.max(this.#last, newest - MOST_COUNTED);
    const counted = newest === from ? [] : this.#reader.ledger.visits.tally(from);
    const visits = newest === from ? [] : this.#shown(from, MOST_SHOWN);
    this.#last = newest;
    if (ticks > this.#slowAfter) this.#collection = this.#count();
    const sum = (pick: (row: VisitTally) => number) => counted.reduce((total, row) => total + pick(row), 0);
    const sample: Sample = {
      time: now,
      visits: sum(row => row.visits) / seconds,
      changed: sum(row => (row.outcome === 'fetched' && row.stage !== 'first' ? row.visits : 0)) / seconds,
      errors: sum(row => (row.outcome === 'failed' ? row.visits : 0)) / seconds,
      bytes: sum(row => row.bytes) / seconds,
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

  #shown(after: number, most: number): ShownVisit[] {
    return this.#reader.ledger.visits.latest(after, most).map(row => ({ ...row, means: meaningOf(row.reason) }));
  }

  #count(): Collection {
    const started = Date.now();
    const began = performance.now();
    const { ledger } = this.#reader;
    const due = ledger.pages.countDue(started, MOST_DUE + 1);
    const today = Math.floor(started / DAY);
    const { expected, aim } = freshnessOf(ledger, started);
    const { spent, avoided } = ledger.account.ofDay(today);
    const left = this.#reader.notDue(today - ACCOUNT_DAYS + 1).filter(({ day }) => day === today);
    const collection: Collection = {
      known: ledger.pages.newest(),
      visited: ledger.listings.visited(),
      servers: ledger.servers.newest(),
      due: Math.min(due, MOST_DUE),
      dueCapped: due > MOST_DUE,
      freshness: expected,
      freshnessAim: aim,
      spentToday: spent,
      avoidedToday: left.reduce((sum, row) => sum + row.avoided, avoided),
      archiveBytes: ledger.segments().reduce((sum, { length }) => sum + length, 0),
      time: started,
    };
    const ended = performance.now();
    this.#slowAfter = ended + Math.max(SLOW_EVERY, (ended - began) * SLOW_SHARE);
    return collection;
  }
}

/** Null: no home runs here, or it does not answer. */
async function stateOf(directory: string): Promise<HomeState | null> {
  const home = findHome(directory);
  if (!home) return null;
  return home.state().catch(() => null);
}
