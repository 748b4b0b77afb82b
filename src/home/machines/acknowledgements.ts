/**
 * Acknowledgements that home owes its outposts: that a parcel, or a whole errand, is durable here. They leave only after the
 * batch to which the parcel belongs has been committed.
 */
import type { Carrier } from '../../transfer/carrier.ts';

export class Acknowledgements {
  #parcels = new Map<string, { from: Carrier; sequence: number }>();
  #ended: { from: Carrier; errand: string }[] = [];

  parcel(from: Carrier, errand: string, sequence: number): void {
    if (from.remote) this.#parcels.set(errand, { from, sequence });
  }

  ended(from: Carrier, errand: string): void {
    if (!from.remote) return;
    this.#parcels.delete(errand);
    this.#ended.push({ from, errand });
  }

  /** The batch is committed. */
  send(): void {
    for (const [errand, { from, sequence }] of this.#parcels) from.acknowledge(errand, sequence);
    for (const { from, errand } of this.#ended) from.forget(errand);
    this.#parcels = new Map();
    this.#ended = [];
  }
}
