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
/** Milliseconds between two times of keeping house. */
const EVERY = 6 * HOUR;
/** Milliseconds that a reader may take from looking a copy up to reading it. */
const READERS = MINUTE;
/** Milliseconds to wait for what is under way with other machines, and until it is tried again. */
const PATIENCE = MINUTE;
const LATER = 10 * MINUTE;
/** Setting: when house was last kept. */
const KEPT = 'house-kept';

interface ChoreParts {
  readonly home: Home;
  readonly collection: OpenPartitions;
  readonly clock: Clock;
}

export class HouseChores implements Chores {
  readonly #parts: ChoreParts;
  /** Ticks; a watch that was killed goes on where it was. */
  #next: number;
  /** Ticks from which on it is in vain to wait for stillness; undefined = not waiting. */
  #giveUp: number | undefined;
  /** Ticks at which files go that were replaced. */
  #deletes: number | undefined;

  constructor(parts: ChoreParts) {
    this.#parts = parts;
    const { collection, clock } = parts;
    const kept = collection.settings.get<number>(KEPT) ?? Number.NEGATIVE_INFINITY;
    // A clock that ran ahead when house was kept puts nothing off for longer.
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
