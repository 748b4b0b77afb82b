/**
 * How many pages changed, by day and server, counted as visits come: a visit never changes once it is written, so that
 * each is looked at once. The thread counts a part of the past every second until it is through; whoever asks before
 * waits for the rest.
 *
 * Days are those of whoever asks: counts are kept by quarters of an hour, on which the days of every time zone begin.
 */
import { DAY } from '../base/clock.ts';
import { SkeinError } from '../base/errors.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { ChangedSpan } from '../ledger/queries/news.ts';

/** Visits of the past that are counted at most. */
const SUMMED = 300_000;
/** Lines of one answer. */
const MOST_LINES = 2000;
/** Days for which counts are kept. */
export const MOST_DAYS = 60;
/** Milliseconds. */
const QUARTER = 15 * 60_000;

interface DayCount extends Omit<ChangedSpan, 'span'> {
  /** Days since 1970, as they begin where the asker is. */
  readonly day: number;
}

interface DaySums {
  readonly days: readonly DayCount[];
  readonly visits: number;
  readonly same: number;
  readonly whole: boolean;
}

export class DayCounts {
  readonly #ledger: Ledger;
  readonly #changed = new Map<string, ChangedSpan>();
  readonly #visits = new Map<number, { visits: number; same: number }>();
  /** The first visit that is counted, and the next one that will be. */
  readonly #first: number;
  #next: number;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    const { visits } = ledger;
    this.#first = Math.max(visits.since(Date.now() - MOST_DAYS * DAY), visits.newest() - SUMMED);
    this.#next = this.#first;
  }

  /** Counts at most so many visits more. */
  advance(most: number): void {
    const before = Math.min(this.#ledger.visits.newest() + 1, this.#next + most);
    if (before <= this.#next) return;
    for (const found of this.#ledger.queries.news.bySpan(this.#next, before, QUARTER)) {
      const key = `${found.span} ${found.server}`;
      this.#changed.set(key, added(found, this.#changed.get(key)));
    }
    for (const { span, visits, same } of this.#ledger.queries.news.visitsBySpan(this.#next, before, QUARTER)) {
      const sums = this.#visits.get(span) ?? { visits: 0, same: 0 };
      this.#visits.set(span, { visits: sums.visits + visits, same: sums.same + same });
    }
    this.#next = before;
    this.#forget();
  }

  /** Everything that is counted, up to the newest visit. */
  all(): {
    readonly changed: Iterable<ChangedSpan>;
    readonly visits: Iterable<[number, { visits: number; same: number }]>;
  } {
    this.advance(Number.MAX_SAFE_INTEGER);
    return { changed: this.#changed.values(), visits: this.#visits };
  }

  /** All visits since then are counted. */
  reaches(since: number): boolean {
    return this.#first <= this.#ledger.visits.since(since);
  }

  #forget(): void {
    const oldest = (Date.now() - (MOST_DAYS + 1) * DAY) / QUARTER;
    for (const [key, { span }] of this.#changed) if (span < oldest) this.#changed.delete(key);
    for (const span of this.#visits.keys()) if (span < oldest) this.#visits.delete(span);
  }
}

function added<T extends Pick<ChangedSpan, 'changed' | 'gone' | 'moved'>>(one: T, two: T | undefined): T {
  if (!two) return one;
  const { changed, gone, moved } = two;
  return { ...one, changed: one.changed + changed, gone: one.gone + gone, moved: one.moved + moved };
}

/** Counts of one partition, and how its servers are told. */
interface CountedPart {
  readonly dayCounts: DayCounts;
  told(server: number): number;
}

/** Of the last so many days of a time zone, over all partitions. */
export function daySums(parts: readonly CountedPart[], days: number, zone = 'UTC'): DaySums {
  const dayOf = dayIn(zone);
  const first = dayOf(Date.now() / QUARTER) - days + 1;
  const lines = new Map<string, DayCount>();
  let [visits, same] = [0, 0];
  for (const part of parts) {
    const counted = part.dayCounts.all();
    for (const { span, server, ...counts } of counted.changed) {
      const line = { ...counts, day: dayOf(span), server: part.told(server) };
      const key = `${line.day} ${line.server}`;
      if (line.day >= first) lines.set(key, added(line, lines.get(key)));
    }
    for (const [span, sums] of counted.visits) {
      if (dayOf(span) < first) continue;
      visits += sums.visits;
      same += sums.same;
    }
  }
  const since = Date.now() - days * DAY;
  return {
    days: inOrder([...lines.values()]),
    visits,
    same,
    whole: parts.every(part => part.dayCounts.reaches(since)),
  };
}

/** What several machines tell, each of partitions of its own. */
export function mergedDays(told: readonly DaySums[]): DaySums {
  return {
    days: inOrder(told.flatMap(({ days }) => days)),
    visits: told.reduce((sum, { visits }) => sum + visits, 0),
    same: told.reduce((sum, { same }) => sum + same, 0),
    whole: told.every(({ whole }) => whole),
  };
}

const inOrder = (lines: readonly DayCount[]): DayCount[] =>
  lines.toSorted((a, b) => b.day - a.day || b.changed - a.changed || a.server - b.server).slice(0, MOST_LINES);

/** On which day, since 1970, a quarter of an hour is in a time zone. */
function dayIn(zone: string): (quarter: number) => number {
  if (zone === 'UTC') return quarter => Math.floor((quarter * QUARTER) / DAY);
  const format = formatIn(zone);
  const known = new Map<number, number>();
  return quarter => {
    const found = known.get(quarter);
    if (found !== undefined) return found;
    const day = Date.parse(format.format(Math.floor(quarter) * QUARTER)) / DAY;
    known.set(quarter, day);
    return day;
  };
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  try {
    // Swedish dates are written as ISO's, which are taken for UTC.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  } catch {
    throw new SkeinError('bad-option', `There is no time zone "${timeZone}".`, 'Name one like Europe/Berlin.');
  }
}
