/** What a frontier still has to do, as numbers: for whoever supplies it with pages, and for people. */
import type { Clock } from '../base/clock.ts';
import type { Elsewhere } from './errands/elsewhere.ts';
import type { UnderWay } from './errands/under-way.ts';
import type { Lanes, Waiting } from './lanes/lanes.ts';
import type { PageQueue } from './orders/page-queue.ts';

interface BacklogParts {
  readonly lanes: Lanes;
  readonly elsewhere: Elsewhere;
  /** By the errand's id. */
  readonly underWay: ReadonlyMap<string, UnderWay>;
  /** Absent in a run without a budget for new pages. */
  readonly newcomers: PageQueue | undefined;
  readonly clock: Clock;
}

export class Backlog {
  readonly #parts: BacklogParts;

  constructor(parts: BacklogParts) {
    this.#parts = parts;
  }

  /** New pages that wait for a budget. */
  get newcomers(): number {
    return this.#parts.newcomers?.size ?? 0;
  }

  /** Pages in lanes now. */
  get pages(): number {
    return this.#parts.lanes.pages + this.#parts.elsewhere.size;
  }

  /** What is in lanes now. A pass over all of them: for people, and for the end of a run. */
  waiting(): Waiting {
    return this.#parts.lanes.waiting(this.#parts.clock.now());
  }

  /** Pages that wait in lanes or are under way. */
  get outstanding(): number {
    let pages = this.pages;
    for (const underWay of this.#parts.underWay.values()) pages += underWay.pages.size;
    return pages;
  }

  /** Nothing waits and nothing is under way. */
  get quiet(): boolean {
    return this.#parts.underWay.size === 0 && this.pages === 0;
  }
}
