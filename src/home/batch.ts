/**
 * A batch commits visits to the ledger together with the lengths that the archive has by then. Outposts hear that a parcel is
 * durable only after its batch has been committed.
 */
import type { Archive } from '../archive/archive.ts';
import type { Clock } from '../base/clock.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Acknowledgements } from './machines/acknowledgements.ts';

/** A batch is committed when it is this old (milliseconds) or holds this many visits. */
const MOST_AGE = 250;
const MOST_VISITS = 2000;
/** Milliseconds between two syncs of the archive: about as much as a power cut may take. */
const SYNC_EVERY = 1000;

interface BatchParts {
  readonly ledger: Ledger;
  readonly archive: Archive;
  readonly clock: Clock;
  /** Adds to a batch what is to be committed with it. */
  readonly beforeCommit?: () => void;
}

export class Batch {
  readonly #parts: BatchParts;
  readonly #acknowledgements: Acknowledgements;
  #since = 0;
  #visits = 0;
  /** The segment that was being written at the last commit; earlier ones no longer grow. */
  #segment = 0;
  /** A sync of the archive runs outside this thread; an error of it ends the run. */
  #syncing: Promise<void> | undefined;
  #synced = 0;
  #failure: unknown;

  constructor(parts: BatchParts, acknowledgements: Acknowledgements) {
    this.#parts = parts;
    this.#acknowledgements = acknowledgements;
  }

  /** Call this before writing something that weighs as much as `weight` visits. */
  open(weight: number): void {
    if (this.#visits === 0) this.#since = this.#parts.clock.ticks();
    this.#parts.ledger.begin();
    this.#visits += weight;
  }

  /** Milliseconds that the batch may wait for more visits; undefined = it holds none. */
  get patience(): number | undefined {
    return this.#visits > 0 ? MOST_AGE : undefined;
  }

  commitIfDue(): void {
    const old = this.#visits > 0 && this.#parts.clock.ticks() - this.#since >= MOST_AGE;
    if (old || this.#visits >= MOST_VISITS) this.commit();
  }

  commit(): void {
    if (this.#failure !== undefined) throw this.#failure;
    const { ledger, archive, beforeCommit } = this.#parts;
    const ends = archive.ends(this.#segment);
    ledger.begin();
    for (const { segment, length } of ends) ledger.storage.segments.setLength(segment, length);
    beforeCommit?.();
    ledger.commit();
    this.#segment = ends.at(-1)?.segment ?? 0;
    this.#since = 0;
    this.#visits = 0;
    this.#acknowledgements.send();
    this.#sync();
  }

  /**
   * Syncs once a second, outside this thread. Syncing before each commit, so that no commit can reach the disk before its
   * records, took 6% more time in a crawl of 31,861 pages at full speed on a virtual disk.
   */
  #sync(): void {
    const now = this.#parts.clock.ticks();
    if (this.#syncing || now - this.#synced < SYNC_EVERY) return;
    this.#synced = now;
    const failed = (error: unknown) => {
      this.#failure = error;
    };
    this.#syncing = this.#parts.archive.sync().catch(failed);
    void this.#syncing.then(() => {
      this.#syncing = undefined;
    });
  }
}
