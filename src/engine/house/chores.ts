/**
 * Retention while a watch runs, which may never end: every few hours, at a moment when nothing is under way. Whoever reads
 * beside home (index, notices, workbench, other processes) may have looked up a copy just before it moved. So the files
 * of replaced segments stay for a while longer.
 */
import { type Clock, HOUR } from '../../base/clock.ts';
import type { Home } from '../../home/home.ts';
import { isKeeping, retentionIn } from '../../home/house/retention.ts';
import { deleteReplaced } from '../../home/house/stored-records.ts';
import type { Chores } from '../../home/supply.ts';
import type { OpenPartitions } from '../partitions.ts';

const MINUTE = 60_000;
/** Interval (ms) between two runs of retention. */
const EVERY = 6 * HOUR;
/** Longest time (ms) between looking up a copy and reading it. */
const READERS = MINUTE;
/** How long (ms) to wait for errands on other machines, and how long until the next try. */
const PATIENCE = MINUTE;
const LATER = 10 * MINUTE;
/** Setting: when retention last ran. */
const KEPT = 'house-kept';

interface ChoreParts {
  readonly home: Home;
  readonly collection: OpenPartitions;
  readonly clock: Clock;
}

export class HouseChores implements Chores {
  readonly #parts: ChoreParts;
  /** Ticks; after a kill the next watch keeps to it. */
  #next: number;
  /** Ticks at which waiting for a quiet moment is given up; undefined = not waiting. */
  #giveUp: number | undefined;
  /** Ticks at which the replaced files are deleted. */
  #deletes: number | undefined;

  constructor(parts: ChoreParts) {
    this.#parts = parts;
    const { collection, clock } = parts;
    const kept = collection.settings.get<number>(KEPT) ?? Number.NEGATIVE_INFINITY;
    // A clock that ran ahead at the last run must not delay the next one.
    this.#next = clock.ticks() + Math.min(EVERY, kept + EVERY - clock.now());
  }

  due(): (() => Promise<void>) | undefined {
    const { clock, home, collection } = this.#parts;
    if (this.#deletes !== undefined && clock.ticks() >= this.#deletes) this.#deleteFiles();
    if (clock.ticks() < this.#next) return undefined;
    if (!isKeeping(retentionIn(collection.settings))) {
      this.#next = clock.ticks() + EVERY;
      return undefined;
    }
    if (this.#giveUp === undefined) home.dispatch.posts.recall();
    this.#giveUp ??= clock.ticks() + PATIENCE;
    if (clock.ticks() < this.#giveUp) return () => this.#keep();
    this.#giveUp = undefined;
    this.#next = clock.ticks() + LATER;
    return undefined;
  }

  async #keep(): Promise<void> {
    const { clock, home, collection } = this.#parts;
    this.#giveUp = undefined;
    this.#next = clock.ticks() + EVERY;
    home.partitions.commit();
    await collection.dropOld(({ id, ledger }) => {
      const { batch } = home.partitions.of(id)!;
      return () => {
        batch.commit();
        ledger.begin();
      };
    });
    collection.settings.set(KEPT, clock.now());
    home.partitions.commit();
    this.#deletes = clock.ticks() + READERS;
  }

  #deleteFiles(): void {
    this.#deletes = undefined;
    for (const { batch, ledger } of this.#parts.home.partitions) {
      batch.commit();
      deleteReplaced(ledger, ledger.directory);
    }
  }
}
