/**
 * How many pages changed, by day and server, counted as visits come: a visit never changes once it is written, so that
 * each is looked at once. The thread counts a part of the past every second until it is through; whoever asks before
 * waits for the rest.
 */
import { DAY } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ChangedDay } from '../ledger/news.ts';

/** Visits of the past that are counted at most. */
const SUMMED = 300_000;
/** Lines of one answer. */
const MOST_LINES = 2000;
/** Days for which counts are kept. */
export const MOST_DAYS = 60;

export interface DaySums {
  readonly days: readonly ChangedDay[];
  readonly visits: number;
  readonly same: number;
  readonly whole: boolean;
}

export class DayCounts {
  readonly #ledger: Ledger;
  readonly #changed = new Map<string, ChangedDay>();
  readonly #visits = new Map<number, { visits: number; same: number }>();
  /** The first visit that is counted, and the next one that will be. */
  readonly #first: number;
  #next: number;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    const { visits } = ledger;
    this.#first = Math.max(visits.since(startOf(MOST_DAYS)), visits.newest() - SUMMED);
    this.#next = this.#first;
  }

  /** Counts at most so many visits more. */
  advance(most: number): void {
    const before = Math.min(this.#ledger.visits.newest() + 1, this.#next + most);
    if (before <= this.#next) return;
    for (const found of this.#ledger.news.byDay(this.#next, before)) {
      const key = `${found.day} ${found.server}`;
      const { changed, gone, moved } = this.#changed.get(key) ?? { changed: 0, gone: 0, moved: 0 };
      this.#changed.set(key, {
        ...found,
        ...{ changed: changed + found.changed, gone: gone + found.gone, moved: moved + found.moved },
      });
    }
    const looked = this.#ledger.visits.byDay(this.#next, before);
    for (const { day, visits, same } of looked) {
      const sums = this.#visits.get(day) ?? { visits: 0, same: 0 };
      this.#visits.set(day, { visits: sums.visits + visits, same: sums.same + same });
    }
    this.#next = before;
    this.#forget();
  }

  /** Of the last so many days, up to the newest visit. */
  of(days: number): DaySums {
    this.advance(Number.MAX_SAFE_INTEGER);
    const start = startOf(days);
    const lines = [...this.#changed.values()].filter(({ day }) => day >= start / DAY);
    lines.sort((a, b) => b.day - a.day || b.changed - a.changed || a.server - b.server);
    let [visits, same] = [0, 0];
    for (const [day, sums] of this.#visits) {
      if (day < start / DAY) continue;
      visits += sums.visits;
      same += sums.same;
    }
    return { days: lines.slice(0, MOST_LINES), visits, same, whole: this.#first <= this.#ledger.visits.since(start) };
  }

  #forget(): void {
    const oldest = startOf(MOST_DAYS) / DAY;
    for (const [key, { day }] of this.#changed) if (day < oldest) this.#changed.delete(key);
    for (const day of this.#visits.keys()) if (day < oldest) this.#visits.delete(day);
  }
}

/** The beginning of the first of the last so many days, milliseconds since 1970. */
function startOf(days: number): number {
  return (Math.floor(Date.now() / DAY) - days + 1) * DAY;
}
