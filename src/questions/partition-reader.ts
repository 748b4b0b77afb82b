/** One partition, open for reading beside whoever writes it. What a question does not need is neither opened nor loaded. */
import type { Ledger } from '../ledger/ledger.ts';
import type { Numbering } from './numbers.ts';

interface PartitionOpen extends Numbering {
  /** Of the partition, and of the collection that it is a part of; the same where there is only one. */
  readonly directory: string;
  readonly collection: string;
  readonly openLedger: (directory: string) => Ledger;
  /** Another process feeds the index: it is read as it is, and may be behind. */
  readonly indexFed?: boolean;
}

interface Closable {
  close(): void;
}

export class PartitionReader implements Numbering {
  readonly id: number;
  readonly partitions: number;
  readonly directory: string;
  readonly collection: string;
  readonly indexFed: boolean;
  readonly #openLedger: (directory: string) => Ledger;
  #ledger: Ledger | undefined;
  readonly #kept = new Map<unknown, Closable>();

  constructor({ id, partitions, directory, collection, openLedger, indexFed = false }: PartitionOpen) {
    this.indexFed = indexFed;
    this.id = id;
    this.partitions = partitions;
    this.directory = directory;
    this.collection = collection;
    this.#openLedger = openLedger;
  }

  get ledger(): Ledger {
    this.#ledger ??= this.#openLedger(this.directory);
    return this.#ledger;
  }

  /** Opens something once, and closes it with the ledger: stored copies, the index. */
  keep<T extends Closable>(open: (reader: PartitionReader) => T): T {
    const kept = (this.#kept.get(open) as T | undefined) ?? open(this);
    this.#kept.set(open, kept);
    return kept;
  }

  close(): void {
    for (const kept of this.#kept.values()) kept.close();
    this.#kept.clear();
    this.#ledger?.close();
    this.#ledger = undefined;
  }
}
