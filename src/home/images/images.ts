/**
 * Looks at images beside the looks at pages: one for every twenty of them at most, and a few more while images wait for
 * their first, so that they cost next to nothing whatever a collection shows. First looks are gathered: an errand of one
 * image costs another machine nearly as much as one of fifty. Which images there are is read from stored copies, in a
 * thread (image-thread.ts), because home itself parses nothing.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../base/clock.ts';
import type { Links } from '../../errand/visit.ts';
import { keyOf, type Pool, type PoolMember } from '../partitions/pool.ts';

/** Looks at images for each look at a page: the first at an image, which it has once, and all later ones. */
const FIRST = 1 / 5;
const LATER = 1 / 20;
/** First looks that leave together, unless nothing else is under way or the last left so many milliseconds ago. */
const GATHERED = 512;
const LONGEST_GATHERING = 60_000;

interface ImageParts {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly agentToken: string;
}

/** What the thread is given. */
export interface ImageThreadData {
  readonly agentToken: string;
}

/** A page of the partition in a directory. */
export interface ImageQuestion {
  readonly directory: string;
  readonly page: number;
}

export interface ShownImages extends ImageQuestion {
  readonly images: Links;
}

/** Which images are due: by `time`, and last looked at before `seenBefore`. */
interface ImagesDue {
  readonly time: number;
  readonly seenBefore?: number;
}

export class Images {
  readonly #parts: ImageParts;
  #thread: Worker | undefined;
  #asked = 0;
  #shown: ShownImages[] = [];
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
    const watching = [...this.#parts.pool].filter(({ frontier }) => frontier.imageQueue);
    if (watching.length === 0) return;
    for (const { ledger, frontier } of watching) {
      for (const page of frontier.imageQueue!.unread()) this.#ask({ directory: ledger.directory, page });
    }
    this.#learn(watching);
    this.#looks.first += this.#firstLooks(watching, Math.ceil(visits * FIRST) - this.#looks.first);
    if (visits > this.#sought) this.#looks.later += this.#again(Math.ceil(visits * LATER) - this.#looks.later, due);
    this.#sought = visits;
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  #firstLooks(watching: readonly PoolMember[], most: number): number {
    const { pool, clock } = this.#parts;
    const waiting = watching.reduce((sum, { frontier }) => sum + frontier.imageQueue!.waiting.size, 0);
    const ready = Math.min(most, waiting);
    const apart = pool.quiet && !this.busy;
    if (ready < 1 || (ready < GATHERED && !apart && clock.ticks() - this.#left < LONGEST_GATHERING)) return 0;
    this.#left = clock.ticks();
    let left = ready;
    for (const { frontier } of watching) left -= frontier.admit(left, 'images').length;
    return ready - left;
  }

  #again(most: number, due: ImagesDue): number {
    if (most < 1) return 0;
    const { pool } = this.#parts;
    const images = pool.due('images', due, most + this.#given.size);
    const fresh = images.filter(image => !this.#given.has(keyOf(image))).slice(0, most);
    this.#given = new Set([...images.filter(image => this.#given.has(keyOf(image))), ...fresh].map(keyOf));
    pool.again(fresh);
    return fresh.length;
  }

  #learn(watching: readonly PoolMember[]): void {
    for (const { directory, page, images } of this.#shown.splice(0)) {
      const member = watching.find(({ ledger }) => ledger.directory === directory);
      if (!member) continue; // its partition has gone
      member.ledger.begin();
      member.frontier.imageQueue!.shows(page, images, this.#parts.clock.now());
    }
  }

  #ask(question: ImageQuestion): void {
    this.#thread ??= this.#start();
    this.#asked++;
    this.#thread.postMessage(question);
  }

  #start(): Worker {
    const workerData: ImageThreadData = { agentToken: this.#parts.agentToken };
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const thread = new Worker(new URL(`./image-thread.${ending}`, import.meta.url), { workerData });
    thread.unref();
    thread.on('message', (shown: ShownImages) => {
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
