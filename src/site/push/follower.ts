/**
 * Somebody who is told of changes: a hub, a subscriber, IndexNow. It is told everything once, in batches, a moment after it
 * happened; where telling fails it is tried again, later and later. How far it got is kept by whoever made it, so that a
 * restart goes on there.
 */
import { systemClock } from '../../base/clock.ts';
import type { Journal } from '../journal/journal.ts';
import { type Entry, isListed } from '../journal/lines.ts';

interface FollowerOptions {
  readonly journal: Journal;
  /** Number of the last change that was told; undefined = nothing before now is to be. */
  readonly told?: number | undefined;
  /** Changes at a time, and what else was written with the last of them. */
  readonly most: number;
  /** Milliseconds between a change and the telling, in which others may join it. */
  readonly pause: number;
  /** Tells; throws where it failed and should be tried again. */
  deliver(entries: readonly Entry[]): Promise<void>;
  /** Everything up to this number has been told. */
  reached(sequence: number): void;
  /** A telling failed; for people. */
  failed?(words: string): void;
}

/** Changes of one moment are told together: by its time a reader knows which it has. */
function whole(entries: readonly Entry[], most: number): readonly Entry[] {
  const { at } = entries[Math.min(most, entries.length) - 1] ?? { at: 0 };
  const end = entries.findIndex((entry, i) => i >= most && entry.at !== at);
  return end < 0 ? entries : entries.slice(0, end);
}

const LONGEST_BACKOFF = 3_600_000;

export class Follower {
  readonly #options: FollowerOptions;
  readonly #ended = new AbortController();
  readonly #unlisten: () => void;
  #told: number;
  #busy = false;
  #failures = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
    const { journal } = options;
    const { sequence } = journal.cursor;
    // A journal that was put back in time has fewer changes than were told.
    this.#told = Math.min(options.told ?? sequence, sequence);
    this.#unlisten = journal.listen(() => void this.#work());
    if (this.#told < sequence) void this.#work();
  }

  stop(): void {
    this.#unlisten();
    this.#ended.abort();
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    const { journal, most, pause } = this.#options;
    const { signal } = this.#ended;
    while (!signal.aborted && this.#told < journal.cursor.sequence) {
      await systemClock.sleep(
        this.#failures === 0 ? pause : Math.min(LONGEST_BACKOFF, pause * 2 ** this.#failures),
        signal,
      );
      if (signal.aborted) break;
      const from = Math.max(0, this.#told - journal.first);
      await this.#tell(whole(journal.entries.slice(from), most));
    }
    this.#busy = false;
  }

  async #tell(entries: readonly Entry[]): Promise<void> {
    try {
      const listed = entries.filter(({ page }) => isListed(page));
      if (listed.length > 0) await this.#options.deliver(listed);
      this.#failures = 0;
      this.#told = entries.at(-1)?.sequence ?? this.#told;
      this.#options.reached(this.#told);
    } catch (error) {
      this.#failures++;
      this.#options.failed?.((error as Error).message);
    }
  }
}
