/** What a cluster does with the partitions of a running home: opens them, lets them go in good order, or drops them. */
import { rmSync } from 'node:fs';
import type { Host } from '../../cluster/peer/custody.ts';
import { partitionOfErrand } from '../../frontier/errands/under-way.ts';
import type { Home } from '../../home/home.ts';
import { copyPartitionTo, placeOfPartition } from '../../home/offsite/offsite.ts';
import { callBack } from '../../home/partitions/departures.ts';
import { partitionDirectory, readCollection } from '../../ledger/collection/collection.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OpenPartitions } from '../partitions.ts';
import { adoptAll } from '../partitions.ts';

/** What is open once there is a partition to begin with. */
interface Running {
  readonly home: Home;
  readonly collection: OpenPartitions;
}

export class PartitionHost implements Host {
  readonly #data: string;
  readonly #seeds: () => readonly string[];
  /** What is to be told of a ledger as soon as it is open, by partition. */
  readonly #opened = new Map<number, (ledger: Ledger) => void>();
  /** Restored, and not opened yet because nothing runs. */
  readonly #ready = new Map<number, () => void>();
  #running: Running | undefined;
  readonly #first = Promise.withResolvers<number[]>();
  /** Where the archive is copied to; undefined = nowhere. */
  archive: { readonly to: string; readonly id: string } | undefined;

  constructor(data: string, seeds: () => readonly string[]) {
    this.#data = data;
    this.#seeds = seeds;
  }

  directoryOf(partition: number): string {
    return partitionDirectory(this.#data, partition);
  }

  /** For whoever opens partitions: called before anything is written to the ledger. */
  readonly opened = (partition: number, ledger: Ledger): void => {
    this.#opened.get(partition)?.(ledger);
    this.#opened.delete(partition);
    if (this.archive) copyPartitionTo(ledger, placeOfPartition(this.archive.to, partition), this.archive.id);
  };

  /** Resolves with the partitions to begin with, as soon as there is one. */
  get first(): Promise<number[]> {
    return this.#first.promise;
  }

  /** From here on partitions are opened and adopted as they come. */
  run(running: Running, begun: readonly number[]): void {
    this.#running = running;
    for (const partition of begun) {
      this.#ready.get(partition)?.();
      this.#ready.delete(partition);
    }
    for (const proceed of this.#ready.values()) proceed();
    this.#ready.clear();
  }

  async adopt(partition: number, opened: (ledger: Ledger) => void, isNew: boolean): Promise<void> {
    this.#opened.set(partition, opened);
    if (!this.#running) {
      const proceed = Promise.withResolvers<void>();
      this.#ready.set(partition, proceed.resolve);
      this.#first.resolve([partition]);
      await proceed.promise;
    }
    const { home, collection } = this.#running!;
    if (home.partitions.of(partition)) return; // it was the first
    const take = () => {
      const open = collection.open(partition);
      if (isNew) collection.seedOne(partition, this.#seeds());
      open.ledger.commit();
      adoptAll(home, [open]);
    };
    if (home.state === 'ended') throw new Error('this run has ended');
    await home.order(take, partition);
  }

  async release(partition: number, last: () => Promise<void>): Promise<void> {
    const { home, collection } = this.#running!;
    await home.release(partition);
    await collection.close(partition, last);
  }

  async drop(partition: number): Promise<void> {
    const { home, collection } = this.#running!;
    const dropped = home.partitions.of(partition);
    if (!dropped) return;
    const letGo = () => {
      dropped.ledger.abandon();
      home.partitions.remove(dropped);
      callBack(home.dispatch, partition);
      // What they bring is nobody's: the partition may come back before they do.
      for (const { from, errand } of home.dispatch.posts.underWay())
        if (partitionOfErrand(errand) === partition) home.dispatch.returned(from, errand);
    };
    if (home.state === 'ended') letGo();
    else await home.order(letGo, partition);
    await collection.close(partition);
  }

  async copied(partition: number): Promise<ReadonlyMap<number, number>> {
    return await (await import('../../home/offsite/bring.ts')).copiedElsewhere(this.directoryOf(partition));
  }

  /** Removes the files of all these. */
  dropAll(which: (partition: number) => boolean): void {
    for (const { id, directory } of readCollection(this.#data).here)
      if (which(id)) rmSync(directory, { recursive: true, force: true });
  }

  /** Where a partition is that this peer has no more. */
  leftover(partition: number): string | undefined {
    return this.#running?.home.partitions.of(partition) ? undefined : this.directoryOf(partition);
  }
}
