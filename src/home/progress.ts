/** What has happened so far, for people: counters, and a rate over the last seconds. It decides nothing. */
import type { Clock } from '../base/clock.ts';
import { isError } from '../errand/reasons.ts';
import type { Outcome, Visit } from '../errand/visit.ts';

const WINDOW = 5000;

export class Progress {
  /** Wall time. */
  readonly started: number;
  /** The start and recent visits in ticks, because somebody may set the wall clock meanwhile. */
  readonly #began: number;
  readonly outcomes: Record<Outcome, number> = { fetched: 0, same: 0, moved: 0, gone: 0, refused: 0, failed: 0 };
  readonly reasons = new Map<string, number>();
  /** Pages fetched, changed or not; without sitemaps and images. */
  pages = 0;
  sitemaps = 0;
  images = 0;
  /** Among them, those that the user's filter or decider left out. */
  filtered = 0;
  /** Visits that failed, and those that were not tried because their server cannot be reached. */
  errors = 0;
  bytesDown = 0;
  bytesUp = 0;
  readonly #clock: Clock;
  readonly #recent: { time: number; count: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
    this.started = clock.now();
    this.#began = clock.ticks();
  }

  visit(visit: Visit): void {
    this.outcomes[visit.outcome]++;
    this.reasons.set(visit.reason, (this.reasons.get(visit.reason) ?? 0) + 1);
    if (isError(visit)) this.errors++;
    this.bytesDown += visit.cost.down;
    this.bytesUp += visit.cost.up;
    if (visit.outcome === 'fetched' || visit.outcome === 'same') this[kindOf(visit)]++;
    if (visit.page?.filtered) this.filtered++;
    if (visit.outcome === 'refused') return;
    const time = Math.floor(this.#clock.ticks() / 250) * 250;
    const last = this.#recent.at(-1);
    if (last?.time === time) last.count++;
    else this.#recent.push({ time, count: 1 });
  }

  /** A visit that was counted as a change turned out to bring none. */
  relabelled(): void {
    this.#turn(1);
  }

  /** A visit that was counted as unchanged turned out to bring a change. */
  told(): void {
    this.#turn(-1);
  }

  #turn(by: 1 | -1): void {
    this.outcomes.fetched -= by;
    this.outcomes.same += by;
    this.reasons.set('ok', (this.reasons.get('ok') ?? 0) - by);
    this.reasons.set('unchanged', (this.reasons.get('unchanged') ?? 0) + by);
  }

  /** Visits a second over the last five seconds. */
  rate(): number {
    const now = this.#clock.ticks();
    while (this.#recent.length > 0 && this.#recent[0]!.time < now - WINDOW) this.#recent.shift();
    const span = Math.min(WINDOW, now - this.#began);
    return span <= 0 ? 0 : (this.#recent.reduce((sum, each) => sum + each.count, 0) * 1000) / span;
  }

  get seconds(): number {
    return (this.#clock.ticks() - this.#began) / 1000;
  }
}

function kindOf({ cost }: Visit): 'pages' | 'sitemaps' | 'images' {
  return cost.cause === 'sitemap' ? 'sitemaps' : cost.cause === 'image' ? 'images' : 'pages';
}
