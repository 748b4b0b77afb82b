/**
 * Recent queries with their results. A kept result may be shown only while no change concerns it, and a change
 * concerns it when the page is in its window (it may have moved, lost the words, or gone) or matches its query now
 * (it may belong there). The index logs the pages it writes, in order, so this holds across threads and processes.
 *
 * What the rule leaves out: every page written moves the collection's averages, and with them all scores, a little.
 * No page appears or disappears through that, and no result outlives LIFE.
 */
import type { Hit } from '../document.ts';
import type { QueryPlan } from './match.ts';
import type { Ranked } from './rank.ts';

/** A hit without what depends on the moment it is shown. */
export type KeptHit = Omit<Hit, 'age' | 'changedProbability'>;

export interface CachedAnswer {
  readonly plan: QueryPlan;
  readonly ranked: Ranked;
  /** What seems to be meant, where nothing was found. */
  readonly meant?: string | undefined;
  /** Hits shown so far, by place. */
  readonly hits: Map<number, KeptHit>;
  /** The last change known not to concern it. */
  sequence: number;
  readonly time: number;
}

/** What the cache must know of the index. */
interface IndexChanges {
  /** Sequence of the last change. */
  latest(): number;
  /** Pages changed after `sequence`; undefined = too many to say. */
  since(sequence: number): readonly number[] | undefined;
  matchesAny(plan: QueryPlan, pages: readonly number[]): boolean;
}

export interface CacheCounts {
  readonly entries: number;
  readonly hits: number;
  readonly misses: number;
  /** Entries dropped because a change concerned them. */
  readonly dropped: number;
}

/** Milliseconds. Results that depend on the time of day are kept for the shorter. */
const LIFE = 10 * 60_000;
const DATED_LIFE = 60_000;

export class QueryCache {
  /** Oldest use first, as a Map keeps insertion order. */
  readonly #entries = new Map<string, CachedAnswer>();
  readonly #changes: IndexChanges;
  readonly #size: number;
  #hits = 0;
  #misses = 0;
  #dropped = 0;

  constructor(changes: IndexChanges, size = 256) {
    this.#changes = changes;
    this.#size = size;
  }

  get(key: string, now: number): CachedAnswer | undefined {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#entries.delete(key);
    if (entry === undefined || !this.#holds(entry, now)) {
      this.#misses++;
      return undefined;
    }
    this.#entries.set(key, entry);
    this.#hits++;
    return entry;
  }

  set(key: string, entry: CachedAnswer): void {
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (this.#entries.size > this.#size) this.#entries.delete(this.#entries.keys().next().value!);
  }

  clear(): void {
    this.#entries.clear();
  }

  counts(): CacheCounts {
    return { entries: this.#entries.size, hits: this.#hits, misses: this.#misses, dropped: this.#dropped };
  }

  #holds(entry: CachedAnswer, now: number): boolean {
    const life = entry.plan.changed.length > 0 ? DATED_LIFE : LIFE;
    if (now - entry.time > life || now < entry.time) return false;
    const latest = this.#changes.latest();
    if (latest === entry.sequence) return true;
    if (this.#concerned(entry)) {
      this.#dropped++;
      return false;
    }
    entry.sequence = latest;
    return true;
  }

  #concerned(entry: CachedAnswer): boolean {
    const pages = this.#changes.since(entry.sequence);
    if (pages === undefined) return true;
    const window = new Set(entry.ranked.pages);
    // A page with some of the words would join a result that has such pages.
    if (pages.some(page => window.has(page)) || entry.ranked.loose) return true;
    return this.#changes.matchesAny(entry.plan, pages);
  }
}
