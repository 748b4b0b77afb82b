/** The partitions that a home has at the moment, ordered by number. */
import { partitionOfErrand } from '../../frontier/errands/under-way.ts';
import type { Partition } from './partition.ts';

export class Partitions {
  #all: Partition[] = [];
  /** Which partition sent first the last time. */
  #turn = 0;
  /** False: in a cluster the link exchange does, and knows when they may leave (src/engine/cluster/link-exchange.ts). */
  carriesLinks = true;

  [Symbol.iterator](): Iterator<Partition> {
    return this.#all.values();
  }

  get size(): number {
    return this.#all.length;
  }

  add(partition: Partition): void {
    if (this.of(partition.id)) throw new Error(`partition ${partition.id} is here already`);
    this.#all = [...this.#all, partition].sort((a, b) => a.id - b.id);
  }

  remove(partition: Partition): void {
    this.#all = this.#all.filter(each => each !== partition);
  }

  of(id: number): Partition | undefined {
    return this.#all.find(partition => partition.id === id);
  }

  /** Undefined: this home does not have it, or no longer. */
  ofErrand(errand: string): Partition | undefined {
    return this.of(partitionOfErrand(errand));
  }

  sum(count: (partition: Partition) => number): number {
    return this.#all.reduce((sum, partition) => sum + count(partition), 0);
  }

  /**
   * Has each partition offer the lanes that may be visited now. Returns those with the most urgent lanes, starting with another
   * one each time: new seeds, and in a focused crawl the most relevant pages, come first in whichever partition they are.
   */
  wake(isLeaving: (partition: Partition) => boolean): Partition[] {
    const offering = this.#all.filter(partition => !isLeaving(partition));
    const urgency = offering.map(({ frontier }) => frontier.errands.wake());
    const most = Math.max(0, ...urgency);
    const first = offering.filter((_, i) => urgency[i] === most);
    this.#turn = (this.#turn + 1) % Math.max(1, first.length);
    return [...first.slice(this.#turn), ...first.slice(0, this.#turn)];
  }

  /** Opens a transaction in each partition, or in one; `counted`: it is committed soon, like a batch of visits. */
  begin(only?: number, counted = false): void {
    for (const { id, ledger, batch } of this.#all)
      if (only !== undefined && id !== only) continue;
      else if (counted) batch.open(1);
      else ledger.begin();
  }

  commit(only?: number): void {
    for (const { id, batch } of this.#all) if (only === undefined || id === only) batch.commit();
  }

  commitIfDue(): void {
    for (const { batch } of this.#all) batch.commitIfDue();
  }

  /**
   * Carries committed links between partitions of this home; true = some were taken in. Links to partitions elsewhere stay in
   * the outbox for whoever reaches those.
   */
  exchange(): boolean {
    let moved = false;
    if (!this.carriesLinks || this.#all.length === 1) return moved;
    for (const sender of this.#all) {
      for (const to of sender.ledger.outbox.border.waiting) {
        const receiver = this.of(to);
        if (receiver && carry(sender, receiver)) moved = true;
      }
    }
    return moved;
  }

  /** Commits and carries the last links, when nothing else is under way; true = some were taken in. */
  settle(): boolean {
    for (const { ledger, batch } of this.#all)
      if (this.carriesLinks ? ledger.outbox.border.pending : ledger.outbox.border.unsaved) batch.commit();
    return this.exchange();
  }

  /** Milliseconds that open batches may wait for more visits; undefined = none is open. */
  get patience(): number | undefined {
    for (const { batch } of this.#all) if (batch.patience !== undefined) return batch.patience;
    return undefined;
  }
}

function carry(sender: Partition, receiver: Partition): boolean {
  const { border } = sender.ledger.outbox;
  const { last, durable } = receiver.ledger.outbox.border.taken(sender.id);
  sender.ledger.begin();
  border.drop(receiver.id, durable);
  let taken = last;
  for (const batch of border.batches(sender.id, receiver.id, last)) taken = receiver.take(batch);
  return taken > last;
}
