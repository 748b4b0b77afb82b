/**
 * What outposts have sent and home has not taken in yet. A parcel whose pages are being compared with their copies waits,
 * and whatever its sender brought later waits behind it: the order in which one sends is the order in which it is taken.
 */
import type { Parcel } from '../errand/parcel.ts';
import type { Carrier } from '../transfer/carrier.ts';
import type { Findings } from './judging/judging.ts';

type Arrived =
  | { readonly from: Carrier; readonly parcel: Parcel; readonly findings: Findings | undefined; readonly by: string }
  | { readonly from: Carrier; readonly gaveUp: string };

export class Inbox {
  readonly #judge: (parcel: Parcel) => Findings | undefined;
  #arrived: Arrived[] = [];

  /** `judge`: begins to compare the pages of a parcel with their copies; undefined = there is nothing to compare. */
  constructor(judge: (parcel: Parcel) => Findings | undefined) {
    this.#judge = judge;
  }

  parcel(from: Carrier, parcel: Parcel, by: string): void {
    this.#arrived.push({ from, parcel, findings: this.#judge(parcel), by });
  }

  gaveUp(from: Carrier, errand: string): void {
    this.#arrived.push({ from, gaveUp: errand });
  }

  get empty(): boolean {
    return this.#arrived.length === 0;
  }

  /** Something can be taken in now. */
  get ready(): boolean {
    return this.#split().now.length > 0;
  }

  /** What can be taken in now, in order. */
  take(): readonly Arrived[] {
    const { now, later } = this.#split();
    this.#arrived = later;
    return now;
  }

  #split(): { now: Arrived[]; later: Arrived[] } {
    const now: Arrived[] = [];
    const later: Arrived[] = [];
    const held = new Set<Carrier>();
    for (const each of this.#arrived) {
      if ('findings' in each && (each.findings?.open ?? 0) > 0) held.add(each.from);
      (held.has(each.from) ? later : now).push(each);
    }
    return { now, later };
  }
}
