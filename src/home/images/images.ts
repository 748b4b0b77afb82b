/**
 * Looks at images beside the looks at pages: one for every twenty of them at most, and a few more while images wait for
 * their first, so that they cost next to nothing whatever a collection shows. First looks are gathered: an errand of one
 * image costs another machine nearly as much as one of fifty. Which images there are is read from stored copies, in a
 * thread (image-thread.ts), because home itself parses nothing.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import type { Links } from '../../errand/visit.ts';
import type { Frontier } from '../../frontier/frontier.ts';
import type { Ledger } from '../../ledger/ledger.ts';

/** Looks at images for each look at a page: the first at an image, which it has once, and all later ones. */
const FIRST = 1 / 5;
const LATER = 1 / 20;
/** First looks that leave together, unless nothing else is under way or the last left so many milliseconds ago. */
const GATHERED = 512;
const LONGEST_GATHERING = 60_000;

export interface ImageParts {
  readonly ledger: Ledger;
  readonly frontier: Frontier;
  readonly clock: Clock;
  readonly agentToken: string;
}

/** What the thread is given. */
export interface ImageThreadData {
  readonly directory: string;
  readonly agentToken: string;
}

/** What it answers to the number of a page. */
export interface Shown {
  readonly page: number;
  readonly images: Links;
}

/** Which images are due: by `until`, and last looked at before `seenBefore`. */
export interface ImagesDue {
  readonly until: number;
  readonly seenBefore?: number;
}

export class Images {
  readonly #parts: ImageParts;
  #thread: Worker | undefined;
  #asked = 0;
  #shown: Shown[] = [];
  #looks = { first: 0, later: 0 };
  /** When first looks last left, milliseconds since 1970. */
  #left: number;
  /** Visits to pages when images were last sought. */
  #sought = 0;
  /** Let in and not back yet, as far as they are due. */
  #given = new Set<number>();

  constructor(parts: ImageParts) {
    this.#parts = parts;
    this.#left = parts.clock.ticks();
  }

  /** Copies are being read. */
  get busy(): boolean {
    return this.#asked > 0;
  }

  /** Called once a turn of home's loop. `visits`: looks at pages in this run. */
  fill(visits: number, due: ImagesDue): void {
    const { frontier } = this.#parts;
    if (!frontier.gallery) return;
    for (const page of frontier.gallery.unread()) this.#ask(page);
    this.#learn();
    this.#looks.first += this.#firstLooks(Math.ceil(visits * FIRST) - this.#looks.first);
    if (visits > this.#sought) this.#looks.later += this.#again(Math.ceil(visits * LATER) - this.#looks.later, due);
    this.#sought = visits;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #firstLooks(most: number): number {
    const { frontier, clock } = this.#parts;
    const ready = Math.min(most, frontier.gallery!.waiting.size);
    const apart = frontier.quiet && !this.busy;
    if (ready < 1 || (ready < GATHERED && !apart && clock.ticks() - this.#left < LONGEST_GATHERING)) return 0;
    this.#left = clock.ticks();
    return frontier.admit(ready, 'images').length;
  }

  #again(most: number, { until, seenBefore }: ImagesDue): number {
    if (most < 1) return 0;
    const { ledger, frontier } = this.#parts;
    const due = ledger.pages.due('images', until, most + this.#given.size, seenBefore);
    const fresh = due.filter(({ page }) => !this.#given.has(page)).slice(0, most);
    this.#given = new Set([...due.filter(({ page }) => this.#given.has(page)), ...fresh].map(({ page }) => page));
    frontier.again(fresh);
    return fresh.length;
  }

  #learn(): void {
    const { ledger, frontier, clock } = this.#parts;
    if (this.#shown.length > 0) ledger.begin();
    for (const { page, images } of this.#shown.splice(0)) frontier.gallery!.shows(page, images, clock.now());
  }

  #ask(page: number): void {
    this.#thread ??= this.#start();
    this.#asked++;
    this.#thread.postMessage(page);
  }

  #start(): Worker {
    const { ledger, agentToken } = this.#parts;
    const workerData: ImageThreadData = { directory: ledger.directory, agentToken };
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const thread = new Worker(new URL(`./image-thread.${ending}`, import.meta.url), { workerData });
    thread.unref();
    thread.on('message', (shown: Shown) => {
      this.#asked--;
      this.#shown.push(shown);
    });
    // A copy that cannot be read must not end a round: its page is asked about again another time.
    const over = () => {
      this.#asked = 0;
      this.#thread = undefined;
    };
    thread.on('error', over);
    thread.on('exit', over);
    return thread;
  }
}
