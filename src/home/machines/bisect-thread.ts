/** The thread for pages on trial: it starts with the first trial, ends after the last, and gets no other errands. */
import type { Errand } from '../../errand/errand.ts';
import type { Carrier } from '../../transfer/carrier.ts';
import type { Dispatch } from './dispatch.ts';

export class BisectThread {
  readonly #dispatch: Dispatch;
  readonly #start: () => Carrier;
  #carrier: Carrier | undefined;

  /** `start` makes a thread that dispatch never chooses. */
  constructor(dispatch: Dispatch, start: () => Carrier) {
    this.#dispatch = dispatch;
    this.#start = start;
  }

  is(carrier: Carrier): boolean {
    return carrier === this.#carrier;
  }

  send(errand: Errand): void {
    if (!this.#carrier) {
      this.#carrier = this.#start();
      this.#dispatch.join(this.#carrier);
    }
    this.#dispatch.send(errand, this.#carrier);
    this.#carrier.send(errand);
  }

  /** It died; the next errand starts another. */
  died(): void {
    this.#carrier = undefined;
  }

  close(): void {
    if (!this.#carrier) return;
    this.#dispatch.leave(this.#carrier);
    void this.#carrier.close();
    this.#carrier = undefined;
  }
}
